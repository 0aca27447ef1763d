import { foldersElsewhere } from '#judge/help/host-mounts.ts'
import {
  bytes,
  bytesLine,
  deviceCause,
  line,
  nodeRule,
  type Satisfied,
  shorten,
} from '#judge/rule.ts'
import { isSourceExpected } from '#judge/subject/node-subject.ts'
import { hasVolumeSize } from '#model/prediction.ts'

/** A disk or a partition of one, with the name of the disk. Logical volumes and arrays do not show theirs. */
const plainDisk = /^\/dev\/(nvme\d+n\d+|(?:s|v|xv)d[a-z]+|mmcblk\d+)(?:p?\d+)?$/

export const unmeasuredDisk = nodeRule({
  id: 'unmeasured-disk',
  family: 'coverage',
  severity: 'low',
  cause: deviceCause('unmeasured'),
  steps: ['read-devices'],
  needs: ['ledger', 'host'],
  title: 'A disk that pods can write to was not measured',
  why: 'The kubelet watches the disks of its own folder and of the images. Pods write to others through hostPath or local volumes: without DiskPressure and without eviction, until writes fail.',
  fix: 'See with df -h how full it is, limit what the pods keep there, and let an agent on the node watch it.',
  sources: ['pkg/kubelet/eviction/helpers.go makeSignalObservations'],
  appliesTo: subject =>
    subject.host ? subject.host.diskUse?.devices !== undefined : isSourceExpected(subject, 'host'),

  *judge(subject) {
    const disks = unmeasuredDisks(subject)
    const [largest] = disks
    const measured = (subject.host.diskUse?.folders ?? []).map(({ path = '' }) => path)
    const mounts = largest ? foldersElsewhere(subject, measured) : []
    if (!largest || mounts.length === 0) return
    const places = shorten(mounts.join(', '), 300)
    yield {
      cause: deviceCause('unmeasured', { device: largest.device, actualBytes: largest.size }),
      steps: [{ id: 'read-devices', place: largest.device, mounts }],
      // No folder is known to be on it.
      confidence: 'likely',
      consequence: `${disks.map(({ device, size }) => `${device} (${bytes(size)})`).join(', ')} ${disks.length === 1 ? 'is' : 'are'} in use and neither nodefs nor imagefs: how full is unknown. Pods write to ${places}, which can be there; if it fills, their writes fail, and the kubelet does nothing.`,
      evidence: [
        ...disks.map(({ device, size }) => bytesLine('host', `${device}, in use`, size)),
        ...mounts.map(mount => line('object', 'pods can write to', mount)),
      ],
    }
  },
})

/** Disks in use that hold neither of the kubelet's filesystems and no claim of its pods, the largest first. */
function unmeasuredDisks({ host, summary }: Satisfied<'host'>) {
  const known = (host.filesystems ?? []).map(({ device = '' }) => plainDisk.exec(device)?.[1])
  if (known.length === 0 || known.includes(undefined)) return []
  const claims = (summary?.pods ?? []).flatMap(({ volume = [] }) =>
    volume.flatMap(({ pvcRef, capacityBytes }) => (pvcRef ? (capacityBytes ?? []) : [])),
  )
  return (host.diskUse?.devices ?? [])
    .filter(
      ({ name = '', bytes: size = 0, isUsed }) =>
        isUsed === true &&
        size > 0 &&
        !known.includes(name) &&
        !claims.some(capacity => hasVolumeSize(capacity, size)),
    )
    .map(({ name = '', bytes: size = 0 }) => ({ device: `/dev/${shorten(name, 60)}`, size }))
    .toSorted((a, b) => b.size - a.size)
}
