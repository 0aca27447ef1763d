import type { RawObject } from '#base/raw-object.ts'
import type { Subject } from '#model/finding/subject.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'

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
