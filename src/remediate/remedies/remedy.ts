/** The contract of a remedy: from a node's data to everything that would be written to the node. A remedy writes nothing itself. */

import { gzipSync } from 'node:zlib'
import type { RawObject } from '#base/raw-object.ts'
import type { Host } from '#model/input/inspection.ts'
import type { NodeIdentity } from '#model/input/record.ts'
import type { PlanStep } from '#model/plan.ts'

export interface NodeToSet {
  identity: NodeIdentity
  osImage: string
  /** AMI release of the node's nodegroup; null: unknown. */
  releaseVersion: string | null
  /** As read from the node; null: unread. */
  host: Host | null
  /** The running KubeletConfiguration. */
  running: RawObject
}

/** What a step writes. */
export type WrittenChange = Pick<
  PlanStep,
  'method' | 'path' | 'oldSha256' | 'newSha256' | 'backSha256' | 'content' | 'lastsUntil'
>

export interface FileChange extends WrittenChange {
  /** Fields and map keys that ran without a value and cannot be unset: a rollback leaves them as they are. */
  staysSet?: string[]
  /** A remark about the rollback, for people. */
  says?: string
  /** The node's data after the change, for the replay. */
  host: Host
}

/** `refused`: why the change cannot be written, for people; `isUnread`: the only reason is that too little was read of the node. */
export type Remedied = FileChange | { refused: string; isUnread?: true }

/** Maximum length of a file as a document's parameter: gzipped, in base64. */
const longestContent = 24_000

export const isTooLong = (content: string) =>
  Math.ceil(gzipSync(content).length / 3) * 4 > longestContent
