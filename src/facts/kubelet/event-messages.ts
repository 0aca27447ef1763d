/**
 * Parses the texts of the kubelet's events and log lines. Rules compare the parsed values, never the text.
 *
 * Sources  pkg/kubelet/eviction/helpers.go evictionMessage, signalToResource; eviction_manager.go Admit, synchronize; pkg/kubelet/oom (SystemOOM);
 *          eviction_manager.go synchronize, evictPod (log); pkg/kubelet/images/image_gc_manager.go GarbageCollect, freeSpace;
 *          image_manager.go EnsureImageExists;
 *          kubernetes/node-problem-detector config/kernel-monitor.json (OOMKilling); kubernetes#61937, kubernetes#112940
 */
import { oncePerText } from '#base/once.ts'
import type { Signal } from '#model/prediction.ts'

/** Eviction signals by the resource that an eviction message names. */
export const signalsOfResource: Readonly<Record<string, readonly Signal[]>> = {
  memory: ['memory.available', 'allocatableMemory.available'],
  'ephemeral-storage': ['nodefs.available', 'imagefs.available', 'containerfs.available'],
  inodes: ['nodefs.inodesFree', 'imagefs.inodesFree', 'containerfs.inodesFree'],
  pids: ['pid.available'],
}

export interface EvictionCause {
  /** What was low; null: the pod exceeded its own limit, or the message has another form. */
  resource: string | null
  /** The kubelet refused the pod at admission, so none of its containers ran. */
  isRefused: boolean
  threshold: { quantity: string; available: string } | null
  containers: { name: string; used: string; request: string }[]
}

const resourceOfCondition: Readonly<Record<string, string>> = {
  Memory: 'memory',
  Disk: 'ephemeral-storage',
  PID: 'pids',
}
const containerUse =
  /Container (\S{1,63}) was using ([^\s,]{1,40}), (?:request is|which exceeds its request of) ([^\s,]{1,40}?)(?:,|\.(?: |$))/g

export function evictionCause(message: string): EvictionCause {
  const [, low] =
    /(?:The node was low on resource:|Attempting to reclaim) ([a-z-]{1,40})(?:\.|$)/.exec(
      message,
    ) ?? []
  const [, condition] =
    /The node (?:had condition|was low on resource): \[(Memory|Disk|PID)Pressure[^\]]{0,60}\]/.exec(
      message,
    ) ?? []
  const [, quantity, available] =
    /Threshold quantity: ([^\s,]{1,40}), available: ([^\s,]{1,40})\.(?: |$)/.exec(message) ?? []
  const resource = low ?? (condition === undefined ? undefined : resourceOfCondition[condition])
  return {
    resource:
      resource !== undefined && Object.hasOwn(signalsOfResource, resource) ? resource : null,
    isRefused: condition !== undefined,
    threshold: quantity === undefined || available === undefined ? null : { quantity, available },
    containers: [...message.matchAll(containerUse)].map(
      ([, name = '', used = '', request = '']) => ({ name, used, request }),
    ),
  }
}

const ownLimits = [
  /^Pod ephemeral local storage usage exceeds the total limit of containers (?<quantity>[^\s"]{1,40})\. ?$/,
  /^Usage of EmptyDir volume "(?<volume>[^\s"]{1,63})" exceeds the limit "(?<quantity>[^\s"]{1,40})"\. ?$/,
  /^Container (?<container>\S{1,63}) exceeded its local ephemeral storage limit "(?<quantity>[^\s"]{1,40})"\. ?$/,
]

/** The limit that an evicted pod exceeded, and whose it is: a volume's, a container's, or of all containers together. */
interface OwnLimit {
  quantity: string
  volume: string | null
  container: string | null
}

/** Null: the node was low, or the message has another form. */
export function exceededLimit(message: string): OwnLimit | null {
  const found = ownLimits.map(form => form.exec(message)?.groups).find(one => one !== undefined)
  if (found?.quantity === undefined) return null
  const { quantity, volume = null, container = null } = found
  return { quantity, volume, container }
}

/** The texts up to 1.34, and since 1.35, which omits the wanted bytes. */
const shortfall =
  /garbage collect required amount of images|Insufficient free disk space on the node's image filesystem|Failed to free sufficient space by deleting unused images/

/** Whether the message says that a round of image GC freed too little. */
export const isGcShortfall = (message: string): boolean => shortfall.test(message)

/** Null: the message has no numbers. `wantedBytes` null: it has only the freed bytes. */
export function shortfallBytes(
  message: string,
): { wantedBytes: number | null; freedBytes: number } | null {
  const [, wanted, freed] =
    /(?:Attempted|Wanted) to free (\d{1,16}) bytes, but (?:only found|freed) (\d{1,16}) bytes/.exec(
      message,
    ) ?? []
  const [, freedOnly] = / \(freed (\d{1,16}) bytes\)/.exec(message) ?? []
  const freedText = freed ?? freedOnly
  if (freedText === undefined) return null
  return {
    wantedBytes: wanted === undefined ? null : Number(wanted),
    freedBytes: Number(freedText),
  }
}

const unmeasured =
  /missing image stats|imageFs information is unavailable|imageFs info|get filesystem info|invalid capacity \d+ on image filesystem/i
/** By dockerd (image_delete.go), and by containers/storage of CRI-O. */
const inUse = /image is being used by (?:running|stopped) container|image is in use by a container/

/** Why a round of GC failed. `unmeasured`: the kubelet cannot measure the image filesystem. `in-use`: a container uses the image. */
export function gcErrorOf(message: string): 'unmeasured' | 'in-use' | 'other' {
  if (unmeasured.test(message)) return 'unmeasured'
  return inUse.test(message) ? 'in-use' : 'other'
}

/** The runtime's own error, without the words that kubelet, gRPC and dockerd put before it. */
export const runtimeErrorIn = (message: string): string =>
  message
    .replace(/^wanted to free .{1,80} with errors in image deletion: /, '')
    .replaceAll(/rpc error: code = \w+ desc = (?:Error response from daemon: )?/g, '')

/** Of a container that the runtime did not make in time: by containerd and CRI-O. */
export const isUnfinishedStart = (message: string): boolean =>
  /^(?:Error: )?context deadline exceeded$|failed to reserve container name|error reserving ctr name/.test(
    runtimeErrorIn(message),
  )

/**
 * A call to the runtime that ran into its deadline. One that waits for a pull or the network ends with the runtime's own text.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod; pkg/kubelet/kubelet.go SyncTerminatingPod
 */
export const isRuntimeTimeout = (message: string): boolean =>
  /^(?:Failed (?:to )?create pod sandbox: rpc error: |error killing pod: .{0,200}?)code = DeadlineExceeded desc = context deadline exceeded/.test(
    message,
  )

/** As Linux and Windows (ERROR_DISK_FULL) word it. */
const noSpace = /no space left on device|there is not enough space on the disk/i

export const isNoSpace = (message: string): boolean => noSpace.test(message)

/**
 * A program fails at a file of /dev/shm: the memory that its processes share. The runtime gives a pod 64 MiB of it. Sources: containerd
 * internal/cri/server/podsandbox/sandbox_run_linux.go; PyTorch torch_shm_manager, utils/data/_utils/signal_handling.py; PostgreSQL dsm_impl.c,
 * where System V segments have no name, and those of mmap are files of its own disk
 */
export const isOfSharedMemory = (message: string): boolean =>
  /workers are out of shared memory/i.test(message) ||
  (noSpace.test(message) &&
    /\/dev\/shm\b|shared memory segment \\?"\/PostgreSQL|<\/torch_\d/i.test(message))

/** A logical volume of the runtime, which no disk of the kubelet shows. Source: moby and containers/storage, graphdriver devmapper deviceset.go */
export const isThinPoolFull = (message: string): boolean =>
  /thin pool has \d+ free data blocks/i.test(message)

/** By runc, which joins a keyring for each container: the quota is of keys, and no disk has one. */
export const isKeyQuotaError = (message: string): boolean =>
  /session key[^"]{0,100}: disk quota exceeded/i.test(message)

/** Both forms stand on one line of the message. */
const kernelLimits = [
  // Source: unshare(2) ENOSPC; containerd pkg/sys/unshare_linux.go: of pods with hostUsers false.
  [noSpace, /for unshare\b|\bunshare: |user namespace/i, 'user.max_user_namespaces'],
  // Source: inotify_init(2) EMFILE; systemd sd-event, tail(1), .NET FileSystemWatcher and Node.js fs.watch have words of their own.
  [
    /too many open files|instances? .{0,40}reached/i,
    // A watch of the API fails at a socket.
    /inotify|fsnotify|directory watch|(?<![\w./-])watchers?\b|, watch\b/i,
    'fs.inotify.max_user_instances',
  ],
  // Source: inotify_add_watch(2) ENOSPC
  [
    /no space left on device|ENOSPC|(?:inotify|watch).{0,40}reached/i,
    // No path has the word.
    /inotify|fsnotify|(?<![\w./-])watch(?:e[rs]s?|ing)?(?![\w./-])/i,
    'fs.inotify.max_user_watches',
  ],
] as const

/** The sysctl whose limit the message is of, and the line that says so. Null: it names none. */
export function kernelLimitOf(message: string): { sysctl: string; line: string } | null {
  for (const line of message.split('\n')) {
    const found = kernelLimits.find(([error, place]) => error.test(line) && place.test(line))
    if (found) return { sysctl: found[2], line: line.trim() }
  }
  return null
}

/** The runtime could not begin a command in a container, such as a probe. */
export const isExecFailure = (message: string): boolean =>
  /failed to (?:start|create) exec|failed to exec in container/.test(message)

/**
 * Why a file of kubelet or runtime cannot be written: ext4 and btrfs become read-only after an error, XFS shuts down. Their folders may lie
 * on a disk of their own, such as /mnt/ephemeral. A volume of a pod, and a container's own filesystem, may be read-only on purpose.
 */
const unwritable =
  /(?<folder>(?:\/[\w.-]{1,100}){0,8}?\/(?:kubelet|containerd|docker|crio|containers\/storage|io\.containerd[\w.]{1,60}|var\/log\/(?:pods|containers)|lib\/cni))\/(?!(?:[^\s:"]{0,500}\/)?(?:merged|rootfs|plugins)\/|pods\/[^/\s]{1,100}\/volume(?!s\/kubernetes\.io~(?:configmap|downward-api|empty-dir|projected|secret)\b))[^\s:"]{1,500}: (?<error>read-only file system|input\/output error)/i

/** The error, and the folder of kubelet or runtime. Null: it can be written, or the message is of another file. */
export function writeErrorIn(message: string): { error: string; folder: string } | null {
  const { error, folder } = unwritable.exec(message)?.groups ?? {}
  return error === undefined || folder === undefined ? null : { error: error.toLowerCase(), folder }
}

const refusedHostPath =
  /(?:^MountVolume\.SetUp failed for volume "[^"]{1,253}" ?: |failed to mkdir "[^"]{1,500}": |error while creating mount source path '[^']{1,500}': )mkdir (\/[^\s:"]{1,500}): read-only file system/

/** A folder that the kubelet or the runtime could not make for a hostPath. Null: the message is of something else. */
export const refusedHostPathIn = (message: string): string | null =>
  refusedHostPath.exec(message)?.[1] ?? null

/** Whether the message is of a volume of a pod. */
export const namesPodVolume = (message: string): boolean =>
  /\/var\/lib\/kubelet\/pods\/[^/\s]{1,100}\/volume/.test(message)

/** The upper folders of the path at which there was no space: `/run/containerd/runc`. Null: the message names none. */
export function placeWithoutSpace(message: string): string | null {
  const end = message.search(noSpace)
  if (end < 0) return null
  const [before, after] = [
    message.slice(Math.max(0, end - longestPath), end),
    message.slice(end, end + longestPath),
  ].map(text => text.split(/[\s"'`,;()]+/).filter(word => /^\/[\w.-]+\//.test(word)))
  const path = before?.at(-1) ?? after?.[0]
  return path === undefined || path.startsWith('/proc/')
    ? null
    : path
        .split('/')
        .slice(0, 4)
        .join('/')
        .replace(/(?<!:):+$/, '')
}

const longestPath = 1000

/** `/var/log` of `Disk /dev/nvme3n1 (mount point /var/log) is full.` Null: the message names none. */
export const mountPointOf = (message: string): string | null =>
  /\bmount ?(?:point|ed on|path) (\/[\w./-]{0,200}\w)/i.exec(message)?.[1] ?? null

/** An error of Go's os package: the runtime failed at a file of the node. */
const ownFile =
  /\b(?:l?stat|open|mkdir|rename|remove|unlinkat|link|symlink|chmod|lchown|read|write) \/[^\s:"]{1,500}: /

/** Causes by message. Runtimes pass on each registry's own texts. */
const pullCauses = [
  [/pull QPS exceeded/, 'limit of the kubelet'],
  [
    /toomanyrequests|too many requests|pull rate limit|status(?: code)?:? 429\b/i,
    'rate limit (429)',
  ],
  // What the server says of its own disk follows its status.
  [
    /(?:unexpected (?:HTTP )?status\b|failed with status code \[).{0,1000}?: 5\d\d\b/i,
    'registry error (5xx)',
  ],
  [noSpace, 'no space left'],
  [/x509:|certificate/i, 'certificate (x509)'],
  // Source: containerd core/content/helpers.go Copy, plugins/content/local/writer.go Commit; containers/image copy/digesting_reader.go
  [
    /unexpected commit (?:digest|size)|failed size validation|digest did not match|invalid checksum digest/i,
    'wrong content',
  ],
  [ownFile, 'file of the node'],
  [/token has expired/i, 'expired credentials'],
  // Nothing was sent to log in with, and the words of the next row stand before it.
  [/no basic auth credentials/i, 'no basic auth credentials'],
  // A registry does not tell which of both it is.
  [/does not exist or may require/i, 'missing or denied'],
  [/unauthorized|denied|forbidden|authorization failed/i, 'denied'],
  [/not found|manifest unknown|name unknown|not present with pull policy of Never/i, 'not found'],
  // Without a request that was not answered, unpacking on a slow disk takes as long.
  [
    /^(?!.*(?:\b(?:get|head|post) \\?"?https?:|dial |i\/o timeout|handshake|awaiting headers)).*(?:deadline ?exceeded|context canceled)/is,
    'deadline exceeded',
  ],
  [/timeout|timed out|deadline ?exceeded/i, 'timeout'],
  [
    /no such host|name resolution|connection refused|connection reset|no route to host|network is unreachable/i,
    'out of reach',
  ],
  [/InvalidImageName|couldn't parse image|invalid reference format/i, 'invalid name'],
] as const

export type PullCause = (typeof pullCauses)[number][1]

/** Cause of a failed pull; null: unknown. The image name is removed from the message first, because it may contain any word. */
export function pullCause(message: string, image: string | null): PullCause | null {
  const text = image ? message.replaceAll(image, '') : message
  return pullCauses.find(([words]) => words.test(text))?.[1] ?? null
}

/** The image in the message; null: none. Upstream prints it with %q. */
export const pulledImage = (message: string): string | null =>
  /image (?:tag )?"([^"\\\s]{1,500})"/.exec(message)?.[1] ?? null

/** `Failed` is also the reason for containers that did not start, `BackOff` for those that crash, `FailedCreatePodSandBox` for networks. */
const ofPull: Readonly<Record<string, RegExp>> = {
  BackOff: /pulling image/i,
  Failed: /pull(?:ing)? image|ErrImage|ImagePullBackOff|InvalidImageName|inspect image/i,
  FailedCreatePodSandBox: /failed to get sandbox image "/,
}

export const isPullEvent = (reason: string, message: string): boolean =>
  !Object.hasOwn(ofPull, reason) || ofPull[reason]!.test(message)

/** Whether the kubelet sent the start event: kube-proxy sends one, too. */
export const isFromKubelet = (message: string): boolean => message.includes('kubelet')

/** Whether a container exceeded its own limit while the node had memory left. */
export const isOwnMemoryLimit = (message: string): boolean => message.includes('Memory cgroup')

/** A path of cgroup v1's memory controller, or of v2. Other controllers fail for other causes. */
const refusedCgroup =
  /mkdir \/sys\/fs\/cgroup\/(?:memory|kubepods|system\.slice)[^\s:]{0,500}: (?:cannot allocate memory|no space left on device)/

export const isMemoryCgroupRefused = (message: string): boolean => refusedCgroup.test(message)

/** An image GC line in the kubelet's log. */
export type ImageGcLine =
  | { at: string; wantedBytes: number }
  | { at: string; image: string; bytes: number }

// The message must be the first quoted text, because klog also quotes foreign text after it, such as a probe's output.
const begun =
  /^(\S{19,30}) [^"]*"[\w ]{1,60}over the high threshold, trying to free bytes[\w ]{0,60}"[^"]{0,100} amountToFree=(\d{1,16})\b/
const removed =
  /^(\S{19,30}) [^"]*"Removing image to free bytes" imageID="([^"]{1,80})" size=(\d{1,16})\b/

/** Null: the line is another one, or has no time. */
export const imageGcLine = oncePerText((line): ImageGcLine | null => {
  const [, began, wanted] = begun.exec(line) ?? []
  const [, removal, image = '', size] = removed.exec(line) ?? []
  const at = logTime(began ?? removal)
  if (at === null) return null
  return wanted === undefined
    ? { at, image, bytes: Number(size) }
    : { at, wantedBytes: Number(wanted) }
})

/** A line of an eviction pass: the scarce resource, in one line or two, then the evicted pod as `namespace/name`. */
export type EvictionLine = { at: string } & ({ resource: string } | { pod: string })

const starved =
  /^(\S{19,30}) [^"]*"Eviction manager: (?:attempting|must evict pod\(s\)) to reclaim" resourceName="([a-z-]{1,40})"/
const evicted =
  /^(\S{19,30}) [^"]*"Eviction manager: pod is evicted successfully" pod="([^"\s]{3,330})"/

/** Null: the line is another one, or has no time. */
export const evictionLine = oncePerText((line): EvictionLine | null => {
  const [, began, resource] = starved.exec(line) ?? []
  const [, ended, pod = ''] = evicted.exec(line) ?? []
  const at = logTime(began ?? ended)
  if (at === null) return null
  return resource === undefined ? { at, pod } : { at, resource }
})

/** RFC 3339 from the time that journalctl prints; null: there is none. */
function logTime(text = '') {
  const ms = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

/**
 * Why a kubelet says that its node is not ready.
 *
 * Sources  pkg/kubelet/kubelet.go updateRuntimeUp; pkg/kubelet/runtime.go runtimeErrors, networkErrors; pkg/kubelet/nodestatus/setters.go ReadyCondition
 */
const notReadyReasons = [
  [/\bPLEG is not healthy|container runtime (?:is down|not ready|status check)/, 'runtime'],
  [/network not ready|\bcni\b/i, 'network'],
  [/node is shutting down/, 'shutdown'],
] as const

export type NotReadyKind = (typeof notReadyReasons)[number][1] | 'other'

export const notReadyKind = (message: string): NotReadyKind =>
  notReadyReasons.find(([words]) => words.test(message))?.[1] ?? 'other'
