import { isMemoryCgroupRefused } from '#facts/kubelet/event-messages.ts'
import {
  eventEvidence,
  eventTimes,
  recentEvents,
  startReasons,
  timesText,
  unreadEvents,
} from '#judge/events/events.ts'
import {
  contextRule,
  type Failing,
  isLinux,
  line,
  type Satisfied,
  seenFirst,
  shorten,
  type Undecided,
  worldCause,
} from '#judge/rule.ts'
import { hasBootOption, kernelOf } from '#judge/subject/kernel.ts'

/** Maximum number of memory cgroup ids in the kernel. */
const mostIds = 65_535
const many = 20_000
const nearlyAll = 55_000

/** True for kernels 3 and 4. Null: the release is unknown. */
function isOldKernel(release: string | null) {
  const major = /^(\d+)\./.exec(release ?? '')?.[1]
  return major === undefined ? null : major === '3' || major === '4'
}

export const memoryCgroupLeak = contextRule({
  id: 'memory-cgroup-leak',
  family: 'kernel',
  severity: 'medium',
  cause: worldCause('kernel-memory-cgroups'),
  steps: ['reboot', 'create-group'],
  title: 'The kernel leaks memory cgroups',
  why: `Kernels 3 and 4 with accounting of kernel memory on cgroup v1 keep the id of a deleted memory cgroup. When all ${mostIds} are used, no container starts ("cannot allocate memory", "no space left on device", "SLUB: Unable to allocate memory") until the node is rebooted. On cgroup v2 ids come back, but a deleted cgroup stays as long as pages are charged to it, and its memory is no pod's.`,
  fix: 'Move to a kernel of 5.4 or later with cgroup v2; on an old one boot with cgroup.memory=nokmem. Reboot a node whose ids run out. On cgroup v2 find what makes and deletes so many (containers that crash, probes, jobs), and move to a newer kernel.',
  sources: [
    'kubernetes#61937',
    'kubernetes#112940',
    'opencontainers/runc#2840',
    'moby/moby#35545',
    'kernel.org Documentation/admin-guide/cgroup-v2.rst nr_dying_descendants',
  ],
  appliesTo: isLinux,

  fact: subject => ({
    byKernel: [...byKernel(subject)],
    isOld: isOldKernel(kernelOf(subject).release),
  }),

  *judge({ byKernel, isOld }, context) {
    const { events, at } = context
    const refused = recentEvents(events, at, startReasons).filter(({ message }) =>
      isMemoryCgroupRefused(message),
    )
    const times = eventTimes(refused, at)
    if (times.count > 0)
      yield {
        severity: 'high',
        // A newer kernel can refuse a memory cgroup for other causes.
        confidence: isOld === false ? 'likely' : 'certain',
        title: 'The kernel gives no more memory cgroups: containers do not start',
        ...seenFirst(
          `The kernel refused a memory cgroup ${timesText(times)}: new containers may not start until memory cgroups are freed, for sure by a reboot.`,
        ),
        evidence: eventEvidence(refused, at),
      }
    yield* byKernel
    yield* unreadEvents(context)
  },
})

function* byKernel(subject: Satisfied<never>): Iterable<Failing | Undecided> {
  const { release, cmdline, cgroupVersion, memoryCgroups, dyingMemoryCgroups } = kernelOf(subject)
  const isOld = isOldKernel(release)
  if (isOld === null) yield { unknown: 'node: its status names no kernel release' }
  const isWithoutKmem = cmdline === null ? null : hasBootOption(cmdline, 'cgroup.memory', 'nokmem')
  // On cgroup v1 a deleted memory cgroup keeps its id.
  const usedIds = memoryCgroups ?? (cgroupVersion === 1 ? dyingMemoryCgroups : null)
  const isLeaking = usedIds !== null && usedIds >= many
  const isExposed = isOld && cgroupVersion === 1 && isWithoutKmem === false
  const isUndecided = isOld && cgroupVersion !== 2 && isWithoutKmem !== true
  if (isUndecided && !isExposed)
    yield {
      unknown: `host: whether kernel ${shorten(release ?? '', 60)} runs cgroup v1 and accounts kernel memory was not read`,
    }
  const isDying = dyingMemoryCgroups !== null && dyingMemoryCgroups >= many
  if (!isLeaking && cgroupVersion !== 1 && isDying) yield dyingFailing(dyingMemoryCgroups)
  if (!isLeaking && !isExposed) return
  yield {
    ...(isLeaking ? leakFailing(usedIds) : exposed),
    evidence: [
      line('host', 'kernel release', release ?? 'not known'),
      line('host', 'host kernel cgroupVersion', cgroupVersion ?? 'not known'),
      line('host', 'boot option cgroup.memory=nokmem', optionState(isWithoutKmem)),
      line('host', 'host kernel memoryCgroups', memoryCgroups ?? 'not known'),
      ...(dyingMemoryCgroups === null ? [] : [dyingEvidence(dyingMemoryCgroups)]),
    ],
  }
}

const leakFailing = (usedIds: number): Omit<Failing, 'evidence'> => ({
  severity: usedIds >= nearlyAll ? 'critical' : 'high',
  confidence: 'certain',
  ...seenFirst(
    `${usedIds} of ${mostIds} memory cgroups are in use, far more than pods need.`,
    'When none is left, no container starts until some are freed, for sure by a reboot.',
  ),
})

const exposed: Omit<Failing, 'evidence'> = {
  severity: 'medium',
  confidence: 'possible',
  consequence:
    'Each container that ends may leak a memory cgroup. When no id is left, no container starts until some are freed, for sure by a reboot.',
}

function optionState(isSet: boolean | null): string {
  if (isSet === null) return 'not known'
  return isSet ? 'set' : 'absent'
}

const dyingEvidence = (count: number) => line('host', 'host kernel dyingMemoryCgroups', count)

const dyingFailing = (count: number): Failing => ({
  title: 'The kernel keeps deleted memory cgroups',
  consequence: `${count} deleted memory cgroups are still there: the memory charged to them belongs to no pod, so memory.available falls and pods are evicted that did not use it.`,
  evidence: [dyingEvidence(count)],
})
