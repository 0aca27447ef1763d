import { kernelOf } from '#judge/kernel.ts'
import { nodeRule } from '#judge/rule.ts'
import { bounded } from '#judge/text.ts'

/** The kernel has no more ids for memory cgroups. */
const mostIds = 65_535
const many = 20_000
const nearlyAll = 55_000

export const memoryCgroupLeak = nodeRule({
  id: 'memory-cgroup-leak',
  family: 'kernel',
  severity: 'medium',
  needs: [],
  docs: {
    title: 'The kernel leaks memory cgroups',
    why: `Kernels 3 and 4 with accounting of kernel memory on cgroup v1 keep the id of a deleted memory cgroup. When all ${mostIds} are used, no container starts ("cannot allocate memory", "no space left on device", "SLUB: Unable to allocate memory") until the node is rebooted.`,
    fix: 'Move to a kernel of 5.4 or later with cgroup v2; on an old one boot with cgroup.memory=nokmem. Reboot a node whose ids run out.',
    sources: ['kubernetes#61937', 'kubernetes#112940', 'opencontainers/runc#2840', 'moby/moby#35545'],
  },
  examples: {
    bad: { host: { kernel: { release: '4.14.355-275.572.amzn2.x86_64', cmdline: 'ro quiet', cgroupVersion: 1, memoryCgroups: 900 } } },
    good: { host: { kernel: { release: '6.1.115-126.197.amzn2023.x86_64', cmdline: 'ro quiet', cgroupVersion: 2, memoryCgroups: 400 } } },
  },
  appliesTo: ({ identity }) => identity.operatingSystem === 'linux',

  *judge(subject) {
    const { release, cmdline, cgroupVersion, memoryCgroups } = kernelOf(subject)
    const major = /^(\d+)\./.exec(release ?? '')?.[1]
    if (major === undefined) yield { unknown: 'node: its status names no kernel release' }
    const isOld = major === '3' || major === '4'
    const isWithoutKmem = cmdline?.includes('cgroup.memory=nokmem') ?? null
    const isLeaking = memoryCgroups !== null && memoryCgroups >= many
    const isExposed = isOld && cgroupVersion === 1 && isWithoutKmem === false
    const isOpen = isOld && cgroupVersion !== 2 && isWithoutKmem !== true
    if (isOpen && !isExposed)
      yield { unknown: `host: whether kernel ${bounded(release ?? '', 60)} runs cgroup v1 and accounts kernel memory was not read` }
    if (!isLeaking && !isExposed) return
    yield {
      severity: isLeaking ? (memoryCgroups >= nearlyAll ? 'critical' : 'high') : 'medium',
      confidence: isLeaking ? 'certain' : 'possible',
      consequence: isLeaking
        ? `${memoryCgroups} of ${mostIds} memory cgroups are in use, far more than pods need: at the last one no container starts on this node until it is rebooted.`
        : 'Each container that ends may leave a memory cgroup behind; when their ids have run out, no container starts until the node is rebooted.',
      evidence: [
        { what: 'kernel release', value: bounded(release ?? 'not known') },
        { what: 'host kernel cgroupVersion', value: String(cgroupVersion ?? 'not known') },
        { what: 'boot option cgroup.memory=nokmem', value: isWithoutKmem === null ? 'not known' : isWithoutKmem ? 'set' : 'absent' },
        { what: 'host kernel memoryCgroups', value: String(memoryCgroups ?? 'not known') },
      ],
    }
  },
})
