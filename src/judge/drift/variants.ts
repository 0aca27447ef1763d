import { byText } from '#base/text/text-order.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type { NodeSample } from '#model/finding/finding.ts'

export const sampleSize = 20

export interface Variant<Value> {
  text: string
  value: Value
  nodes: string[]
}

const addresses = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g

/** Values that differ only in a network address are one variant. Otherwise "connection refused" would differ on each node. */
export function add<Value>(
  variants: Map<string, Variant<Value>>,
  node: string,
  value: Value,
): void {
  const text = JSON.stringify(value)
  const key = text.replace(addresses, '*')
  const known = variants.get(key)
  if (!known) variants.set(key, { text, value, nodes: [node] })
  else {
    known.nodes.push(node)
    // The kept value must not depend on the order of the nodes.
    if (text < known.text) Object.assign(known, { text, value })
  }
}

export const largestFirst = <Value>(variants: Map<string, Variant<Value>>): Variant<Value>[] =>
  [...variants.values()].toSorted(
    (a, b) => b.nodes.length - a.nodes.length || byText(a.text, b.text),
  )

export function sample(
  variants: Variant<unknown>[],
  allNodes: boolean,
  size = sampleSize,
): NodeSample {
  const names = variants.flatMap(({ nodes }) => nodes).toSorted(byText)
  return {
    count: names.length,
    sample: (allNodes ? names : names.slice(0, size)).map(name => shorten(name, nameLength)),
  }
}

export const nodeCount = (variants: Variant<unknown>[]) =>
  variants.reduce((sum, { nodes }) => sum + nodes.length, 0)
