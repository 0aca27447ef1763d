import { idleInstanceStores } from '#judge/help/disks-beside.ts'
import { bytes, bytesLine, canMeasure, deviceCause, line, nodeRule } from '#judge/rule.ts'

/** Smaller disks would not help the node. */
const leastShare = 0.25

export const unmountedInstanceStore = nodeRule({
  id: 'unmounted-instance-store',
  family: 'configuration',
  severity: 'low',
  cause: deviceCause('unused-disk'),
  steps: ['use-instance-store'],
  needs: ['ledger', 'host'],
  title: 'Nothing uses the instance-store disks of the node',
  why: 'Images, containers and logs share the root volume, while disks that the instance type is paid for lie idle. Unless pods use them as raw block devices, they can carry all of this.',
  fix: 'Set the local storage strategy RAID0 in NodeConfig (in an EC2NodeClass instanceStorePolicy RAID0), and replace the nodes. Or take an instance type without these disks.',
  sources: [
    'awslabs/amazon-eks-ami nodeadm/doc/api.md LocalStorageOptions',
    'karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go InstanceStorePolicy',
  ],
  // Only a measurement on the node shows what is mounted.
  appliesTo: canMeasure('devices'),

  *judge({ host, filesystems: { nodefs } }) {
    const capacity = nodefs?.capacityBytes ?? 0
    const idle = idleInstanceStores(host).filter(({ size }) => size >= leastShare * capacity)
    const [first] = idle
    if (!first || capacity === 0) return
    const all = idle.reduce((sum, { size }) => sum + size, 0)
    yield {
      ...(all >= capacity && { severity: 'medium' as const }),
      cause: deviceCause('unused-disk', { device: first.device, actualBytes: all }),
      consequence: `${idle.map(({ device }) => device).join(', ')} with ${bytes(all)} ${idle.length === 1 ? 'is' : 'are'} mounted nowhere; everything is on nodefs with ${bytes(capacity)}.`,
      evidence: [
        bytesLine('summary', 'nodefs capacity', capacity),
        ...idle.map(({ device, size }) => line('host', device, `${bytes(size)}, unused`)),
      ],
    }
  },
})
