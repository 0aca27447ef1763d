import {
  isExecFailure,
  isKeyQuotaError,
  isMemoryCgroupRefused,
  isNoSpace,
  isOfSharedMemory,
  isPullEvent,
  isThinPoolFull,
  kernelLimitOf,
  namesPodVolume,
  placeWithoutSpace,
} from '#facts/kubelet/event-messages.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import {
  eventEvidence,
  recentEvents,
  startReasons,
  unreadEvents,
  waitingContainers,
} from '#judge/events/events.ts'
import { scarceClaims } from '#judge/help/claims.ts'
import {
  containerOf,
  endedContainers,
  hasRoom,
  memoryVolumeStep,
  volumeOf,
} from '#judge/help/space-errors.ts'
import {
  bytes,
  contextRule,
  type Failing,
  isLinux,
  line,
  lines,
  type NodeEvent,
  type NodeSubject,
  placedPod,
  plural,
  podName,
  seenFirst,
  shorten,
  shortPodName,
  worldCause,
} from '#judge/rule.ts'
import { isVolumeWritable, type KubernetesPod, placedWorkload } from '#model/input/record.ts'
import { podOwner } from '#model/prediction.ts'

const shown = 5
const podLogs = '/var/log/pods'
/** Folders of the kubelet and the runtime, whose disks are reported, and filesystems that are no disk. */
const ofReportedDisk =
  /^\/(?:var\/lib\/(?:kubelet|containerd|containers|docker|rancher)|sys|proc)(?:\/|$)/
/** Free share of a claim above which a file can be written. */
const leastOfClaim = 0.02
const titles = {
  keys: 'Containers fail with "disk quota exceeded": too many keys of the kernel',
  memory:
    'Containers fail with "no space left on device": their /dev/shm is full, no disk of the node',
  tmpfs:
    'Containers fail with "no space left on device": a filesystem in memory is full, no disk of the node',
  pool: 'Containers fail: the thin pool of the runtime is full, which the kubelet does not watch',
  limit: 'Containers fail at a limit of the kernel, whatever room the disks have',
}

export const noSpaceElsewhere = contextRule({
  id: 'no-space-elsewhere',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('no-space-elsewhere'),
  steps: ['read-limits'],
  needs: ['pods'],
  titles,
  title:
    'Containers fail with "no space left on device", and the disks that the kubelet reports have room',
  why: 'The kubelet reports its own disk and that of the images: a filesystem of its own, such as /var/log, can be full beside them. The kernel has the same error for other limits: inotify watches, mounts, cgroups, keys, a project quota, a small tmpfs such as /run, /dev/shm of the pod (64 MiB unless a volume is mounted there), a full volume of the pod, the free space of an XFS filesystem in pieces too small for new inodes, or btrfs whose space is all given to chunks. No image GC and no eviction ends it.',
  fix: 'If the error names a path, see which filesystem that is and what fills it. Look which limit it is, and raise it, or end what uses it up. XFS with free space in small pieces: replace the node, and end what writes so many small files. btrfs: btrfs balance. /dev/shm: mount an emptyDir with medium Memory and a sizeLimit there. Keys: raise kernel.keys.root_maxkeys and root_maxbytes, or maxkeys and maxbytes of containers in user namespaces.',
  sources: [
    'containerd internal/cri/server/podsandbox/sandbox_run_linux.go defaultShmSize',
    'inotify_add_watch(2) ENOSPC, inotify_init(2) EMFILE',
    'kernel.org Documentation/admin-guide/sysctl/fs.rst mount-max',
    'awslabs/amazon-eks-ami#1224',
  ],
  appliesTo: isLinux,

  fact: ({ pods, filesystems, recentStarts, summary, ledger, at }) => ({
    logBytes: ledger?.namespaces.reduce((sum, one) => sum + one.logBytes, 0) ?? 0,
    shared: sharedMemory(pods, at),
    fullClaims: podsOfFullClaims(summary, pods),
    waiting: pods
      .flatMap(waitingContainers)
      .filter(({ reason, message }) => isOtherSpaceError(message) && !pullErrors.has(reason)),
    ended: endedContainers(pods, at, message => kernelLimitOf(message) !== null).map(
      ({ pod, name, message }) => ({
        pod: podName(pod.metadata),
        who: placedPod(podOwner(pod, null)),
        reason: `container ${name} ended`,
        message,
      }),
    ),
    startedPods: Object.keys(recentStarts()),
    disks: roomOf(filesystems),
  }),

  *judge(fact, context) {
    const { shared, waiting: waitingOrNot, ended, disks, startedPods, fullClaims, logBytes } = fact
    if (shared) yield shared
    // claim-nearly-full reports those.
    const isOfClaim = (pod: string, message: string) =>
      fullClaims.includes(pod) && namesPodVolume(message) && !isKeyQuotaError(message)
    const allWaiting = waitingOrNot.filter(({ pod, message }) => !isOfClaim(pod, message))
    const allRefused = recentEvents(context.events, context.at, [
      ...startReasons,
      'Unhealthy',
    ]).filter(
      ({ reason, message, pod }) =>
        isOtherSpaceError(message) &&
        !isOfClaim(`${pod?.namespace}/${pod?.name}`, message) &&
        (reason === 'Unhealthy'
          ? isExecFailure(message)
          : !(reason === 'Failed' && isPullEvent(reason, message)) &&
            !startedPods.includes(`${pod?.namespace}/${pod?.name}`)),
    )
    const isAtKernelLimit = ({ message }: { message: string }) => kernelLimitOf(message) !== null
    yield* limitFailings([
      ...ended,
      ...allWaiting.filter(isAtKernelLimit),
      ...allRefused.filter(isAtKernelLimit).map(event => ({ ...event, pod: podName(event.pod) })),
    ])
    if (!disks) return
    const waiting = allWaiting.filter(one => !isAtKernelLimit(one)).slice(0, shown)
    const refused = allRefused.filter(one => !isAtKernelLimit(one))
    const pods = new Set([
      ...waiting.map(({ pod }) => pod),
      ...refused.map(({ pod }) => podName(pod)),
    ])
    const [first] = pods
    if (first === undefined) return yield* unreadEvents(context)
    const messages = [...waiting, ...refused].map(({ message }) => message)
    const place = messages.map(placeWithoutSpace).find(one => one !== null)
    const isByKeys = messages.every(isKeyQuotaError)
    const isByPool = messages.every(isThinPoolFull)
    const error = errorIn(messages[0] ?? '')
    const { note, effect, logs, ...where } = placeDetails(place, logBytes)
    yield {
      ...(isByKeys && { title: titles.keys }),
      ...where,
      ...(isByPool && {
        title: titles.pool,
        steps: [{ id: 'read-limits', variant: 'pool' } as const, { id: 'replace-node' as const }],
      }),
      ...seenFirst(
        `The runtime fails at ${plural(pods.size, 'pod')}, the first ${shorten(first, 300)}: "${error}"${place === undefined ? '' : ` in ${shorten(place, 200)}`}${note}. No disk that the kubelet reports is full: the fullest has ${bytes(disks.leastBytes)} and inodes free.${logs}${probeText(refused)}`,
        effect,
      ),
      evidence: lines(
        ...waiting.map(({ pod, reason, message }) =>
          line('object', shorten(`pod ${pod} ${reason}`, 300), message),
        ),
        ...eventEvidence(refused, context.at),
        line('summary', 'free bytes of the fullest disk', disks.leastBytes),
      ),
    }
  },
})

/** runc appends errors of exec calls to a container's log.json below /run, and a probe is an exec call. Empty: no probe fails there. Source: opencontainers/runc#3253 */
function probeText(refused: readonly NodeEvent[]): string {
  const probes = refused.filter(({ reason, message }) => {
    const place = placeWithoutSpace(message)
    return reason === 'Unhealthy' && place !== null && inMemory.test(place)
  })
  const [most] = probes.toSorted((a, b) => b.count - a.count)
  return most?.pod == null
    ? ''
    : ` The exec probe of ${shortPodName(most.pod)} fails there (${plural(most.count, 'time')}): the logs of its runs may fill it.`
}

const inMemory = /^\/(?:(?:var\/)?run|dev\/shm)(?=\/|$)/

/** Of a path: a filesystem in memory, or one that may be no disk of the kubelet. */
function placeDetails(place: string | undefined, logBytes: number) {
  const plain = {
    note: '',
    logs: '',
    effect:
      'Another limit of the node is reached: nothing that frees space on these disks ends it.',
  }
  if (place === undefined || ofReportedDisk.test(place)) return plain
  const memory = inMemory.exec(place)?.[0]
  if (memory !== undefined)
    return {
      ...plain,
      note: `; ${memory} is memory, with bytes and inodes of its own`,
      title: titles.tmpfs,
      steps: [{ id: 'read-limits', variant: 'memory', place: memory } as const],
    }
  const isOfLogs = logBytes > 0 && `${podLogs}/`.startsWith(`${place}/`)
  return {
    ...plain,
    logs: isOfLogs ? ` The logs of all pods in ${podLogs} have ${bytes(logBytes)}.` : '',
    effect:
      'If the path is a filesystem of its own, only room there ends it; else a limit of the node is reached.',
    steps: [{ id: 'read-limits', variant: 'filesystem', place } as const],
  }
}

interface AtLimit {
  /** `namespace/name`. */
  pod: string
  /** With its owner. Absent: it is not known. */
  who?: string
  reason: string
  message: string
}

/** One for each limit. It is of all processes of a user on the node, so the first to fail need not be the one that uses it up. */
function* limitFailings(all: readonly AtLimit[]): Iterable<Failing> {
  const sysctlOf = ({ message }: AtLimit) => kernelLimitOf(message)?.sysctl ?? ''
  for (const [sysctl, alike] of Map.groupBy(all, sysctlOf)) {
    const first = alike[0]!
    yield {
      title: titles.limit,
      cause: worldCause('no-space-elsewhere', sysctl),
      steps: [{ id: 'raise-kernel-limit', place: sysctl }],
      ...seenFirst(
        `${plural(new Set(alike.map(({ pod }) => pod)).size, 'pod')} failed, the first ${shorten(first.who ?? first.pod, 300)}: "${shorten(kernelLimitOf(first.message)?.line ?? '', 200)}". The node's limit ${sysctl} is reached, or 0.`,
        'It is no disk that is full: no image GC, no eviction and no larger disk ends it.',
      ),
      evidence: alike
        .slice(0, shown)
        .map(({ pod, reason, message }) =>
          line('object', shorten(`pod ${pod} ${reason}`, 300), message),
        ),
    }
  }
}

function errorIn(message: string): string {
  if (isKeyQuotaError(message)) return 'disk quota exceeded'
  return isThinPoolFull(message)
    ? 'Thin Pool has too few free data blocks'
    : 'no space left on device'
}

const isOtherSpaceError = (message: string) =>
  isKeyQuotaError(message) ||
  isThinPoolFull(message) ||
  kernelLimitOf(message) !== null ||
  (isNoSpace(message) && !isMemoryCgroupRefused(message))

/** Of containers that ended within a day, or are started again, because the memory that their processes share was full. Null: none did. */
function sharedMemory(pods: readonly KubernetesPod[], at: string): Failing | null {
  // Of pods that share the memory of the node, its own tmpfs is full.
  const own = pods.filter(({ spec }) => spec?.hostIPC !== true)
  const ended = endedContainers(own, at, isOfSharedMemory).flatMap(one => {
    const memory = memoryOf(one.pod, one.name)
    return memory ? [{ ...one, ...memory }] : []
  })
  const [first] = ended
  if (!first) return null
  const owner = podOwner(first.pod, first.volume)
  const { namespace, workload } = owner
  const named = workload === null ? '' : ` (${shorten(placedWorkload(namespace, workload))})`
  const count = new Set(ended.map(one => podName(one.pod.metadata))).size
  return {
    title: titles.memory,
    cause: worldCause('no-space-elsewhere', '/dev/shm'),
    ...seenFirst(
      `${plural(count, 'pod')} ended, the first ${shorten(podName(first.pod.metadata), 300)}${named}: ${first.volume === null ? 'no volume is mounted at /dev/shm, so it has 64 MiB' : `its volume ${shorten(first.volume, 63)} at /dev/shm is full`}.`,
      'It is memory: no image GC, no eviction and no larger disk ends it.',
    ),
    steps: [{ id: first.step, owner }],
    evidence: lines(
      ...ended
        .slice(0, shown)
        .map(one =>
          line(
            'object',
            shorten(`container ${one.name} of pod ${podName(one.pod.metadata)}`, 300),
            shorten(one.message, 300),
          ),
        ),
    ),
  }
}

/** What the container has at /dev/shm, and how it gets more. Null: a volume on a disk. `volume` null: what the runtime gives. */
function memoryOf(pod: KubernetesPod, container: string) {
  const mounts = containerOf(pod, container)?.volumeMounts
  const mount = mounts?.find(({ mountPath }) => mountPath === '/dev/shm')
  if (!mount) return { volume: null, step: 'mount-shared-memory' } as const
  const volume = volumeOf(pod, mount.name)
  const step = volume ? memoryVolumeStep(pod, volume) : null
  return step === null ? null : ({ volume: mount.name ?? null, step } as const)
}

/** As `namespace/pod`: those that write to a full PersistentVolumeClaim. */
const podsOfFullClaims = (summary: NodeSubject['summary'], pods: readonly KubernetesPod[]) =>
  scarceClaims(summary, leastOfClaim).flatMap(({ podRef, volume }) => {
    const name = podName(podRef)
    const pod = pods.find(({ metadata }) => podName(metadata) === name)
    return pod && isVolumeWritable(pod, volume) ? [name] : []
  })

/** Null: a disk is short of bytes or inodes, or was not read. */
function roomOf({ nodefs, imagefs }: NodeSubject['filesystems']) {
  const disks = [nodefs, imagefs].filter(disk => disk !== null)
  if (!nodefs || !disks.every(hasRoom)) return null
  return { leastBytes: Math.min(...disks.map(({ availableBytes }) => availableBytes ?? 0)) }
}
