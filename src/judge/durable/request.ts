import type { NodeIdentity } from '#model/node-identity.ts'
import type { RawObject } from '#model/record.ts'
import type { Subject } from '#model/subject.ts'

export interface Origin extends Pick<NodeIdentity, 'owner' | 'isEksctl' | 'amiFamily'> {
  /** `1.34`; null: unknown. */
  kubeletMinor: string | null
}

export interface Proposal {
  origin: Origin
  /** KubeletConfiguration fields; maps are complete. Keys and values may come from the node, so they must not be trusted. */
  config: RawObject
  /** Sentences for the operator: further steps, and why something cannot be set. */
  notes?: readonly string[]
}

export interface DurableRequest extends Proposal {
  group: Subject
}
