/** The exit codes of all commands. If several codes apply, the first of 4, 2, 1, 3 is used. */
import { metNode } from '#judge/compare/delta/delta.ts'
import { type Severity, severities } from '#model/finding/finding.ts'
import type { GateDocument } from '#model/gate.ts'
import type { RemediationRun, StepState, VerificationReport } from '#model/plan/remediation.ts'
import type { AuditResult } from '#pipeline/audit/audit.ts'
import { type DiffResult, type Unread, unreadOf } from '#pipeline/audit/diff.ts'
import type { FailOn, UnreadLimit } from './options.ts'

export const exitCode = { ok: 0, findings: 1, badInput: 2, unread: 3, failed: 4 } as const

export function auditExitCode(
  { document, nodes, deliveries, ruleErrors }: AuditResult,
  { failOn, failOnUnread }: { failOn: FailOn | null; failOnUnread: UnreadLimit },
): number {
  if (deliveries.length > 0 && deliveries.every(({ error }) => error !== null))
    return exitCode.failed
  if (isSnapshotOfNothing({ document, nodes })) return exitCode.badInput
  const { findings, delta } = document
  const counted = failOn?.isNew
    ? findings.filter(({ id }) => delta.new.includes(id) || delta.regressed?.includes(id))
    : findings
  if (isAnyAtLeast(failOn, counted)) return exitCode.findings
  const hasFailures = ruleErrors.length > 0 || deliveries.some(({ error }) => error !== null)
  const unread = unreadOf({ document, nodes: nodes.map(metNode), ruleErrors })
  return hasFailures || isUnread(unread, failOnUnread) ? exitCode.unread : exitCode.ok
}

const isUnread = (unread: Unread, limit: UnreadLimit) =>
  limit !== 'none' && (unread === limit || unread === 'cluster')

/** The snapshot has no node, and no cluster that was searched for garbage. */
export const isSnapshotOfNothing = ({
  document: { run, clusters },
  nodes,
}: Pick<AuditResult, 'document' | 'nodes'>): boolean =>
  run.source === 'snapshot' &&
  nodes.length === 0 &&
  clusters.every(({ coverage }) => coverage.clusterGc === undefined)

/** Waived, fixed and unchanged findings do not fail a run. */
export function diffExitCode(
  { document, unread }: DiffResult,
  { failOn, failOnUnread }: { failOn: FailOn | null; failOnUnread: UnreadLimit },
): number {
  const { new: added, worse } = document.findings
  const found = [...added, ...worse].flatMap(({ after }) => after ?? [])
  if (isAnyAtLeast(failOn, found)) return exitCode.findings
  return isUnread(unread, failOnUnread) ? exitCode.unread : exitCode.ok
}

export function gateExitCode({ verdict }: GateDocument): number {
  if (verdict === 'ok') return exitCode.ok
  return verdict === 'unread' ? exitCode.unread : exitCode.findings
}

/** `notYet` is not a failure: a later verification may pass. */
export function verificationExitCode(
  { counts }: VerificationReport,
  inputErrors: readonly string[],
): number {
  if (counts.wrong > 0) return exitCode.findings
  return counts.notYet > 0 || inputErrors.length > 0 ? exitCode.unread : exitCode.ok
}

/** @param wanted final state of the nodes; skipped and pending nodes are not failures */
export function remediationExitCode(
  { state, endedAt, steps }: RemediationRun,
  wanted: StepState,
): number {
  const has = (...states: StepState[]) => steps.some(step => states.includes(step.state))
  const isOver = endedAt !== null
  if (wanted === 'verified' && (state === 'stopped' || has('restored', 'rolled-back', 'failed')))
    return exitCode.findings
  if (has('broken')) return exitCode.findings
  if (steps.some(({ seenBack }) => seenBack === false)) return exitCode.unread
  return !isOver || (wanted === 'verified' && has('skipped')) ? exitCode.unread : exitCode.ok
}

function isAnyAtLeast(failOn: FailOn | null, found: { severity: Severity }[]) {
  if (failOn === null) return false
  const least = severities.indexOf(failOn.severity)
  return found.some(({ severity }) => severities.indexOf(severity) <= least)
}
