import { isOfDaemonSet, largestPod } from '#judge/help/deletion.ts'
import { processesOf, processUse, scarcePercent, scarceProcessIds } from '#judge/help/processes.ts'
import { entryLine, unobserved, withEntries } from '#judge/help/thresholds.ts'
import {
  contextRule,
  type Failing,
  hardThresholds,
  isLinux,
  kubeletSetting,
  line,
  lines,
  type NodeSubject,
  percent,
  type Satisfied,
  shortName,
  type Undecided,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import { placedWorkload } from '#model/input/record.ts'

const urgentPercent = 5
/** The threshold that the fix sets. */
const wantedPercent = 10

export const unwatchedPids = contextRule({
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

  fact: subject => ({ failings: [...judgePids(subject)], use: daemonSetUse(subject) }),

  ofGroup: facts => facts.flatMap(({ fact }) => fact.use ?? []),

  *judge({ failings, use }, _, __, group) {
    for (const each of failings)
      yield 'unknown' in each || !use ? each : withPeers(each, use, group())
  },
})

type DaemonSetUse = NonNullable<ReturnType<typeof daemonSetUse>>

/** A DaemonSet's pod with at least this many processes is named beside its peers. */
const manyProcesses = 2000
const shownPeers = 3

/** The pod of a DaemonSet with the most processes of all pods. Null: another one has them, or they are few. */
function daemonSetUse(subject: NodeSubject) {
  const found = largestPod(subject, processesOf)
  if (!found || found.amount < manyProcesses || !isOfDaemonSet(found.owner)) return null
  const { namespace, workload } = found.owner
  return {
    node: subject.identity.name,
    workload: shortName(placedWorkload(namespace, workload ?? '')),
    processes: found.amount,
  }
}

/** Adds the other nodes where pods of the same DaemonSet have many processes. */
function withPeers(failing: Failing, use: DaemonSetUse, all: readonly DaemonSetUse[]): Failing {
  const peers = all
    .filter(({ node, workload }) => node !== use.node && workload === use.workload)
    .toSorted((a, b) => b.processes - a.processes)
    .slice(0, shownPeers)
    .map(({ node, processes }) => `${processes} on ${shortName(node)}`)
  return peers.length === 0
    ? failing
    : {
        ...failing,
        seen: `${failing.seen} ${use.workload} has many elsewhere, too: ${peers.join(', ')}.`,
      }
}

function* judgePids(
  subject: Satisfied<'configuration' | 'eviction'>,
): Iterable<Failing | Undecided> {
  const { configuration, eviction } = subject
  if (eviction.thresholds.some(({ signal }) => signal === 'pid.available')) return
  const pids = eviction.signals['pid.available']
  if (!pids || pids.capacityBytes <= 0)
    return yield unobserved(subject, 'how many process ids are left')
  // No kubelet or AMI watches pids by default: few nodes need it.
  const scarce = scarceProcessIds(eviction)
  if (!scarce) return
  const { leftPercent } = scarce
  const usedPids = pids.capacityBytes - pids.availableBytes
  const { cause, ofPods, isOutside, largest, use, steps } = processUse(subject, usedPids)
  // The new threshold is met already: the kubelet evicts pods when it restarts.
  const set: StepAction = {
    id: 'set-fields',
    ...(leftPercent < wantedPercent && { isShort: true as const }),
  }
  const left = `${scarce.left} (${percent(leftPercent)})${use === null ? '' : `, and ${use}`}.`
  yield {
    ...(leftPercent < urgentPercent && { severity: 'high' as const }),
    // A threshold would evict pods that do not have the processes.
    ...(isOutside
      ? { cause, steps }
      : {
          cause:
            ofPods === 0
              ? { kind: 'unread', source: 'processes of pods', reason: 'incomplete' }
              : kubeletSetting('evictionHard.pid.available'),
          steps: ofPods === 0 ? [...steps, set] : [set, ...steps],
          fix: withEntries('evictionHard', configuration, { 'pid.available': `${wantedPercent}%` }),
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
}
