/** The parts of an inspect script's answer, each of which is kept or dropped as a whole. Sizes are those that the scripts keep to. */
import * as z from 'zod'

export const hostSchema = 'highwater.host/1'
export type Part = z.ZodType

const text = z.string().max(8192)
const count = z.number().int().nonnegative().safe()
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const fields = z.record(text, z.unknown())

const file = z.object({
  path: text,
  role: z.enum(['config', 'drop-in', 'environment', 'nodeadm', 'ignored']),
  sha256: sha256.optional(),
  content: z.union([z.string().max(300_000), fields, z.null()]),
})
export type HostFile = z.infer<typeof file>

const logFile = z.object({ path: text, bytes: count, modifiedAt: time })
const rotated = z.object({ files: count, bytes: count })

export const hostParts: Readonly<Record<string, Part>> = {
  kubelet: z.object({ startedAt: time.optional(), commandLine: z.array(text).max(300).optional(), files: z.array(file).max(200) }),
  filesystems: z
    .array(
      z.object({
        role: z.enum(['nodefs', 'imagefs', 'containerfs', 'logs']),
        device: text,
        mount: text,
        capacityBytes: count,
        availableBytes: z.number().int().safe(),
        inodes: count.optional(),
        inodesFree: count.optional(),
      }),
    )
    .max(10),
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
        directives: z.record(text, z.union([text, z.number(), z.boolean(), z.array(text).max(1000)])),
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
  }),
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
    memoryCgroups: count.optional(),
    dyingMemoryCgroups: count.optional(),
  }),
  podLogDirectories: z.array(text).max(2000),
  logLines: z.array(z.string().max(1000)).max(40),
  unread: z.array(z.object({ what: text, why: text })).max(1000),
}

/** The CRI writes 64-bit numbers as text. */
const number = z.union([count, z.string().regex(/^-?\d{1,20}$/)])
const metadata = z.object({ name: text.optional(), uid: text.optional(), namespace: text.optional(), attempt: count.optional() })
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
  imageFs: z.object({ imageFilesystems: z.array(filesystem).optional(), containerFilesystems: z.array(filesystem).optional() }),
}
