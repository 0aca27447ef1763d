/** What the report is made of: the findings document, and a compact view of every node. */
import type { FindingsDocument } from './finding.ts'
import type { NodeIdentity } from './node-identity.ts'
import type { EvictionPrediction, Filesystems, ImageGcPrediction } from './prediction.ts'
import type { ReadError } from './record.ts'

export type CoverageState = 'read' | 'partlyRead' | 'notRead'

export interface AuditedNode {
  cluster: string
  identity: NodeIdentity
  at: string
  coverage: CoverageState
  errors: ReadError[]
  prediction: AuditedPrediction
}

/** What the report shows of a prediction: pods and images are left behind, so that memory does not grow with them. */
export interface AuditedPrediction {
  filesystems: Filesystems
  imageGC: Omit<ImageGcPrediction, 'deletions' | 'kept'> | null
  eviction: Pick<EvictionPrediction, 'signals' | 'thresholds' | 'error'> | null
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

/** What became of one channel: `location` null when it failed, `error` says why in a paragraph. `link`: where a reader opens the report, if anywhere. */
export interface Delivery {
  channel: string
  location: string | null
  link: string | null
  error: string | null
}

/** The e-mail of one run: what the channel `ses` sends and the folder keeps as `email.html` and `email.txt`. */
export interface RenderedMail {
  subject: string
  html: string
  text: string
}
