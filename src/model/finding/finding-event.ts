/**
 * A finding that is new, worse or ended since the last run: the detail of an event on EventBridge. Invisible characters of forged names are shown
 * as `<U+202E>`.
 */
import type { Change, Ending } from './delta.ts'
import type { Finding, NodeSample } from './finding.ts'

export interface FindingEvent
  extends Pick<Finding, 'rule' | 'severity' | 'cluster' | 'subject' | 'title'> {
  schema: 'highwater.event/1'
  /** `new`: also findings that had ended before. `worse`: more severe, more certain, on more nodes, or no longer waived. */
  change: Extract<Change, 'new' | 'worse'> | 'ended'
  /** Id of the finding: equal in all events of its life. */
  finding: string
  /** RFC 3339: when the nodes were read. */
  at: string
  /** Day of the first run with the finding, YYYY-MM-DD. */
  since: string | null
  /** How it ended. Null: it is open. */
  ended: Ending | null
  /** Null: it has ended. */
  nodes: NodeSample | null
  /** The first command of its steps. Null: it has ended, or no command ends it. */
  command: string | null
  /** Where the report is served. Null: no site serves it. */
  reportUrl: string | null
}
