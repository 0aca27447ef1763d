import type { NodeIdentity } from '#model/node-identity.ts'
import type { RawObject } from '#model/record.ts'
import type { Subject } from '#model/subject.ts'

export interface Origin extends Pick<NodeIdentity, 'owner' | 'isEksctl' | 'amiFamily'> {
  /** `1.34`; null: not known. */
  kubeletMinor: string | null
}

export interface Proposal {
  origin: Origin
  /** KubeletConfiguration fields; maps come whole. Their keys and values may be the node's own, so they are not to be trusted. */
  config: RawObject
  /** Sentences for the operator: what else is to be done, and why something cannot be set. */
  notes?: readonly string[]
}

export interface DurableRequest extends Proposal {
  group: Subject
}
