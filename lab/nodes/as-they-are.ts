/** The nodes of a cluster as they are now: with what their kubelets read when they were last started, and others in place of those whose instances are gone. */
import type { Machines } from '#lab/machines/machines.ts'
import type { LabNode, NodeSource } from '#lab/scenarios/scenario.ts'

/** @param at the lab's own time, RFC 3339 @param now the lab's clock, which goes on from there */
export function asTheyAre(
  nodes: NodeSource,
  machines: Machines,
  at: string,
  now: () => number,
): NodeSource {
  const successors = new Map(Object.entries(nodes.successors ?? {}))
  const predecessors = new Map(
    [...successors].map(([name, { name: successor }]) => [successor, name]),
  )
  let shown: { gone: string; names: readonly string[] } | null = null

  const isGone = (name: string) => {
    const node = nodes.node(name)
    return (
      node?.changeFault?.kind === 'replaced' &&
      machines.struckAtMs(managedIdOf(name, node, at)) !== null
    )
  }

  return {
    names() {
      const gone = [...successors.keys()].filter(isGone)
      if (gone.length === 0) return nodes.names()
      // The same list as long as it holds the same nodes.
      if (shown?.gone !== gone.join()) {
        const others = nodes.names().filter(name => !gone.includes(name))
        shown = {
          gone: gone.join(),
          names: [...others, ...gone.map(name => successors.get(name)!.name)].sort(),
        }
      }
      return shown.names
    },
    node(name) {
      const predecessor = predecessors.get(name)
      if (predecessor !== undefined) {
        const { node } = successors.get(predecessor)!
        return isGone(predecessor) ? asStarted(name, node) : undefined
      }
      const node = nodes.node(name)
      return node && !(successors.has(name) && isGone(name)) ? asStarted(name, node) : undefined
    },
    asNow: asStarted,
  }

  function asStarted(name: string, node: LabNode): LabNode {
    const start = node.asStarted ? machines.startOf(managedIdOf(name, node, at)) : null
    if (!start || !node.asStarted) return node
    return node.asStarted(
      start,
      now() + (node.changeFault?.kind === 'clock-skew' ? node.changeFault.byMs : 0),
    )
  }
}

/** As SSM knows it. Source: nodeadm getProviderId; a hybrid node that SSM activated is named by its id. */
export function managedIdOf(name: string, node: LabNode, at: string): string {
  const providerId = node.providerId ?? node.node(at).spec?.providerID ?? ''
  return /\/(i-[0-9a-f]{8,17})$/.exec(providerId)?.[1] ?? name
}
