import { processUse } from '#judge/help/processes.ts'
import { entryLine, whyUnobserved, withEntries } from '#judge/help/thresholds.ts'
import {
  hardThresholds,
  isLinux,
  kubeletSetting,
  line,
  lines,
  nodeRule,
  percent,
  worldCause,
} from '#judge/rule.ts'

/** The rule fails below this percentage of free pids. No kubelet or AMI watches pids by default: few nodes need it. */
const scarcePercent = 20
const urgentPercent = 5

export const unwatchedPids = nodeRule({
  id: 'unwatched-pids',
  family: 'eviction',
  severity: 'medium',
  cause: hardThresholds,
  needs: ['configuration', 'eviction'],
  title: 'Process ids run short, and nothing watches them',
  why: `pid.available has no default threshold. With less than ${scarcePercent} % of the node's process ids left (threads count too), one pod more can take the rest: then nothing on the node can start a process, the kubelet and the runtime neither.`,
  fix: 'Set evictionHard pid.available, together with the other signals of the map, and podPidsLimit. Find what starts so many threads.',
  sources: [
    'pkg/kubelet/eviction/helpers.go makeSignalObservations',
    'pkg/kubelet/eviction/defaults_linux.go DefaultEvictionHard',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { configuration, eviction } = subject
    if (eviction.thresholds.some(({ signal }) => signal === 'pid.available')) return
    const pids = eviction.signals['pid.available']
    if (!pids || pids.capacityBytes <= 0)
      return yield { unknown: whyUnobserved(subject, 'how many process ids are left') }
    const leftPercent = (pids.availableBytes / pids.capacityBytes) * 100
    if (leftPercent >= scarcePercent) return
    const usedPids = pids.capacityBytes - pids.availableBytes
    const { ofPods, isOutside, largest, use, steps } = processUse(subject, usedPids)
    const left = `${pids.availableBytes} of ${pids.capacityBytes} process ids are left (${percent(leftPercent)})${use === null ? '' : `, and ${use}`}.`
    yield {
      ...(leftPercent < urgentPercent && { severity: 'high' as const }),
      // A threshold would evict pods that do not have the processes.
      ...(isOutside
        ? { cause: worldCause('processes-outside-pods'), steps }
        : {
            cause:
              ofPods === 0
                ? { kind: 'unread', source: 'processes of pods', reason: 'incomplete' }
                : kubeletSetting('evictionHard.pid.available'),
            steps:
              ofPods === 0 ? [...steps, { id: 'set-fields' }] : [{ id: 'set-fields' }, ...steps],
            fix: withEntries('evictionHard', configuration, { 'pid.available': '10%' }),
          }),
      seen: left,
      consequence: `${left} At 0 no process starts on this node, without PIDPressure and without eviction.`,
      evidence: lines(
        entryLine('evictionHard', 'pid.available', configuration),
        line('summary', 'pid.available now', pids.availableBytes),
        line('summary', 'pid.available capacity', pids.capacityBytes),
        largest && line('summary', `process ids of ${largest.name}`, largest.amount),
      ),
    }
  },
})
