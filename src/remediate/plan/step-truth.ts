/** Whether a step writes what its cohort says, and nothing that a plan never writes. Only the plan is checked here; the node checks whole files. */

import { ForeignTextError, parseYaml, TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import {
  isRawObject,
  leavesOf,
  mapOf,
  parsedJson,
  type RawObject,
  valueAt,
  withoutKeys,
} from '#base/raw-object.ts'
import { fieldOfSetting } from '#facts/eks/ami-defaults.ts'
import { isPlannable } from '#facts/kubelet/fields.ts'
import {
  methodFacts,
  type Plan,
  type PlanCohort,
  type PlanMethod,
  type PlanStep,
} from '#model/plan.ts'
import { parseLogrotate } from '#remediate/remedies/logrotate-text.ts'
import { sourceIn } from '#remediate/remedies/pull-image.ts'
import { canonicalJson } from './canonical.ts'

/** Maximum time for which a plan keeps lowered thresholds in force. */
export const longestPruneMs = 60 * 60_000

/** The high threshold is one percent higher, so rounds repeat until the disk itself, not image GC's sum of image sizes, is down to `toPercent`. */
export const pruningFields = (toPercent: number): RawObject => ({
  imageGCHighThresholdPercent: toPercent + 1,
  imageGCLowThresholdPercent: toPercent,
})

type PlannedCohort = Pick<PlanCohort, 'cluster' | 'fields' | 'file' | 'image'>

/**
 * The reason, for people; null: the step is true.
 * @param cohort undefined: the plan has no cohort of that id
 * @param writtenBy reads the contents of the plan
 */
function whyUntrue(step: PlanStep, cohort: PlannedCohort | undefined, writtenBy: ContentReader) {
  if (!cohort) return `its cohort ${step.cohort} is none of the plan's`
  if (cohort.cluster !== step.cluster)
    return `its cohort ${step.cohort} is of cluster ${cohort.cluster}`
  const { fields, file, image } = cohort
  if ((file || image) && (Object.keys(fields).length > 0 || step.until))
    return `its cohort ${step.cohort} names more than one thing to change`
  const { changes } = methodFacts[step.method]
  if ((changes === 'logrotate') !== Boolean(file) || (changes === 'image') !== Boolean(image))
    return `its cohort ${step.cohort} is not changed by ${step.method}`
  if (file) return whyOtherFile(step, file)
  if (image)
    return step.path === image.name && sourceIn(step.content, step.path) === image.source
      ? null
      : 'it pulls another image than its cohort'
  return whyOtherFields(step, fields, writtenBy(step))
}

/** The steps that differ from their cohort, each with the reason, for people. */
export function untrueSteps(
  { steps, cohorts }: Pick<Plan, 'steps' | 'cohorts'>,
  writtenBy: ContentReader = contentReader(),
) {
  const byId = new Map(cohorts.map(cohort => [cohort.id, cohort]))
  return steps.flatMap(step => {
    const why = whyUntrue(step, byId.get(step.cohort), writtenBy)
    return why === null ? [] : [`${step.cluster}/${step.node}: ${why}`]
  })
}

function whyOtherFile(
  { path, newSha256, content }: PlanStep,
  file: NonNullable<PlannedCohort['file']>,
) {
  if (path !== file.path || newSha256 !== file.sha256)
    return 'it writes another file than its cohort'
  const blocks = parseLogrotate(content)
  return typeof blocks === 'string'
    ? `what it writes to ${path} is nothing that a plan writes: ${blocks}`
    : null
}

function whyOtherFields(step: PlanStep, fields: PlanCohort['fields'], written: Written | null) {
  const names = Object.keys(fields)
  const other = names.find(field => !isPlannable(field))
  if (names.length === 0 || other !== undefined)
    return `its cohort names ${other ?? 'no field'}, which no plan changes`
  if (
    step.until &&
    canonicalJson(fields) !== canonicalJson(pruningFields(step.until.usedPercentAtMost))
  )
    return `its cohort does not lower the thresholds of image GC to the ${step.until.usedPercentAtMost} % that it waits for`
  if (!written) return `what it would write to ${step.path} cannot be read`
  const missing = unwrittenField(fields, written)
  if (missing !== null)
    return `what it would write to ${step.path} does not say ${missing} as its cohort does`
  // highwater's own file may hold fields of earlier plans, but none that a plan never writes.
  const foreign = written.isWhole
    ? undefined
    : Object.keys(written.fields).find(field => !isPlannable(field))
  if (foreign !== undefined)
    return `what it would write to ${step.path} says ${foreign.slice(0, 60)}, which no plan changes`
  const promised = step.expect.find(({ field }) => !isFieldAmong(field, names))
  return promised ? `it promises ${promised.field}, of which its cohort says nothing` : null
}

/** `mergeDefaultEvictionSettings` adds defaults to evictionHard, so it covers that field, too. */
function isFieldAmong(path: string, names: readonly string[]) {
  const [field = path] = path.split('.')
  return (
    names.includes(field) ||
    (field === 'evictionHard' && names.includes('mergeDefaultEvictionSettings'))
  )
}

/* What a step would really write, read from its content and not from its cohort or its promise. */

interface Written {
  /** Fields of the kubelet's configuration; other parts of the content under their own names. */
  fields: RawObject
  /** The content is the node's whole file. If the plan is true, fields outside the cohort were there before. */
  isWhole: boolean
}

/** Returns null if the content cannot be read, or its method writes no kubelet field. */
export type ContentReader = (step: Pick<PlanStep, 'method' | 'content'>) => Written | null

/** Reads the contents of one plan: equal contents once, and all of them within one budget. */
export function contentReader(): ContentReader {
  const budget = new TextBudget(textLimits.plan)
  const read = new Map<string, Written | null>()
  return ({ method, content }) => {
    const key = `${method} ${content}`
    const known = read.get(key)
    if (known !== undefined) return known
    const written = writtenBy(method, parsedContent(method, content, budget))
    read.set(key, written)
    return written
  }
}

function writtenBy(method: PlanMethod, written: RawObject | null): Written | null {
  if (!written) return null
  switch (method) {
    case 'kubelet-file':
    case 'drop-in':
      return {
        fields: withoutKeys(written, ['apiVersion', 'kind']),
        isWhole: method === 'kubelet-file',
      }
    case 'nodeadm':
      return { fields: nodeConfigFields(written), isWhole: false }
    case 'bottlerocket':
      return {
        fields: {
          ...bottlerocketFields(written.back),
          ...bottlerocketFields(written.set),
          ...withoutKeys(written, ['back', 'set']),
        },
        isWhole: false,
      }
    case 'sync-file':
    case 'pull-image':
      return null
  }
}

/** The first of the cohort's fields that the content does not set to its value; null: none. */
const unwrittenField = (fields: RawObject, { fields: written }: Written) =>
  // Some settings of Bottlerocket are numbers as text.
  leavesOf(fields).find(
    ([path, value]) => String(valueAt(written, path) ?? null) !== String(value),
  )?.[0] ?? null

/** Keys outside the kubelet's configuration count as fields, too, so no list of named fields covers them. */
function nodeConfigFields(content: RawObject): RawObject {
  const spec = mapOf(content.spec)
  const kubelet = mapOf(spec.kubelet)
  const config = mapOf(kubelet.config)
  return {
    ...config,
    ...withoutKeys(kubelet, ['config']),
    ...withoutKeys(spec, ['kubelet']),
    ...withoutKeys(content, ['apiVersion', 'kind', 'spec']),
  }
}

const bottlerocketFields = (settings: unknown): RawObject =>
  Object.fromEntries(
    Object.entries(mapOf(settings)).map(([setting, value]) => [
      fieldOfSetting(setting)[0] ?? setting,
      value,
    ]),
  )

/** A plan writes JSON, but for nodeadm. */
function parsedContent(method: PlanMethod, content: string, budget: TextBudget) {
  try {
    const found = method === 'nodeadm' ? parseYaml(content, budget) : parsedJson(content)
    return isRawObject(found) ? found : null
  } catch (error) {
    if (error instanceof ForeignTextError) return null
    throw error
  }
}
