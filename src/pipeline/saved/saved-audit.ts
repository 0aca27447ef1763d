/** An audit of a saved snapshot, for its result only: nothing is rendered, published or kept, and findings name every node. */
import { rules } from '#judge/rules/index.ts'
import type { Policy } from '#model/policy.ts'
import type { Selection } from '#model/selection.ts'
import { type AuditResult, audit } from '#pipeline/audit.ts'
import { savedFleet } from '#pipeline/fleet.ts'

/** @throws OperatorError */
export const savedAudit = (
  path: string,
  { policy, selection, version, signal }: SavedAuditOptions,
): Promise<AuditResult> =>
  audit(savedFleet(path, selection, signal), {
    source: 'snapshot',
    version,
    policy,
    rules,
    formats: [],
    channels: [],
    audiences: [],
    snapshot: null,
    history: null,
    options: { allNodes: true },
  })

export interface SavedAuditOptions {
  policy: Policy
  selection: Selection
  version: string
  signal?: AbortSignal
}
