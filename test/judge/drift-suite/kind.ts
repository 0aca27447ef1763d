/** What the suite holds: one kind of drift, as the records of a small fleet, and what a correct audit says of it. */
import type { Confidence } from '#model/finding.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { SuiteFamily } from './image.ts'

export type DriftRule =
  | 'lost-on-the-way'
  | 'changed-not-restarted'
  | 'peer-drift'
  | 'baseline-drift'
  | 'version-skew-drift'

/** Where a value was lost, in the way that it goes; the last three are what it was compared with. */
export type Layer = 'declared' | 'disk' | 'flags' | 'configz' | 'peers' | 'baseline' | 'ami'

export interface Expectation {
  rule: DriftRule
  /** All that the finding must name, and no other. */
  layers: Layer[]
  /** Absent: every node of the fleet. */
  nodes?: string[]
  /** Rules that may fire on the same nodes. */
  beside?: DriftRule[]
  /** Absent: the rule's own affair. */
  confidence?: Confidence
}

export interface DriftKind {
  name: string
  family: SuiteFamily
  records(): SnapshotRecord[]
  policy?: Partial<Policy>
  /** Null: no drift rule may fire. */
  expect: Expectation | null
}

const expecting =
  (rule: DriftRule, ...layers: Layer[]) =>
  (...nodes: string[]): Expectation => ({ rule, layers, ...(nodes.length > 0 && { nodes }) })

export const lostInDeclaration = expecting('lost-on-the-way', 'declared')
export const lostOnDisk = expecting('lost-on-the-way', 'disk')
export const lostToFlags = expecting('lost-on-the-way', 'flags')
export const notRestarted = expecting('changed-not-restarted', 'configz')
export const outlier = expecting('peer-drift', 'peers')
export const skewed = expecting('version-skew-drift', 'peers')
export const offBaseline = expecting('baseline-drift', 'baseline')
export const offImage = expecting('baseline-drift', 'ami')

/** The node's files were not read, so they might still hold what does not run. */
export const likelyLost: Expectation = { ...lostInDeclaration(), confidence: 'likely' }
