/**
 * Objects that own each other in a circle: each has a solid owner, so the garbage collector keeps all of them until someone deletes one.
 *
 * Replays       nothing of upstream's, which does not look for them; what follows from attemptToDeleteItem
 * Left out      circles through kinds that were not listed
 */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { groupBy } from './metadata.ts'
import {
  type OwnedObject,
  type OwnerGraph,
  type OwnerGraphInput,
  ownerGraph,
} from './owner-graph.ts'

/** Each circle in the order of the graph's objects. An object that owns itself is one, too. */
export function ownerCycles(input: OwnerGraphInput, features: KubeletFeatures): OwnedObject[][] {
  const graph = ownerGraph(input, features)
  const owners = new Map(graph.objects.map(object => [object.uid, solidOwners(object, graph)]))
  const circleOf = stronglyConnected(owners)
  const circles = groupBy(graph.objects, ({ uid }) => circleOf.get(uid))
  return [...circles.values()].filter(
    ([first, second]) => second || (first && owners.get(first.uid)?.includes(first.uid)),
  )
}

const solidOwners = (object: OwnedObject, graph: OwnerGraph): string[] =>
  object.deletedMs === null
    ? graph
        .classify(object)
        .filter(({ is }) => is === 'solid')
        .map(({ reference }) => reference.uid)
    : []

interface Visit {
  uid: string
  next: number
}

/** By UID, one member of its strongly connected component (Tarjan's algorithm, without recursion: chains may be long). */
function stronglyConnected(owners: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const component = new Map<string, string>()
  const open: string[] = []
  const path: Visit[] = []

  const enter = (uid: string) => {
    lowest.set(uid, order.size)
    order.set(uid, order.size)
    open.push(uid)
    path.push({ uid, next: 0 })
  }
  const lower = (uid: string, to: number | undefined) =>
    lowest.set(uid, Math.min(lowest.get(uid) ?? 0, to ?? 0))

  for (const start of owners.keys()) {
    if (!order.has(start)) enter(start)
    for (let visit = path.at(-1); visit; visit = path.at(-1)) {
      const { uid } = visit
      const owner = owners.get(uid)?.[visit.next++]
      if (owner !== undefined) {
        if (!order.has(owner)) enter(owner)
        else if (!component.has(owner)) lower(uid, order.get(owner))
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent) lower(parent.uid, lowest.get(uid))
      if (lowest.get(uid) === order.get(uid))
        for (const member of open.splice(open.lastIndexOf(uid))) component.set(member, uid)
    }
  }
  return component
}
