/** What the kernel tells of itself and of its control groups. Sources: proc(5); kernel documentation, cgroup-v1/cgroups and cgroup-v2 */
import { posix } from 'node:path'
import { nodeInfo } from '#lab/nodes/node-object.ts'
import { containerId, podUid } from '#lab/nodes/pod-object.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import type { MachinePart } from './machine.ts'

/** Of a node that works as it should. */
const quietDying = 7

export function kernelPart(profile: NodeProfile): MachinePart {
  const release = nodeInfo(profile).kernelVersion
  const instance = /\/(i-[0-9a-f]+)$/.exec(profile.providerId)?.[1]
  const groups = profile.family === 'AL2' ? groupsOfV1(profile) : groupsOfV2(profile)
  return {
    ...groups,
    files: {
      ...groups.files,
      '/proc/sys/kernel/osrelease': `${release}\n`,
      '/proc/sys/kernel/hostname': `${profile.name}\n`,
      '/proc/cmdline': `BOOT_IMAGE=/boot/vmlinuz-${release} root=UUID=8d1f7c1e-23aa ro console=tty0 console=ttyS0,115200n8 net.ifnames=0\n`,
      ...(instance !== undefined && {
        '/sys/devices/virtual/dmi/id/board_asset_tag': `${instance}\n`,
      }),
    },
  }
}

/** A folder for each group; those that are deleted have none, and are still counted. */
function groupsOfV1(profile: NodeProfile): MachinePart & { files: Record<string, string> } {
  const groups = [...groupsOf(profile)]
  // The hierarchy itself is a group, too.
  const count = groups.length + 1 + dyingOf(profile)
  const lines = ['cpuset', 'cpu', 'memory', 'pids'].map(
    (name, index) => `${name}\t${index + 3}\t${name === 'memory' ? count : 61}\t1`,
  )
  return {
    folders: groups.map(group => posix.join('/sys/fs/cgroup/memory', group)),
    files: {
      '/proc/cgroups': `#subsys_name\thierarchy\tnum_cgroups\tenabled\n${lines.join('\n')}\n`,
    },
  }
}

function groupsOfV2(profile: NodeProfile): MachinePart & { files: Record<string, string> } {
  const [alive, dying] = [groupsOf(profile).size, dyingOf(profile)]
  const stat = {
    nr_descendants: alive,
    nr_subsys_memory: alive,
    nr_dying_descendants: dying,
    nr_dying_subsys_memory: dying,
  }
  return {
    files: {
      '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory hugetlb pids rdma misc\n',
      '/sys/fs/cgroup/cgroup.stat': Object.entries(stat)
        .map(([name, count]) => `${name} ${count}\n`)
        .join(''),
    },
  }
}

const dyingOf = ({ disk }: NodeProfile) => disk?.dyingCgroups ?? quietDying

/** With all the groups above them. */
function groupsOf({ pods }: NodeProfile): Set<string> {
  const containers = pods
    .filter(({ phase }) => phase === 'Running')
    .flatMap(pod =>
      pod.containers.map(
        container =>
          `kubepods.slice/kubepods-pod${podUid(pod)}.slice/${containerId(pod, container)}`,
      ),
    )
  const all = new Set<string>()
  for (const group of [
    'system.slice/sshd.service',
    'runtime.slice/kubelet.service',
    'runtime.slice/containerd.service',
    ...containers,
  ])
    for (let one = group; one !== '.'; one = posix.dirname(one)) all.add(one)
  return all
}
