/** An object that a plan may delete, parsed once: a field has its type, or is absent. */
import * as z from 'zod'
import type { RawObject } from '#model/record.ts'

const text = z.string().optional().catch(undefined)

/** A part that is absent or of another type reads as the empty part. */
const part = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const object = z.object(shape)
  return object.catch(() => object.parse({}))
}

/** A list; items that are not objects are dropped. */
const list = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .array(z.object(shape).nullable().catch(null))
    .catch([])
    .transform(items => items.filter(item => item !== null))

const containerStatuses = list({ state: part({ terminated: part({ finishedAt: text }) }) })

const schema = z.object({
  metadata: part({
    name: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    creationTimestamp: text,
    /** Any value means that deletion is pending. */
    deletionTimestamp: z.unknown().optional(),
    finalizers: z.array(z.unknown()).catch([]),
    ownerReferences: list({ kind: text }),
  }),
  spec: part({
    renewTime: text,
    ttlSecondsAfterFinished: z.number().optional().catch(undefined),
    persistentVolumeReclaimPolicy: text,
    csi: part({ volumeHandle: text }),
  }),
  status: part({
    phase: text,
    reason: text,
    startTime: text,
    lastPhaseTransitionTime: text,
    conditions: list({ type: text, status: text, lastTransitionTime: text }),
    containerStatuses,
    initContainerStatuses: containerStatuses,
    ephemeralContainerStatuses: containerStatuses,
  }),
})

export type DeletableObject = z.infer<typeof schema>

export const deletableObject = (object: RawObject): DeletableObject => schema.parse(object)

export const isTime = (value: string | undefined): value is string =>
  value !== undefined && value.length < 40 && !Number.isNaN(Date.parse(value))
