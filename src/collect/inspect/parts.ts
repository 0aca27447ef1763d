/** Schemas for the parts of an inspect script's answer. Each part is kept or dropped as a whole. The size limits are the scripts' own. */
import * as z from 'zod'

interface Space {
  capacityBytes: number
  availableBytes: number
  inodes?: number | undefined
  inodesFree?: number | undefined
}

export const hostSchema = 'highwater.host/1'
export type Part = z.ZodType

const text = z.string().max(8192)
const count = z.number().int().nonnegative().safe()
/** Number of cgroups. Each one uses kilobytes of memory that cannot be swapped. */
const cgroups = count.max(100_000_000)
/** A time whose day exists in the calendar: 30 February is refused. */
const time = z.string().refine(isTime)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const fields = z.record(text, z.unknown())

const file = z.object({
  path: text,
  role: z.enum(['config', 'drop-in', 'environment', 'nodeadm', 'ignored']),
  sha256: sha256.optional(),
  content: z.union([z.string().max(300_000), fields, z.null()]),
})
export type HostFile = z.infer<typeof file>

const filesystemSpace = z
  .object({
    role: z.enum(['nodefs', 'imagefs', 'containerfs', 'logs']),
    device: text,
    mount: text,
    capacityBytes: count.positive(),
    usedBytes: count.optional(),
    availableBytes: count,
    // Both inode counts are zero if the filesystem has no inode table.
    inodes: count.optional(),
    inodesFree: count.optional(),
  })
  .refine(isAvailableWithin, { path: ['availableBytes'] })
  .refine(areFreeWithin, { path: ['inodesFree'] })

const measured = { bytes: count, inodes: count.optional() }
const disk = z.enum(['nodefs', 'imagefs'])
const uid = z.string().max(60)
const place = z.object({ path: text, bytes: count })
const diskUse = z.object({
  folders: z
    .array(
      z.object({ holder: text, path: text, on: disk.optional(), pod: uid.optional(), ...measured }),
    )
    .max(70),
  orphans: z.array(place).max(100),
  inside: z.array(place).max(20).optional(),
  snapshots: z
    .array(z.object({ use: text, count, ...measured }))
    .max(10)
    .optional(),
  layers: z
    .array(z.object({ use: text, key: text, ...measured }))
    .max(20)
    .optional(),
  deletedFiles: z
    .array(z.object({ on: disk, files: count, bytes: count }))
    .max(2)
    .optional(),
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
  devices: z
    .array(z.object({ name: text, bytes: count, model: text, isUsed: z.boolean() }))
    .max(40)
    .optional(),
  brokenLinks: count.optional(),
  missed: count,
})

const logFile = z.object({ path: text, bytes: count, modifiedAt: time })
const rotated = z.object({ files: count, bytes: count })

export const hostParts: Readonly<Record<string, Part>> = {
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
  bottlerocket: z.object({
    kubernetes: fields.optional(),
    containerRuntime: fields.optional(),
    containerRegistry: fields.optional(),
    os: z.record(text, text).optional(),
  }),
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
  cleaners: z.array(z.object({ path: text, command: text })).max(10),
  journald: z.object({ limits: z.record(text, text), diskUsage: text.optional() }),
  logs: z.object({
    files: count,
    bytes: count,
    biggest: z.array(logFile).max(10),
    rotatedByKubelet: rotated,
    rotatedByOthers: rotated.extend({ sample: z.array(logFile).max(10) }),
  }),
  kernel: z.object({
    release: text.optional(),
    cmdline: text.optional(),
    cgroupVersion: z.union([z.literal(1), z.literal(2)]).optional(),
    memoryCgroups: cgroups.optional(),
    dyingMemoryCgroups: cgroups.optional(),
  }),
  podLogDirectories: z.array(text).max(2000),
  logLines: z.array(z.string().max(1000)).max(40),
  diskUse,
  unread: z.array(z.object({ what: text, why: text })).max(1000),
}

/** The CRI prints 64-bit numbers as text. */
const number = z.union([count, z.string().regex(/^-?\d{1,20}$/)])
const metadata = z.object({
  name: text.optional(),
  uid: text.optional(),
  namespace: text.optional(),
  attempt: count.optional(),
})
const labels = z.record(text, text)
const filesystem = z.object({
  timestamp: number.optional(),
  fsId: z.object({ mountpoint: text }),
  usedBytes: z.object({ value: number }).optional(),
  inodesUsed: z.object({ value: number }).optional(),
})

export const runtimeParts: Readonly<Record<string, Part>> = {
  images: z.array(
    z.object({
      id: text,
      repoTags: z.array(text).optional(),
      repoDigests: z.array(text).optional(),
      size: number.optional(),
      pinned: z.boolean().optional(),
    }),
  ),
  containers: z.array(
    z.object({
      id: text,
      podSandboxId: text.optional(),
      metadata: metadata.optional(),
      image: z.object({ image: text.optional(), userSpecifiedImage: text.optional() }).optional(),
      imageRef: text.optional(),
      imageId: text.optional(),
      state: text.optional(),
      createdAt: number.optional(),
      labels: labels.optional(),
    }),
  ),
  sandboxes: z.array(
    z.object({
      id: text,
      metadata: metadata.optional(),
      state: text.optional(),
      createdAt: number.optional(),
      labels: labels.optional(),
      runtimeHandler: text.optional(),
    }),
  ),
  imageFs: z.object({
    imageFilesystems: z.array(filesystem).optional(),
    containerFilesystems: z.array(filesystem).optional(),
  }),
}

export function isTime(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString() === text.replace('Z', '.000Z')
}

function isAvailableWithin({ capacityBytes, availableBytes }: Space): boolean {
  return availableBytes <= capacityBytes
}

function areFreeWithin({ inodes = 0, inodesFree = 0 }: Space): boolean {
  return inodesFree <= inodes
}
