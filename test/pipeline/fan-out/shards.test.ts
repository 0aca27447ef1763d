/** Which nodes one function of a fan-out reads. */
import { expect, it } from 'vitest'
import type { NodeRecord } from '#model/input/record.ts'
import { shardsOf } from '#pipeline/fan-out/shards.ts'

const nodes = (group: string | null, count: number): NodeRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ kind: 'Node', cluster: 'c', at: '2026-11-21T05:00:00Z', errors: [] },
    node: {
      metadata: {
        name: `${group}-${String.fromCharCode(97 + index)}`,
        labels: group === null ? {} : { 'eks.amazonaws.com/nodegroup': group },
      },
    },
  }))

const namesOf = (all: readonly NodeRecord[], mostNodes: number) =>
  shardsOf(all, mostNodes).map(shard => shard.map(({ node }) => node.metadata?.name))

it('has each node in one shard, none in two, and no shard of too many nodes', () => {
  const all = [...nodes(null, 5), ...nodes('general', 23), ...nodes('spot', 10), ...nodes('web', 3)]
  for (let mostNodes = 1; mostNodes <= all.length + 1; mostNodes++) {
    const shards = namesOf(all, mostNodes)
    for (const shard of shards) expect(shard.length).toBeLessThanOrEqual(mostNodes)
    expect(shards.flat().toSorted()).toEqual(all.map(({ node }) => node.metadata?.name).toSorted())
  }
})

it('keeps groups together that fit, whatever the order of the list', () => {
  const all = [...nodes('a', 3), ...nodes('b', 2), ...nodes('c', 4)]
  const expected = [
    ['a-a', 'a-b', 'a-c', 'b-a', 'b-b'],
    ['c-a', 'c-b', 'c-c', 'c-d'],
  ]
  expect(namesOf(all, 5)).toEqual(expected)
  expect(namesOf(all.toReversed(), 5)).toEqual(expected)
})

it('divides a group that does not fit', () => {
  expect(namesOf(nodes('a', 5), 2)).toEqual([['a-a', 'a-b'], ['a-c', 'a-d'], ['a-e']])
})
