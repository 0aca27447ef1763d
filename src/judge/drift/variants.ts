import { hash } from 'node:crypto'
import { by } from '#base/text.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type { NodeSample } from '#model/finding.ts'

export const sampleSize = 20
/** A hash of a shorter text would cost more than the text. */
const longestKey = 640

export interface Variant<Value> {
  value: Value
  nodes: string[]
  /** The value as JSON, once it was compared. */
  text?: string
}

/** @param commonText of the values of one variant, from the value as JSON */
export function addVariant<Value>(
  variants: Map<string, Variant<Value>>,
  node: string,
  value: Value,
  commonText: (text: string, value: Value) => string,
) {
  const text = JSON.stringify(value)
  const common = commonText(text, value)
  const key = common.length > longestKey ? hash('sha256', common, 'base64') : common
  const known = variants.get(key)
  if (!known) {
    variants.set(key, { value, nodes: [node] })
    return
  }
  known.nodes.push(node)
  if (common === text) return
  known.text ??= JSON.stringify(known.value)
  // The kept value must not depend on the order of the nodes.
  if (text < known.text) Object.assign(known, { value, text })
}

export const largestFirst = <Value>(variants: Map<string, Variant<Value>>) =>
  [...variants.values()]
    .map(variant => ({ variant, text: JSON.stringify(variant.value) }))
    .toSorted(
      by(
        ({ variant }) => -variant.nodes.length,
        ({ text }) => text,
      ),
    )
    .map(({ variant }) => variant)

/** @param worst the node that comes first; the others stand by name, so that a truncated sample is the same from run to run */
export function sample(
  variants: Variant<unknown>[],
  allNodes: boolean,
  size = sampleSize,
  worst?: string,
): NodeSample {
  const names = variants
    .flatMap(({ nodes }) => nodes)
    .toSorted(
      by(
        name => name !== worst,
        name => name,
      ),
    )
  return {
    count: names.length,
    sample: (allNodes ? names : names.slice(0, size)).map(name => shorten(name, nameLength)),
  }
}

export const nodeCount = (variants: Variant<unknown>[]) =>
  variants.reduce((sum, { nodes }) => sum + nodes.length, 0)
