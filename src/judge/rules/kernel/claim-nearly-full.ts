import { gibibyte } from '#base/units.ts'
import { bytes, line, nodeRule, seenFirst, shorten, shortPodName, worldCause } from '#judge/rule.ts'
import { podName } from '#judge/text.ts'
import { controllerOf, isVolumeWritable, placedWorkload } from '#model/input/kubernetes.ts'
import type { FilesystemStats } from '#model/input/node-input.ts'
import type { Filesystems } from '#model/prediction/prediction.ts'

/** Free shares of bytes or inodes. */
const least = { nearly: 0.05, full: 0.01 }
/** Two readings of one disk differ by less. */
const alike = 0.01

export const claimNearlyFull = nodeRule({
  id: 'claim-nearly-full',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('claim-full'),
  steps: ['expand-claim'],
  needs: ['summary', 'pods'],
  title: 'A PersistentVolumeClaim is nearly full: it is no disk of the node',
  why: 'What writes there fails with "no space left on device". The kubelet watches the disks of the node only.',
  fix: 'Expand the claim if its storage class has allowVolumeExpansion, or have its owner delete what the application keeps too long.',
  sources: ['pkg/kubelet/server/stats/volume_stat_calculator.go'],

  *judge({ summary, pods, filesystems }) {
    const disks = [filesystems.nodefs, filesystems.imagefs]
    const byName = new Map(pods.map(pod => [podName(pod.metadata), pod]))
    const seen = new Set<string>()
    for (const { podRef, volume: volumes = [] } of summary.pods ?? []) {
      const pod = byName.get(podName(podRef))
      for (const { name = null, pvcRef, ...stats } of volumes) {
        const claim = pvcRef?.name
        const free = freeOf(stats)
        if (!pod || !claim || free === null || free.share >= least.nearly) continue
        // What is only read may be full for good.
        if (!isVolumeWritable(pod, name ?? '') || disks.some(disk => isOn(disk, stats))) continue
        const { namespace = '' } = podRef ?? {}
        const what = `PersistentVolumeClaim ${shorten(podName({ namespace, name: claim }))}`
        if (seen.has(what)) continue
        seen.add(what)
        const workload = controllerOf(pod)
        const owner = { kind: 'pod', namespace, pod: podRef?.name ?? '', workload } as const
        yield {
          severity: free.share < least.full ? 'high' : 'medium',
          cause: worldCause('claim-full', claim),
          ...seenFirst(
            `${what} of pod ${shortPodName(podRef)}${workload === null ? '' : ` (${shorten(placedWorkload(namespace, workload))})`} has ${free.text} free.`,
            'It is no disk of the node, whose thresholds do not watch it.',
          ),
          steps: [
            {
              ...{ id: 'expand-claim', owner: { ...owner, volume: name }, place: claim },
              bytes: Math.ceil((free.capacityBytes * 1.5) / gibibyte) * gibibyte,
            },
          ],
          evidence: [line('summary', what, `${free.text} free`)],
        }
      }
    }
  },
})

/** Of bytes or inodes, whichever are scarcer. Null: the volume has no statistics; below zero, they are none. */
function freeOf({
  availableBytes: free = -1,
  capacityBytes = 0,
  inodesFree: left = -1,
  inodes = 0,
}: FilesystemStats) {
  if (capacityBytes <= 0 || free < 0) return null
  const share = free / capacityBytes
  const ofBytes = { capacityBytes, share, text: `${bytes(free)} of ${bytes(capacityBytes)}` }
  if (inodes <= 0 || left < 0 || left / inodes >= share) return ofBytes
  return { ...ofBytes, share: left / inodes, text: `${left} of ${inodes} inodes` }
}

/** A folder on the node's own disk, as of a local volume. */
const isOn = (
  disk: Filesystems['nodefs'],
  { capacityBytes = 0, availableBytes = 0 }: FilesystemStats,
) =>
  disk?.capacityBytes === capacityBytes &&
  Math.abs((disk.availableBytes ?? 0) - availableBytes) < alike * capacityBytes
