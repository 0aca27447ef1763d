import { compareQuantities, quantityNumber, quantityOrNull } from '#base/go/quantity.ts'
import { by } from '#base/text.ts'
import { isLinux, line, nodeRule, shorten, worldCause } from '#judge/rule.ts'

/** A smaller part is no difference. */
const tolerated = 0.001
const leastBytes = 2 ** 20

export const allocatableMismatch = nodeRule({
  id: 'allocatable-mismatch',
  family: 'reservations',
  severity: 'medium',
  cause: worldCause('not-restarted'),
  steps: ['restart-kubelet'],
  needs: ['allocatable'],
  title: 'The node offers other resources to pods than its configuration gives',
  why: 'Allocatable is capacity less reservations and hard eviction thresholds. A node that reports anything else runs with something that its configuration does not show (a flag such as --experimental-allocatable-ignore-eviction), has changed since its kubelet started, or its status was written by someone else. The scheduler believes the status.',
  fix: 'Restart the kubelet where the machine or its configuration has changed; otherwise look at its flags and at who writes the status of nodes.',
  sources: [
    'pkg/kubelet/cm/node_container_manager_linux.go GetNodeAllocatableReservation',
    'pkg/kubelet/nodestatus/setters.go MachineInfo',
  ],
  appliesTo: isLinux,

  *judge({ allocatable, node }) {
    const { matchesNode, ...amounts } = allocatable
    if (matchesNode === null)
      yield { unknown: 'node: its status reports no allocatable resources that can be read' }
    if (matchesNode !== false) return
    const reported: Record<string, string | undefined> = node.status?.allocatable ?? {}
    const differing = Object.entries(amounts)
      .filter(
        (entry): entry is [string, string] =>
          typeof entry[1] === 'string' && !isEqual(entry[1], reported[entry[0]]),
      )
      .toSorted(by(([resource]) => resource))
    if (differing.length === 0) return
    const shown = differing.map(([name, amount]) => ({
      name: shorten(name, 100),
      amount,
      actual: shorten(reported[name] ?? 'none'),
    }))
    yield {
      consequence: `The scheduler counts with what the node reports, not with what its configuration leaves: ${shown.map(({ name, amount, actual }) => `${name} ${actual} instead of ${amount}`).join(', ')}. Where it reports more, pods are placed on memory or disk that eviction or the daemons need.`,
      evidence: shown.flatMap(({ name, amount, actual }) => [
        line('node', `node allocatable ${name}`, actual),
        line('computed', `allocatable ${name} by configuration`, amount),
      ]),
    }
  },
})

/** The capacity of a node changes by a few pages from one start to the next. Only bytes are so large. */
function isEqual(amount: string, reported: string | undefined) {
  const [one, other] = [quantityOrNull(amount), quantityOrNull(reported)]
  if (!one || !other) return false
  const [wanted, actual] = [quantityNumber(one), quantityNumber(other)]
  if (wanted < leastBytes) return compareQuantities(one, other) === 0
  return Math.abs(wanted - actual) <= tolerated * wanted
}
