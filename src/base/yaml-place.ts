/** YAML with the lines on which its values stand, read as Kubernetes, nodeadm and cloud-init do: YAML 1.1 with merge keys; of equal keys the last one counts. */

import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter } from 'yaml'
import {
  composeYaml,
  ForeignTextError,
  type TextBudget,
  YamlError,
  yamlValue,
} from './foreign-text.ts'
import { itemsOf } from './raw-object.ts'

/** A text within a file. */
export interface LocatedText {
  text: string
  /** The line of the file on which a line of the text stands. Both from 1. */
  fileLine(line: number): number
}

export const textFrom = (text: string, line: number): LocatedText => ({
  text,
  fileLine: inner => line + inner - 1,
})

/** A packed text. */
export const textOnLine = (text: string, line: number): LocatedText => ({
  text,
  fileLine: () => line,
})

/** Of a key of a map, or the index of a list. */
type Segment = string | number

export interface YamlPlace {
  value: unknown
  /** Of the key at a path, else of the nearest one above it. */
  lineOf(...path: Segment[]): number
  at(...path: Segment[]): YamlPlace
  /** The tag that is written before the value: `!Sub`. Null: none. */
  tag(): string | null
  /** The text at a path; empty: it is no text. */
  textAt(...path: Segment[]): LocatedText
}

/** The items of a list. */
export const placesIn = (list: YamlPlace): YamlPlace[] =>
  itemsOf(list.value).map((_, index) => list.at(index))

/** @throws ForeignTextError with the line in the file */
export function openYaml({ text, fileLine }: LocatedText, budget: TextBudget): YamlPlace {
  const lineCounter = new LineCounter()
  const lineAt = (offset: number) =>
    fileLine(Math.max(1, lineCounter.linePos(Math.max(0, offset)).line))
  try {
    const document = composeYaml(text, budget, { version: '1.1', lineCounter })
    return placeAt(yamlValue(document), [], document, lineAt)
  } catch (error) {
    if (error instanceof YamlError) throw new ForeignTextError(error.message, lineAt(error.offset))
    throw error
  }
}

function placeAt(
  value: unknown,
  root: readonly Segment[],
  document: Document,
  lineAt: (offset: number) => number,
): YamlPlace {
  const ownSteps = (path: readonly Segment[]) => stepsTo(document, [...root, ...path])
  return {
    value,
    lineOf: (...path) => lineAt(ownSteps(path).at(-1)?.start ?? 0),
    at: (...path) => placeAt(valueIn(value, path), [...root, ...path], document, lineAt),
    tag: () => (ownSteps([]).at(-1)?.node as { tag?: string } | undefined)?.tag ?? null,
    textAt: (...path) => {
      const written = valueIn(value, path)
      const { node } = ownSteps(path).at(-1) ?? {}
      const line = lineAt(offsetOf(node))
      if (typeof written !== 'string') return textOnLine('', line)
      // The first line of a block scalar has its indicator.
      const isBlock = isScalar(node) && node.type === 'BLOCK_LITERAL'
      return isBlock ? textFrom(written, line + 1) : textOnLine(written, line)
    },
  }
}

const valueIn = (value: unknown, path: readonly Segment[]): unknown =>
  path.reduce<unknown>(
    (inner, segment) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, segment)
        ? (inner as Record<Segment, unknown>)[segment]
        : undefined,
    value,
  )

interface Step {
  node: unknown
  /** Offset of the key, or of the item. */
  start: number
}

/** From the root to the deepest value that the path finds. */
function stepsTo(document: Document, path: readonly Segment[]): Step[] {
  const found: Step[] = [{ node: document.contents, start: offsetOf(document.contents) }]
  for (const segment of path) {
    const next = stepTo(document, found.at(-1)?.node, segment)
    if (!next) break
    found.push(next)
  }
  return found
}

const offsetOf = (node: unknown) =>
  (node as { range?: readonly number[] | null } | null | undefined)?.range?.[0] ?? 0

/** Merge keys that merge more deeply than this are not followed. */
const deepestMerge = 8

function stepTo(document: Document, from: unknown, segment: Segment, depth = 0): Step | null {
  const node = isAlias(from) ? from.resolve(document) : from
  if (isSeq(node)) {
    const item = node.items[Number(segment)]
    return item === undefined ? null : { node: item, start: offsetOf(item) }
  }
  if (!isMap(node) || depth > deepestMerge) return null
  const pairNamed = (name: string) =>
    node.items.findLast(({ key }) => isScalar(key) && (key.source === name || key.value === name))
  const own = pairNamed(String(segment))
  if (own) return { node: own.value, start: offsetOf(own.key) }
  const merged = pairNamed('<<')?.value
  for (const under of isSeq(merged) ? merged.items : [merged]) {
    const inherited = stepTo(document, under, segment, depth + 1)
    if (inherited) return inherited
  }
  return null
}
