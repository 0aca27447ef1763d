/** A cluster's grade: how bad its worst open finding is, and how much of the cluster it concerns. */
import type { Coverage, Finding, Grade, OutcomeCounts, Severity } from '#model/finding.ts'

/** The grade of a cluster whose worst open finding has this severity. */
export const gradeBySeverity: Record<Severity, Grade> = { info: 'A', low: 'B', medium: 'C', high: 'D', critical: 'F' }

/** A finding on less than this share of a cluster's nodes costs one step less, but is never an A. */
export const smallShare = 0.1

const steps: Grade[] = ['A', 'B', 'C', 'D', 'F']

/** Null where nothing was read, or no rule applied to what was. Waived findings are not `open` and do not count; coverage stands beside the grade, not in it. */
export function gradeOf(
  open: Pick<Finding, 'severity' | 'nodes'>[],
  coverage: Coverage,
  outcomes: Pick<OutcomeCounts, 'pass' | 'fail'>,
): Grade | null {
  if (coverage.read + coverage.partlyRead === 0 || outcomes.pass + outcomes.fail === 0) return null
  const costs = open.map(({ severity, nodes }) => {
    const step = steps.indexOf(gradeBySeverity[severity])
    const isSmall = nodes.count > 0 && nodes.count < smallShare * coverage.nodes
    return isSmall && step > 1 ? step - 1 : step
  })
  return steps[Math.max(0, ...costs)] ?? null
}
