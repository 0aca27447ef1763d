/**
 * What the inspect scripts print of a node: its machine and its container runtime. The schemas check an answer: each part is kept or dropped
 * as a whole, and the size limits are the scripts' own. A snapshot is cut to the same fields, and all other code has their types.
 */

import * as z from 'zod'
import type { RawObject } from '#base/raw-object.ts'
import { list, type Shape } from './shape.ts'

interface Space {
  capacityBytes: number
  availableBytes: number
  inodes?: number | undefined
  inodesFree?: number | undefined
}
export type Item<Items extends readonly unknown[] | undefined> = NonNullable<Items>[number]

const text = z.string().max(8192)
const count = z.number().int().nonnegative().safe()
/** Number of cgroups. Each one uses kilobytes of memory that cannot be swapped. */
const cgroups = count.max(100_000_000)
/** A time whose day exists in the calendar: 30 February is refused. */
const time = z.string().refine(isTime)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Fields that keep any value. A node has few of them. */
const anyFields = (names: string) =>
  z.object(Object.fromEntries(names.split(/\s+/).map(name => [name, z.unknown().optional()])))

const file = z.object({
  path: text,
  role: z.enum(['config', 'drop-in', 'environment', 'nodeadm', 'ignored']),
  /** In hex. */
  sha256: sha256.optional(),
  /** Fields of a configuration; lines or variables of an environment file; null: not read. */
  content: z.union([z.string().max(300_000), z.record(text, z.unknown()), z.null()]),
})
/** A file of an answer that was not yet cut. */
export type AnsweredFile = z.infer<typeof file>

const filesystemSpace = z
  .object({
    role: z.enum(['nodefs', 'imagefs', 'containerfs', 'logs']),
    device: text,
    mount: text,
    capacityBytes: count.positive(),
    /** Without the blocks that are reserved for root. */
    usedBytes: count.optional(),
    /** A snapshot may have less than 0: root has used its reserved blocks. */
    availableBytes: count,
    /** Both inode counts are zero if the filesystem has no inode table. */
    inodes: count.optional(),
    inodesFree: count.optional(),
  })
  .refine(isAvailableWithin, { path: ['availableBytes'] })
  .refine(areFreeWithin, { path: ['inodesFree'] })

const disk = z.enum(['nodefs', 'imagefs'])
const uid = z.string().max(60)
const place = z.object({ path: text, bytes: count })
/** Disk space as `du`, `ctr` and /proc show it. */
const diskUse = z.object({
  /** `on` absent: neither. The size of a folder includes its subfolders. `pod`: UID of the pod that mounts the folder. */
  folders: z
    .array(
      z.object({
        holder: text,
        path: text,
        on: disk.optional(),
        bytes: count,
        inodes: count.optional(),
        pod: uid.optional(),
      }),
    )
    .max(70),
  /** The largest log folders of containers, and the largest volumes' folders, of pods. */
  inside: z.array(place).max(20).optional(),
  /** The largest writable layers, `running` or `dead`. `key`: id of the container. */
  layers: z
    .array(z.object({ use: text, key: text, bytes: count, inodes: count.optional() }))
    .max(20)
    .optional(),
  /** The processes that hold most of the deleted files. `pod`: UID in the process's cgroup. */
  processes: z
    .array(
      z.object({
        on: disk,
        pid: count,
        command: text,
        pod: uid.optional(),
        files: count,
        bytes: count,
      }),
    )
    .max(10)
    .optional(),
  /** Block devices. `isUsed`: mounted, swap, or part of another device. */
  devices: z
    .array(z.object({ name: text, bytes: count, model: text, isUsed: z.boolean() }))
    .max(40)
    .optional(),
  /** Snapshots of containerd by use (`SnapshotUse`). */
  snapshots: z
    .array(z.object({ use: text, count, bytes: count, inodes: count.optional() }))
    .max(10)
    .optional(),
  /**
   * Namespaces of containerd beside the kubelet's `k8s.io`. `bytes`, `inodes`: of snapshots. `content`: bytes of packed content that
   * no namespace before has.
   */
  namespaces: z
    .array(z.object({ name: text, bytes: count, inodes: count, content: count }))
    .max(8)
    .optional(),
  /** Folders of pods and of pod logs whose pod has no sandbox. */
  orphans: z.array(place).max(100),
  /** Files that are deleted and still open. */
  deletedFiles: z
    .array(z.object({ on: disk, files: count, bytes: count }))
    .max(2)
    .optional(),
  /** Number of broken links, older than 10 minutes, in the folders of container logs. */
  brokenLinks: count.optional(),
  /** Number of the fixed measurements that failed. */
  missed: count,
})

const logFile = z.object({ path: text, bytes: count, modifiedAt: time })

/** The parts of the node's report on its machine. */
export const hostParts = {
  kubelet: z.object({
    startedAt: time.optional(),
    commandLine: z.array(text).max(300).optional(),
    files: z.array(file).max(200),
  }),
  filesystems: z
    .array(filesystemSpace)
    .max(10)
    .refine(list => new Set(list.map(({ role }) => role)).size === list.length),
  containerd: z.object({
    sandboxImage: text.optional(),
    snapshotter: text.optional(),
    discardUnpackedLayers: z.boolean().optional(),
    mirrors: z
      .array(z.object({ registry: text, server: text.optional(), hosts: z.array(text).max(100) }))
      .max(500)
      .optional(),
  }),
  /** Declared settings of a Bottlerocket node, whose files cannot be read. Other keys include keys, certificates and tokens. */
  bottlerocket: z.object({
    kubernetes:
      anyFields(`allowed-unsafe-sysctls cloud-provider cluster-dns-ip cluster-domain cluster-name container-log-max-files
        container-log-max-size container-log-max-workers container-log-monitor-interval cpu-cfs-quota-enforced cpu-manager-policy
        cpu-manager-reconcile-period event-burst event-qps eviction-hard eviction-max-pod-grace-period eviction-soft
        eviction-soft-grace-period hostname-override ids-per-pod image-gc-high-threshold-percent image-gc-low-threshold-percent
        image-maximum-gc-age image-minimum-gc-age kube-api-burst kube-api-qps kube-reserved log-level max-parallel-image-pulls max-pods
        memory-manager-policy memory-manager-reserved-memory node-ip pod-pids-limit registry-burst registry-qps reserved-cpus
        seccomp-default server-tls-bootstrap shutdown-grace-period shutdown-grace-period-for-critical-pods single-process-oom-kill
        standalone-mode system-reserved topology-manager-policy topology-manager-scope`).optional(),
    containerRegistry: anyFields('mirrors').optional(),
    os: z.record(text, text).optional(),
  }),
  /** One entry per block of a file, and one for the directives outside blocks. `modifiedAt` null: unknown. */
  logrotate: z
    .array(
      z.object({
        path: text,
        sha256: sha256.optional(),
        modifiedAt: time.nullable().optional(),
        directives: z.record(
          text,
          z.union([text, z.number(), z.boolean(), z.array(text).max(1000)]),
        ),
      }),
    )
    .max(1000),
  /** What starts logrotate. `by` null: no active timer and no cron job. `unsure` null: nothing else starts logrotate. */
  logrotateRuns: z.object({
    by: z.enum(['timer', 'cron']).nullable(),
    schedule: text.optional(),
    last: text.optional(),
    also: z
      .array(z.object({ by: z.enum(['timer', 'cron']), schedule: text.optional() }))
      .max(20)
      .optional(),
    unsure: text.nullable().optional(),
  }),
  /** Commands of root's crontabs, of scripts that cron starts and of local units that may delete images. Empty: none. */
  cleaners: z.array(z.object({ path: text, command: text })).max(10),
  /** Files of container logs. `rotatedByOthers`: rotated files with names that the kubelet does not use. */
  logs: z.object({
    files: count,
    bytes: count,
    biggest: z.array(logFile).max(10),
    rotatedByOthers: z.object({ files: count, bytes: count, sample: z.array(logFile).max(10) }),
  }),
  kernel: z.object({
    release: text.optional(),
    cmdline: text.optional(),
    cgroupVersion: z.union([z.literal(1), z.literal(2)]).optional(),
    memoryCgroups: cgroups.optional(),
    dyingMemoryCgroups: cgroups.optional(),
  }),
  /** Names of the folders in the kubelet's `podLogsDir`. */
  podLogDirectories: z.array(text).max(2000),
  logLines: z.array(z.string().max(1000)).max(40),
  diskUse,
  unread: z.array(z.object({ what: text, why: text })).max(1000),
}

const host = z.object({ schema: text, ...hostParts })
export const hostShape = schemaShape(host)
/** The node's own report on its machine, without secrets. */
export type Host = Cut<z.infer<typeof host>>
export type HostFile = Item<NonNullable<Host['kubelet']>['files']>
export type HostLogrotate = Item<Host['logrotate']>
export type HostLog = Cut<z.infer<typeof logFile>>
export type HostDiskUse = NonNullable<Host['diskUse']>
export type MeasuredFolder = Item<HostDiskUse['folders']>

/** An int64 of the CRI: text, or a number if a tool parsed the text. */
const amount = z.union([count, z.string().regex(/^-?\d{1,20}$/)])
const metadata = z
  .object({ name: text, attempt: count, uid: text, namespace: text })
  .partial()
  .optional()
const labels = z.record(text, text).optional()
const filesystem = z.object({
  timestamp: amount.optional(),
  fsId: z.object({ mountpoint: text }),
  usedBytes: z.object({ value: amount }).optional(),
  inodesUsed: z.object({ value: amount }).optional(),
})

/** Images, containers and sandboxes as `crictl` prints them. */
export const runtimeParts = {
  images: z.array(
    z.object({
      id: text,
      repoTags: z.array(text).optional(),
      repoDigests: z.array(text).optional(),
      size: amount.optional(),
      pinned: z.boolean().optional(),
    }),
  ),
  containers: z.array(
    z.object({
      id: text,
      podSandboxId: text.optional(),
      metadata,
      image: z.object({ image: text }).partial().optional(),
      imageRef: text.optional(),
      imageId: text.optional(),
      state: text.optional(),
      createdAt: amount.optional(),
      labels,
    }),
  ),
  sandboxes: z.array(
    z.object({ id: text, metadata, state: text.optional(), createdAt: amount.optional(), labels }),
  ),
  imageFs: z.object({
    imageFilesystems: z.array(filesystem).optional(),
    containerFilesystems: z.array(filesystem).optional(),
  }),
}

const runtime = z.object(runtimeParts)
export const runtimeShape = schemaShape(runtime)
export type Runtime = Cut<z.infer<typeof runtime>>
export type RuntimeImage = Item<Runtime['images']>

/** By tag and by digest. */
export const runtimeNames = ({ repoTags = [], repoDigests = [] }: RuntimeImage): string[] => [
  ...repoTags,
  ...repoDigests,
]
export type RuntimeContainer = Item<Runtime['containers']>
export type RuntimeSandbox = Item<Runtime['sandboxes']>

export function isTime(text: string) {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString() === text.replace('Z', '.000Z')
}

function isAvailableWithin({ capacityBytes, availableBytes }: Space) {
  return availableBytes <= capacityBytes
}

function areFreeWithin({ inodes = 0, inodesFree = 0 }: Space) {
  return inodesFree <= inodes
}

/* The shape that keeps the fields of a schema, so that what is checked and what is kept are written once. */

/** What a value of type T is after the cut: any field may be absent, and a text is any text. */
type Cut<T> = unknown extends T
  ? unknown
  : T extends string
    ? string
    : T extends number
      ? number
      : T extends boolean
        ? boolean
        : T extends null | undefined
          ? T
          : T extends readonly (infer Item)[]
            ? Cut<Item>[]
            : string extends keyof T
              ? CutMap<T[keyof T]>
              : { -readonly [Field in keyof T]?: Cut<T[Field]> }

type CutMap<Value> = [Value] extends [string] ? Record<string, string> : RawObject

/** Ranges, patterns and lengths are not part of a shape. */
function schemaShape(schema: z.core.$ZodType): Shape {
  if (schema instanceof z.ZodOptional) return schemaShape(schema.unwrap())
  if (schema instanceof z.ZodNullable)
    return schemaShape(schema.unwrap()) === 'text' ? 'text?' : true
  if (schema instanceof z.ZodArray) return list(schemaShape(schema.element))
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape).map(([field, inner]) => [field, schemaShape(inner)]),
    )
  if (schema instanceof z.ZodRecord)
    return schema.valueType instanceof z.ZodString ? 'texts' : 'map'
  if (schema instanceof z.ZodUnion) return unionOf(schema.options.map(schemaShape))
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return 'text'
  if (schema instanceof z.ZodNumber || schema instanceof z.ZodLiteral) return 'number'
  return schema instanceof z.ZodBoolean ? 'boolean' : true
}

function unionOf(shapes: readonly Shape[]): Shape {
  const kinds = new Set(shapes)
  if (kinds.size === 1) return shapes[0] ?? true
  return kinds.size === 2 && kinds.has('number') && kinds.has('text') ? 'amount' : true
}
