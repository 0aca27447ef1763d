/** Who has the process ids of a node. */

import { kubeletSetting, type NodeSubject, worldCause } from '#judge/rule.ts'
import { plural, shortName, shortPodName } from '#judge/text.ts'
import type { StepAction } from '#model/finding.ts'
import type { PodSummary } from '#model/input/record.ts'
import { areMeasured, deletionOf, type LargestUser, largestOwner, largestPod } from './deletion.ts'

/** Percentage of free process ids below which they run short. */
export const scarcePercent = 20

/** Process ids of a node that run short. Null: there are enough, or it is unknown. */
export function scarceProcessIds(eviction: NodeSubject['eviction']) {
  const { capacityBytes = 0, availableBytes = 0 } = eviction?.signals['pid.available'] ?? {}
  if (capacityBytes <= 0) return null
  const leftPercent = (availableBytes / capacityBytes) * 100
  const left = `${availableBytes} of ${capacityBytes} process ids are left`
  return leftPercent < scarcePercent ? { leftPercent, left } : null
}

/** Below this podPidsLimit, usual runtimes of languages with a thread for each task do not fit. */
export const usualProcessLimit = 4096
/** Of the used process ids, from which on their user counts. */
const mostPercent = 25

/** The steps find the users, end a pod that has most of it, and limit them. */
export function processUse(subject: NodeSubject, usedPids: number) {
  const ofPods = (subject.summary?.pods ?? []).reduce((sum, pod) => sum + processesOf(pod), 0)
  // The counts of pods explain a small part: which pod an eviction would have to end is not known.
  const isOutside = areMeasured(subject) && 100 * ofPods < mostPercent * usedPids
  const first = largestOwner(subject, processesOf)
  const isLarge = first !== null && 100 * first.amount >= mostPercent * usedPids
  const largest = isLarge ? { ...first, name: nameOf(first) } : null
  const use = isOutside ? outsideUse(ofPods, usedPids) : useOf(largest)
  const cause = isOutside ? worldCause('processes-outside-pods') : kubeletSetting('podPidsLimit')
  const known = { cause, ofPods, isOutside, largest, use }
  const list: StepAction = { id: 'list-processes' }
  const reboot: StepAction = { id: 'reboot', variant: 'last' }
  if (isOutside) return { ...known, steps: [list, reboot] }
  if (ofPods === 0) return { ...known, steps: [list] }
  const pod = largestPod(subject, processesOf)
  const isOfPod = pod !== null && 2 * pod.amount >= usedPids
  const deletion = isOfPod ? deletionOf(pod.owner, subject.pods) : null
  const limit: StepAction = {
    id: 'limit-processes',
    limit: Math.min(usualProcessLimit, Math.floor((largest?.amount ?? Infinity) / 2)),
    ...(largest && { owner: largest.owner }),
  }
  return {
    ...known,
    steps: [...(deletion ? [{ ...deletion, variant: 'processes' as const }] : []), limit],
  }
}

/** cAdvisor counts the lines of cgroup.procs: neither threads nor zombies. Upstream: container/libcontainer/handler.go processStatsFromProcs, cgroup-v2.rst */
const outsideUse = (ofPods: number, usedPids: number) =>
  `processes of pods have ${ofPods}; the other ${usedPids - ofPods} are threads or zombies of pods, or programs of the host`

/** Null: no owner has a large part. */
const useOf = (largest: { name: string; amount: number } | null) =>
  largest && `${largest.name} has ${largest.amount}`

export const processesOf = (pod: PodSummary) => pod.process_stats?.process_count ?? 0

const nameOf = ({ owner: { namespace, pod: name, workload }, pods }: LargestUser) =>
  pods === 1
    ? `pod ${shortPodName({ namespace, name })}`
    : `${shortName(`${workload} in ${namespace}`)} (${plural(pods, 'pod')})`
