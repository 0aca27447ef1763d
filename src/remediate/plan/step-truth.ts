/** Whether a step writes what its cohort says, and nothing that a plan never writes. Only the plan is checked here; the node checks whole files. */
import { isPlannable } from '#facts/kubelet/fields.ts'
import {
  type PlanCohort,
  type PlanMethod,
  type PlanStep,
  restartsKubelet,
} from '#model/plan/plan.ts'
import { parseLogrotate } from '#remediate/remedies/logrotate-text.ts'
import { sourceIn } from '#remediate/remedies/pull-image.ts'
import { canonicalJson } from './canonical.ts'
import { pruningFields } from './prune.ts'
import { type ContentReader, unwritten, type Written } from './written-fields.ts'

type PlannedCohort = Pick<PlanCohort, 'cluster' | 'fields' | 'file' | 'image'>

/**
 * The reason, for people; null: the step is true.
 * @param cohort undefined: the plan has no cohort of that id
 * @param writtenBy reads the contents of the plan
 */
export function whyUntrue(
  step: PlanStep,
  cohort: PlannedCohort | undefined,
  writtenBy: ContentReader,
): string | null {
  if (cohort === undefined) return `its cohort ${step.cohort} is none of the plan's`
  if (cohort.cluster !== step.cluster)
    return `its cohort ${step.cohort} is of cluster ${cohort.cluster}`
  const { fields, file, image } = cohort
  if (
    (file !== undefined || image !== undefined) &&
    (Object.keys(fields).length > 0 || step.until !== undefined)
  )
    return `its cohort ${step.cohort} names more than one thing to change`
  if (!isWayOf(step.method, cohort))
    return `its cohort ${step.cohort} is not changed by ${step.method}`
  if (file !== undefined) return whyOtherFile(step, file)
  if (image !== undefined)
    return step.path === image.name && sourceIn(step.content, step.path) === image.source
      ? null
      : 'it pulls another image than its cohort'
  return whyOtherFields(step, fields, writtenBy(step))
}

function isWayOf(method: PlanMethod, { file, image }: PlannedCohort) {
  if (file !== undefined && image !== undefined) return false
  if (file !== undefined) return method === 'sync-file'
  return image !== undefined ? method === 'pull-image' : restartsKubelet(method)
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
    step.until !== undefined &&
    canonicalJson(fields) !== canonicalJson(pruningFields(step.until.usedPercentAtMost))
  )
    return `its cohort does not lower the thresholds of image GC to the ${step.until.usedPercentAtMost} % that it waits for`
  if (written === null) return `what it would write to ${step.path} cannot be read`
  const missing = unwritten(fields, written)
  if (missing !== null)
    return `what it would write to ${step.path} does not say ${missing} as its cohort does`
  // highwater's own file may hold fields of earlier plans, but none that a plan never writes.
  const foreign = written.isWhole
    ? undefined
    : Object.keys(written.fields).find(field => !isPlannable(field))
  if (foreign !== undefined)
    return `what it would write to ${step.path} says ${foreign.slice(0, 60)}, which no plan changes`
  const promised = step.expect.find(({ field }) => !isOf(field, names))
  return promised === undefined
    ? null
    : `it promises ${promised.field}, of which its cohort says nothing`
}

/** `mergeDefaultEvictionSettings` adds defaults to evictionHard, so it covers that field, too. */
function isOf(path: string, names: readonly string[]) {
  const [field = path] = path.split('.')
  return (
    names.includes(field) ||
    (field === 'evictionHard' && names.includes('mergeDefaultEvictionSettings'))
  )
}
