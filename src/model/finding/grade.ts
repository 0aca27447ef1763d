/** A cluster's grade: the severity of its worst open finding, and the share of nodes that the finding concerns. */
import {
  type Coverage,
  type Grade,
  type OutcomeCounts,
  type Severity,
  severities,
} from './finding.ts'

/** The grade of a cluster whose worst open finding has this severity. */
export const gradeBySeverity: Record<Severity, Grade> = {
  info: 'A',
  low: 'B',
  medium: 'C',
  high: 'D',
  critical: 'F',
}

/** A severity costs one step less (but never gives A) if all open findings of this or a worse severity concern a smaller share of the nodes. */
export const smallShare = 0.1

/** If a smaller share of outcomes is decided, only D or F is given: the undecided rest might be worse. */
const leastDecided = 1 / 3

const steps: Grade[] = ['A', 'B', 'C', 'D', 'F']

export interface OpenFinding {
  severity: Severity
  /** All nodes that the finding concerns. Empty: it concerns the cluster itself. */
  nodes: readonly string[]
}

type JudgedOutcomes = Pick<OutcomeCounts, 'pass' | 'fail' | 'unknown' | 'error'>

/**
 * Grade of a cluster. Null if nothing was read, if no rule applied, or if too few outcomes were
 * decided for a grade better than D. An incomplete list of nodes (`isListCut`) counts as undecided.
 * Waived findings are not `open` and do not count. Coverage is reported beside the grade.
 */
export function gradeOf(
  open: readonly OpenFinding[],
  coverage: Coverage,
  { pass, fail, unknown, error }: JudgedOutcomes,
  isListCut = false,
): Grade | null {
  const decided = pass + fail
  if (coverage.read + coverage.partlyRead === 0 || decided === 0) return null
  const concerned = new Set<string>()
  let isWhole = false
  let cost = 0
  // Worst first: the nodes of a finding count for every lighter severity as well.
  for (const severity of severities) {
    const found = open.filter(finding => finding.severity === severity)
    for (const { nodes } of found) {
      isWhole ||= nodes.length === 0
      for (const node of nodes) concerned.add(node)
    }
    const step = steps.indexOf(gradeBySeverity[severity])
    const isSmall = !isWhole && concerned.size < smallShare * coverage.nodes
    if (found.length > 0) cost = Math.max(cost, isSmall && step > 1 ? step - 1 : step)
  }
  const isDecided = !isListCut && decided >= leastDecided * (decided + unknown + error)
  return isDecided || cost >= steps.indexOf('D') ? (steps[cost] ?? null) : null
}
