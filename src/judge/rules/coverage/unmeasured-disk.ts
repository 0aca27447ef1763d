import { unmeasuredReason } from '#judge/help/unmeasured-disks.ts'
import { bytes, bytesLine, canMeasure, deviceCause, line, nodeRule, shorten } from '#judge/rule.ts'

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
  appliesTo: canMeasure('devices'),

  *judge(subject) {
    const unmeasured = unmeasuredReason(subject)
    if (!unmeasured) return
    const { disks, mounts, hasMoreMounts, reason } = unmeasured
    const places = shorten(`${mounts.join(', ')}${hasMoreMounts ? ', …' : ''}`, 300)
    yield {
      ...reason,
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
