/** An audit of a lab, as the command line makes it: through the real SDKs, sockets and TLS. */

import { onTestFinished } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { type Lab, type LabOptions, startLab } from '#lab/lab.ts'
import type { Scenario } from '#lab/scenarios/scenario.ts'
import type { FindingsDocument } from '#model/finding.ts'
import {
  everything,
  type MalformedLine,
  type Selection,
  type SnapshotRecord,
} from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { deployedDocuments } from '#pipeline/access/member-template.ts'
import { type AuditResult, audit } from '#pipeline/audit/audit.ts'
import { liveFleet } from '#pipeline/audit/fleet.ts'
import type { History } from '#pipeline/history/history.ts'
import { formats } from '#report/formats/index.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { withEnvironment } from './undo.ts'

/** A lab for one test, with this process's AWS settings leading into it. */
export async function labOf(
  scenarios: readonly Scenario[],
  options: LabOptions = {},
): Promise<Lab> {
  const lab = await startLab(scenarios, { documents: deployedDocuments(), ...options })
  onTestFinished(() => lab.close())
  withEnvironment(lab.environment)
  return lab
}

export interface LiveAuditOptions {
  policy?: Partial<Policy>
  selection?: Partial<Selection>
  signal?: AbortSignal
  /** Where to keep the records. */
  snapshotPath?: string
}

/** The lab shares this machine with the tests, and has no other callers to be polite to. */
const pace = { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 500 }

export function auditLive(options: LiveAuditOptions = {}): Promise<AuditResult> {
  return auditRecords(liveRecords(options), options)
}

export const liveRecords = ({ policy, selection, signal }: LiveAuditOptions) =>
  liveFleet({
    policy: { ...defaultPolicy, pace, ...policy },
    selection: { ...everything, ...selection },
    signal: signal ?? new AbortController().signal,
  })

export function auditRecords(
  source: AsyncIterable<SnapshotRecord | MalformedLine>,
  {
    policy,
    snapshotPath,
    history = null,
  }: Pick<LiveAuditOptions, 'policy' | 'snapshotPath'> & { history?: History | null } = {},
): Promise<AuditResult> {
  return audit(source, {
    source: 'live',
    version: '0.0.0',
    policy: { ...defaultPolicy, ...policy },
    rules,
    formats,
    channels: [],
    audiences: [],
    history,
    snapshot: snapshotPath === undefined ? null : openSnapshot(snapshotPath),
    options: { allNodes: true },
  })
}

/** The nodes with their details in place, to compare them. */
export const nodesWithDetails = ({ nodes }: AuditResult) =>
  nodes.map(node => ({ ...node, details: node.details() }))

/** Rule ids by `cluster/node`, sorted: every node that a finding names. */
export function firedRules({ findings }: FindingsDocument): Record<string, string[]> {
  const fired: Record<string, string[]> = {}
  for (const { rule, cluster, nodes } of findings)
    for (const node of nodes.sample)
      fired[`${cluster}/${node}`] = [...(fired[`${cluster}/${node}`] ?? []), rule].toSorted()
  return fired
}
