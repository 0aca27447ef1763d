/** The facts that a rule keeps of each node until all nodes have been seen. Equal facts are kept once to save memory in large fleets. */

import { hash } from 'node:crypto'
import { type Keep, keepInMemory } from '#base/keep.ts'
import { sharedValue } from '#base/once.ts'
import type { CohortRule, ContextRule } from '#judge/rule.ts'
import type { JudgedNode, NodeSubject } from '#judge/subject/node-subject.ts'
import { missingNeeds, type Outcome, ruleError } from './outcome.ts'

export type KeptNode = JudgedNode & Pick<NodeSubject, 'at'>

export const keptNode = ({
  cluster,
  identity,
  at,
  isConfigurationOnDisk,
  mode,
}: NodeSubject): KeptNode => ({ cluster, identity, at, isConfigurationOnDisk, mode })

/** Equal facts of nodes are one object. */
export interface KeptFact {
  read: () => unknown
}

export interface Member {
  subject: KeptNode
  /** Null: the outcome is already settled. */
  fact: KeptFact | null
  settled: Outcome | null
  /** `CohortRule.cohort`; empty for a context rule. */
  cohort: string
}

const notApplicable: Outcome = { state: 'notApplicable' }

/** Most facts are shorter and equal on many nodes. A hash of each would cost more than the few texts. */
const longestKey = 640
/** Number of distinct facts of a rule that are kept once. Then most nodes have a fact of their own. */
const mostShared = 1024

/** Columns, because objects for each rule and node would add 0.8 KB to what a node keeps. */
export class FactsOfNodes {
  readonly #rule: CohortRule | ContextRule
  readonly #keep: Keep
  readonly #subjects: KeptNode[] = []
  /** A text is a fact as JSON. */
  readonly #outcomes: (KeptFact | Outcome | string)[] = []
  readonly #cohorts: string[] = []
  /** Facts by their JSON, or by its hash if the JSON is long. */
  readonly #facts = new Map<string, KeptFact>()

  constructor(rule: CohortRule | ContextRule, keep: Keep = keepInMemory) {
    this.#rule = rule
    this.#keep = keep
  }

  take(subject: NodeSubject, kept: KeptNode = keptNode(subject)): void {
    this.#subjects.push(kept)
    this.#outcomes.push(this.#outcome(subject))
    if (this.#rule.kind === 'cohort') this.#cohorts.push(this.#rule.cohort(subject))
  }

  /** The nodes in the order in which they came. */
  members(): Member[] {
    return this.#subjects.map((subject, index) => {
      const outcome = this.#outcomes[index] as KeptFact | Outcome | string
      const cohort = this.#cohorts[index] ?? ''
      if (typeof outcome === 'string')
        return { subject, fact: { read: () => JSON.parse(outcome) }, settled: null, cohort }
      return 'state' in outcome
        ? { subject, fact: null, settled: outcome, cohort }
        : { subject, fact: outcome, settled: null, cohort }
    })
  }

  #outcome(subject: NodeSubject): KeptFact | Outcome | string {
    try {
      if (!this.#rule.appliesTo(subject)) return notApplicable
      const reason = missingNeeds(this.#rule, subject)
      if (reason !== null) return sharedValue<Outcome>({ state: 'unknown', reason })
      const value = this.#rule.fact(subject)
      const text = JSON.stringify(value)
      return this.#factOf(value, text)
    } catch (error) {
      return ruleError(error)
    }
  }

  #factOf(value: unknown, text: string): KeptFact | string {
    const isLong = text.length > longestKey
    const isFull = this.#facts.size === mostShared
    if (isLong && isFull) return { read: this.#keep(value) }
    const key = isLong ? hash('sha256', text, 'base64') : text
    const known = this.#facts.get(key)
    if (known !== undefined) return known
    if (isFull) return text
    const fact = { read: keepInMemory(value) }
    this.#facts.set(key, fact)
    return fact
  }
}
