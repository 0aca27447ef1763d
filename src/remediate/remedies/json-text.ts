/**
 * The text of a JSON file, of which a snapshot has only content and hash. Programs write JSON in few ways (jq, Go, nodeadm). The text whose hash
 * matches is the file, byte for byte, so no part of the file was cut out as a secret or lost in formatting.
 */
import type { RawObject } from '#model/record.ts'
import { sha256 } from '#remediate/plan/canonical.ts'

export type JsonStyle = (content: RawObject) => string

const indents = [2, 4, '\t', 0, 3, 1, 8] as const
const ends = ['\n', ''] as const
/** Go's encoding/json writes these characters as escapes, so that the text is safe in HTML. */
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

/** Null: no style gives that hash. */
export const styleOf = (content: RawObject, hash: string): JsonStyle | null =>
  styles.find(style => sha256(style(content)) === hash) ?? null
