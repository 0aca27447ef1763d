import { isPlainPath } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { claimName, isOnNodeDisk, scarceClaims } from '#judge/help/claims.ts'
import {
  line,
  nodeRule,
  plural,
  podName,
  seenFirst,
  shorten,
  shortPodName,
  worldCause,
} from '#judge/rule.ts'
import type { StepAction } from '#model/finding.ts'
import {
  isVolumeWritable,
  type KubernetesPod,
  placedWorkload,
  statusesOf,
  waitsForRestart,
} from '#model/input/record.ts'
import { containerOwner, podOwner } from '#model/prediction.ts'

/** Free shares of bytes or inodes. */
const least = { nearly: 0.05, full: 0.01 }
/** Times its capacity, a larger claim. */
const growth = 1.5

const titles = {
  full: 'A PersistentVolumeClaim is full: it is no disk of the node',
  inodes: 'A PersistentVolumeClaim has no inodes left: it is no disk of the node',
}

export const claimNearlyFull = nodeRule({
  id: 'claim-nearly-full',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('claim-full'),
  steps: ['expand-claim'],
  needs: ['summary', 'pods'],
  titles,
  title: 'A PersistentVolumeClaim is nearly full: it is no disk of the node',
  why: 'What writes there fails with "no space left on device". The kubelet watches the disks of the node only.',
  fix: 'Expand the claim if its storage class has allowVolumeExpansion, or have its owner delete what the application keeps too long.',
  sources: ['pkg/kubelet/server/stats/volume_stat_calculator.go'],

  *judge({ summary, pods, filesystems }) {
    const disks = [filesystems.nodefs, filesystems.imagefs]
    const seen = new Set<string>()
    for (const found of scarceClaims(summary, least.nearly)) {
      const { claim, volume, podRef, stats, freeShare, free, unit } = found
      const name = claimName(found)
      const pod = pods.find(({ metadata }) => podName(metadata) === podName(podRef))
      // What is only read may be full for good.
      if (!pod || !isVolumeWritable(pod, volume) || seen.has(name)) continue
      if (disks.some(disk => isOnNodeDisk(disk, stats))) continue
      seen.add(name)
      const what = `PersistentVolumeClaim ${shorten(name)}`
      const owner = podOwner(pod, volume)
      const { namespace, workload } = owner
      const wanted = Math.ceil(((stats.capacityBytes ?? 0) * growth) / gibibyte) * gibibyte
      const isFull = freeShare < least.full
      const restarts = isFull ? restartsOf(pod) : 0
      yield {
        ...(isFull && { title: unit === undefined ? titles.full : titles.inodes }),
        severity: isFull ? 'high' : 'medium',
        cause: worldCause('claim-full', claim),
        ...seenFirst(
          `${what} of pod ${shortPodName(podRef)}${workload === null ? '' : ` (${shorten(placedWorkload(namespace, workload))})`} has ${free} free${restarts === 0 ? '' : `; its containers crash, with ${plural(restarts, 'restart')}`}.`,
          `It is no disk of the node, whose thresholds do not watch it.${unit === undefined ? '' : ' A larger ext4 has more inodes; XFS makes them as needed.'}`,
        ),
        steps: stepsFor(pod, volume, {
          id: 'expand-claim',
          owner,
          place: claim,
          bytes: wanted,
          ...(unit && { unit }),
        }),
        evidence: [line('summary', what, `${free} free`)],
      }
    }
  },
})

/** Before an expansion, which never shrinks, a look: by a container that runs, or by a pod of its own if all crash. It needs no room. */
function stepsFor(
  pod: KubernetesPod,
  volume: string,
  { unit, ...expand }: StepAction,
): StepAction[] {
  const { owner, place } = expand
  const statuses = statusesOf(pod)
  const running = new Set(statuses.flatMap(({ name, state }) => (state?.running ? [name] : [])))
  const look = { id: 'look-in-volume', ...(unit && { unit }) } as const
  for (const { name = '', volumeMounts } of pod.spec?.containers ?? []) {
    const path = volumeMounts?.find(mount => mount.name === volume)?.mountPath
    if (path && isPlainPath(path) && running.has(name))
      return [{ ...look, owner: containerOwner(pod, name), place: path }, expand]
  }
  if (!statuses.some(waitsForRestart)) return [expand]
  const variant = 'crashing'
  return [
    { ...look, owner, place, variant },
    { ...expand, variant },
  ]
}

/** Restarts of the containers of a pod that wait to be started again. */
const restartsOf = (pod: KubernetesPod) =>
  statusesOf(pod)
    .filter(waitsForRestart)
    .reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
