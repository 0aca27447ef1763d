/** What a remedy is: from what was read of a node, the whole of what would be written to it. It writes nothing. */
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Host } from '#model/node-input.ts'
import type { PlanMethod, PlanStep } from '#model/plan.ts'
import type { RawObject } from '#model/record.ts'

export interface NodeToSet {
  identity: NodeIdentity
  osImage: string
  /** Of its nodegroup; null: none is known. */
  releaseVersion: string | null
  /** As read from the node; null: unread. */
  host: Host | null
  /** KubeletConfiguration as it runs. */
  running: RawObject
}

export interface FileChange {
  method: PlanMethod
  path: string
  oldSha256: string
  newSha256: string
  content: string
  lastsUntil: PlanStep['lastsUntil']
  /** Where a way back comes to something else than `oldSha256`. */
  backSha256?: string
  /** Fields, and keys of maps, that ran with no value and cannot be unset: a way back leaves them as they are then. */
  staysSet?: string[]
  /** What is to be said of the way back, for people. */
  says?: string
  /** What the node would tell afterwards, to be replayed. */
  host: Host
}

/** `refused`: why it cannot be written, for people; `isUnread`: only because too little could be read of the node. */
export type Remedied = FileChange | { refused: string; isUnread?: true }
