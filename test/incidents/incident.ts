/** A real incident: the thread, what it found, and what an audit of such a node has to say. */
import type { World } from './world.ts'

/** Who has to act: the people who run the nodes, or the owner of a workload as `namespace/Kind name`. */
export type Owner = 'platform' | `${string}/${string}`

export type ExpectedStep = 'set' | 'free' | 'resize' | 'replace' | 'ask-owner' | 'read-more'

export type ExpectedCause =
  /** `place`: the path that the holder names. */
  | { kind: 'holder'; holder: string; place?: string }
  | { kind: 'setting'; field: string }
  | { kind: 'device'; what?: string }
  | { kind: 'world' }
  | { kind: 'unread' }

export interface Incident {
  name: string
  /** Address of the public thread. */
  thread: string
  /** What the thread says, with its numbers. */
  found: string
  world: World
  /** The first cause is one of these. Null: a near miss, which has no critical or high cause. */
  cause: readonly ExpectedCause[] | null
  /** Who has to act on the first cause. Null: nobody. */
  owner: Owner | null
  /** Kinds of the first step that work in the thread. */
  steps: readonly ExpectedStep[]
  /** What a reader finds in the mail: words of the cause and of the step. */
  words?: readonly RegExp[]
  /** Holders and fields that no critical or high cause may name. */
  notCauses?: readonly string[]
  /** What no critical or high cause may print: it cannot work here. */
  never?: readonly RegExp[]
}
