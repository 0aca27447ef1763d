/** The documents that highwater writes and reads, as `tools/schemas.ts` publishes them. */
import type { Checkup } from '#model/checkup.ts'
import type { DiffDocument, FindingEvent } from '#model/delta.ts'
import type { FindingsDocument } from '#model/finding.ts'
import type { GateDocument } from '#model/gate.ts'
import type { NodeHistory } from '#model/history.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import type {
  Approval,
  Plan,
  PlanCohort,
  PlanStep,
  RemediationRun,
  VerificationReport,
} from '#model/plan.ts'
import type { NodeLedger, NodePrediction } from '#model/prediction.ts'
import type { TuneDocument } from '#model/tune.ts'
import type { UpgradeDocument } from '#model/upgrade.ts'

export interface Prediction {
  schema: 'highwater.prediction/1'
  nodes: NodePrediction[]
}

/** Fields of `others` that all steps of a cohort share are in the file once, at the cohort. */
export interface PlanFile extends Omit<Plan, 'cohorts' | 'steps'> {
  cohorts: (PlanCohort & Pick<Partial<PlanStep>, 'others'>)[]
  steps: PlanStep[]
}

export interface Formats {
  /** `highwater.findings/1`: `findings.json`, and what `highwater audit --format json` prints. */
  findings: FindingsDocument
  /** `highwater.event/1`: the detail of an event on EventBridge. */
  event: FindingEvent
  /** `highwater.prediction/1`: what `highwater predict --format json` prints. */
  prediction: Prediction
  /** `highwater.snapshot/1`: one line of a snapshot. Kubernetes and AWS objects have the fields of their APIs. */
  snapshot: SnapshotRecord
  /** `highwater.plan/1`: what `highwater plan` writes. */
  plan: PlanFile
  /** `highwater.approval/1`: what `highwater approve` writes. */
  approval: Approval
  /** `highwater.diff/1`: what `highwater diff --format json` prints. */
  diff: DiffDocument
  /** `highwater.upgrade/1`: what `highwater upgrade --format json` prints. */
  upgrade: UpgradeDocument
  /** `highwater.gate/1`: what `highwater gate --format json` prints. */
  gate: GateDocument
  /** `highwater.tune/1`: what `highwater tune --format json` prints. */
  tune: TuneDocument
  /** `highwater.doctor/1`: what `highwater doctor --format json` prints. */
  doctor: Checkup
  /** `highwater.remediation/1`: what `apply` and `rollback` print with `--format json`, and `report.json` of a run. */
  remediation: RemediationRun
  /** `highwater.verification/1`: what `highwater verify --format json` prints. */
  verification: VerificationReport
  /** `highwater.node-history/1`: what `highwater history NODE --format json` prints. */
  'node-history': NodeHistory
  /** `highwater.ledger/1`: what holds a node's disks; in predictions. */
  ledger: NodeLedger
}
