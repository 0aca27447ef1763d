/** What a kubelet says of a node that is not ready, and what ends it. */
import { minuteMs } from '#base/units.ts'
import { type NotReadyKind, notReadyKind } from '#facts/kubelet/not-ready.ts'
import { shownTime } from '#judge/events/events.ts'
import { type NodeSubject, shorten, worldCause } from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'

/** A node that starts is not ready for so long. */
const settledMs = 5 * minuteMs

/** Null: the node is ready, starts or ends, or its kubelet says nothing. */
export function notReadyReason({ node, at }: Pick<NodeSubject, 'node' | 'at'>) {
  const { conditions = [], nodeInfo } = node.status ?? {}
  const ready = conditions.find(({ type, status }) => type === 'Ready' && status === 'False')
  const { reason = '', message = '', lastTransitionTime = '' } = ready ?? {}
  const kind = notReadyKind(message)
  const isSettled = Date.parse(at) - Date.parse(lastTransitionTime) >= settledMs
  if (message === '' || kind === 'shutdown' || !isSettled) return null
  const isOfDocker = nodeInfo?.containerRuntimeVersion?.startsWith('docker') === true
  return {
    cause: worldCause('agent-reports', kind),
    steps: stepsOf(kind, isOfDocker ? 'docker' : 'containerd'),
    seen: `NotReady since ${shownTime(lastTransitionTime)}: ${reason}: ${shorten(message, 300)}.`,
  }
}

function stepsOf(kind: NotReadyKind, runtime: string): StepAction[] {
  if (kind === 'runtime')
    return [
      { id: 'read-journal', place: runtime },
      { id: 'restart-daemon', place: runtime, variant: 'hung' },
    ]
  return kind === 'network'
    ? [{ id: 'read-pods' }, { id: 'read-journal' }]
    : [{ id: 'read-journal' }, { id: 'replace-node' }]
}
