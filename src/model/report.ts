/** What the report is made of: the findings document, and a compact view of every node. */
import type { FindingsDocument } from './finding.ts'
import type { NodeIdentity } from './node-identity.ts'
import type { NodePrediction } from './prediction.ts'
import type { ReadError } from './record.ts'

export type CoverageState = 'read' | 'partlyRead' | 'notRead'

export interface AuditedNode {
  cluster: string
  identity: NodeIdentity
  at: string
  coverage: CoverageState
  errors: ReadError[]
  prediction: Pick<NodePrediction, 'filesystems' | 'imageGC' | 'eviction'>
}

export interface AuditReport {
  document: FindingsDocument
  nodes: AuditedNode[]
  /** The disk-usage percent at which the team's alert fires (policy). */
  alertPercent: number
}

/** One file of the report, as formats make it and channels deliver it. */
export interface RenderedFile {
  name: string
  contentType: string
  body: string
}
