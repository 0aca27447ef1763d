/** The filesystems as df and findmnt show them, in the numbers of `/stats/summary`. */
import { instanceTypes } from '#lab/nodes/instance-types.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import { type Filesystem, filesystemsOf } from '#lab/nodes/summary.ts'
import type { MachinePart } from './machine.ts'

export const runtimeFolder = '/var/lib/containerd'

export function filesystemsPart(profile: NodeProfile): MachinePart {
  const { nodefs, imagefs } = filesystemsOf(profile)
  const lines = [
    line('/', '/dev/nvme0n1p1', nodefs),
    ...(profile.imagefs ? [line(runtimeFolder, '/dev/nvme1n1', imagefs)] : []),
  ]
  return {
    folders: ['/var/lib/kubelet/pods', '/var/log/pods'],
    answers: {
      filesystems: `${lines.join('\n')}\n`,
      nproc: `${instanceTypes[profile.instanceType].vcpus}\n`,
    },
  }
}

/** MOUNT DEVICE TYPE BLOCKS USED AVAILABLE INODES IUSED IFREE, in blocks of 1024 bytes. */
function line(
  mount: string,
  device: string,
  { capacityBytes, availableBytes, inodes = 0, inodesFree = 0 }: Filesystem,
): string {
  const [blocks, available] = [capacityBytes, availableBytes].map(bytes => Math.trunc(bytes / 1024))
  return [
    mount,
    device,
    'xfs',
    blocks,
    blocks! - available!,
    available,
    inodes,
    inodes - inodesFree,
    inodesFree,
  ].join(' ')
}
