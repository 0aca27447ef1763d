/**
 * The text of a JSON file whose snapshot has only content and hash. Programs write JSON in few ways (jq, Go, nodeadm); the one that comes to the
 * hash is the file's own, byte for byte, and so nothing of it was cut out as a secret or lost in formatting.
 */
import type { RawObject } from '#model/record.ts'
import { sha256 } from '#remediate/plan/canonical.ts'

export type JsonStyle = (content: RawObject) => string

const indents = [2, 4, '\t', 0, 3, 1, 8] as const
const ends = ['\n', ''] as const
/** Go's encoding/json writes these as escapes, so that the text may stand in HTML. */
const asGo = (text: string) =>
  text.replace(
    /[<>&\u2028\u2029]/g,
    found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const styles: JsonStyle[] = indents.flatMap(indent =>
  ends.flatMap(end => [
    (content: RawObject) => JSON.stringify(content, null, indent) + end,
    (content: RawObject) => asGo(JSON.stringify(content, null, indent)) + end,
  ]),
)

/** Null: none of them comes to that hash. */
export const styleOf = (content: RawObject, hash: string): JsonStyle | null =>
  styles.find(style => sha256(style(content)) === hash) ?? null
