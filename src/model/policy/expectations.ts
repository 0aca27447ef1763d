/** Keys with the expectations of nodes and clusters: `alertPercent` to `clusterGarbage`. */

import { hash } from 'node:crypto'
import * as z from 'zod'
import { garbageKinds } from '#model/cluster-garbage.ts'
import { isImageRepository, isImageSource } from '#model/input/image-reference.ts'
import { amiFamilies } from '#model/input/record.ts'
import { clusterName, defaults, percent, withDefaults } from './defaults.ts'

const limits = {
  alertPercent: z
    .union(
      [percent, z.strictObject({ warning: percent, critical: percent })],
      'a percentage from 1 to 100, or { warning: 80, critical: 90 }',
    )
    .describe('disk usage at which the team’s own alert fires, or its two levels'),
  assumedGrowthPercent: percent.describe(
    'growth within one image GC period, in percent of the capacity, if no rate was observed',
  ),
  secondReadings: z
    .int()
    .min(0)
    .max(100)
    .describe(
      'number of nodes per cluster, by least headroom, that are read again after a minute for a first rate of growth; 0: none',
    ),
  strandedPercent: percent.describe(
    'disk that thresholds keep free counts as stranded at this percentage or above',
  ),
  strandedGiB: z.number().min(0).describe('and at this size or above'),
  volumeUsdPerGiBMonth: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .describe(
      'what a GiB of a node volume costs in a month, in US dollars; null: list price of gp3 (docs/cost.md)',
    ),
  idleImageDays: z
    .int()
    .min(1)
    .max(365)
    .describe('days without a container after which an image counts as idle'),
  deadContainers: z
    .int()
    .min(1)
    .describe('number of dead containers on one node that is a finding'),
  logRetentionMinutes: z
    .number()
    .min(1)
    .describe('container logs that are deleted sooner are a finding'),
}

/** Each is compared with images, pods or files of each node. */
const mostPatterns = 200
const pattern = z.string().min(1).max(512)
const patterns = z.array(pattern).max(mostPatterns)
const hasFewKeys = (map: object) => Object.keys(map).length <= mostPatterns
const fewKeys = `at most ${mostPatterns} names`

const podsAndImages = {
  criticalPods: patterns.describe(
    'namespace/name of pods that must not be evicted; * matches any characters',
  ),
  requiredImages: patterns.describe(
    'images that must never be missing on a node, in addition to those of kube-system and DaemonSets; * as above',
  ),
  requiredImageSources: z
    .record(
      pattern,
      z
        .string()
        .refine(
          source => isImageSource(source) || isImageRepository(source),
          'a whole reference, host/repository:tag or host/repository@sha256:…, or host/repository',
        ),
    )
    .refine(hasFewKeys, fewKeys)
    .superRefine((sources, context) => {
      for (const [pattern, source] of Object.entries(sources))
        if (pattern.includes('*') && !isImageRepository(source))
          context.addIssue({
            code: 'custom',
            path: [pattern],
            message: 'a name with * takes host/repository without a tag: it keeps its own',
          })
    })
    .describe(
      'source from which a plan pulls a required image, by the name that pods use (* as above): a whole reference, or a repository, which gets the tag of the name',
    ),
  reachableRegistries: patterns
    .nullable()
    .describe('registry hosts that nodes can pull from, * as above; default: all'),
}

const logRotation = z
  .record(
    z.string().regex(/^\/./, 'the path of a file of logrotate'),
    z
      .strictObject({
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/, 'a SHA-256 in lower-case hexadecimal')
          .nullable()
          .default(null)
          .describe('SHA-256 of the expected file, byte by byte'),
        content: z
          .string()
          .max(50_000)
          .nullable()
          .default(null)
          .describe('the whole expected file; a plan writes it if the file on the node differs'),
        directives: z
          .record(
            z.string().regex(/^[a-z]+$/, 'a directive of logrotate'),
            z.union([z.string(), z.number(), z.boolean()]),
          )
          .default({})
          .describe(
            'directives in force in each block of the file: rotate: 5, size: 100M, copytruncate: true; false: not set',
          ),
      })
      .refine(
        ({ sha256, content }) =>
          sha256 === null || content === null || sha256 === hash('sha256', content),
        { path: ['sha256'], message: 'the content has another SHA-256' },
      ),
  )
  .refine(hasFewKeys, fewKeys)
  .describe(
    'logrotate files that every node must have, and their contents; for other files the majority of a group is the norm',
  )

const clusterGarbage = z
  .strictObject(
    withDefaults(defaults.clusterGarbage, {
      enabled: z.boolean(),
      kinds: z
        .array(z.enum(garbageKinds))
        .describe(
          'kinds that are searched; each kind needs the lists that docs/permissions.md names',
        ),
      minAgeHours: z
        .number()
        .min(0)
        .describe(
          'objects that finished, were deleted or were last renewed within this time are not garbage',
        ),
    }),
  )
  .describe('which objects of a cluster are checked for uncollected garbage')

type ValueMistakes = (field: string, value: unknown) => Iterable<{ path: string[]; wanted: string }>

const baselineSchema = (valueMistakes: ValueMistakes) =>
  z
    .array(
      z.strictObject({
        match: z
          .strictObject({
            cluster: clusterName.optional(),
            group: z.string().optional().describe('name of the nodegroup or nodepool'),
            amiFamily: z.enum(amiFamilies).optional(),
            instanceType: z.string().optional(),
          })
          .default({}),
        configuration: z
          .record(z.string(), z.unknown())
          .superRefine((fields, context) => {
            for (const [field, value] of Object.entries(fields)) {
              for (const { path, wanted } of valueMistakes(field, value))
                context.addIssue({ code: 'custom', path, message: `expected ${wanted}` })
            }
          })
          .describe(
            'expected KubeletConfiguration fields; of maps only the keys that matter; null: the default of the image, else of the kubelet; null in a map: no such key',
          ),
      }),
    )
    .max(1_000)
    .describe(
      'expected configuration of nodes; if several entries match, the fields of the last one win',
    )

/** @param valueMistakes mistakes in the value of a KubeletConfiguration field, by their path within the value */
export const expectationKeys = (valueMistakes: ValueMistakes) => ({
  ...limits,
  ...podsAndImages,
  logRotation,
  baseline: baselineSchema(valueMistakes),
  clusterGarbage,
})
