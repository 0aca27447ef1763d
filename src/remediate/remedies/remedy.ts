/** The contract of a remedy: from a node's data to everything that would be written to the node. It writes nothing itself. */
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Host } from '#model/node-input.ts'
import type { PlanMethod, PlanStep } from '#model/plan.ts'
import type { RawObject } from '#model/record.ts'

export interface NodeToSet {
  identity: NodeIdentity
  osImage: string
  /** AMI release of its nodegroup; null: unknown. */
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
  /** The node's data after the change, for the replay. */
  host: Host
}

/** `refused`: why it cannot be written, for people; `isUnread`: only because too little could be read of the node. */
export type Remedied = FileChange | { refused: string; isUnread?: true }

/** As a document's parameter takes a file: gzipped, and in base64. */
export const longestContent = 24_000
