/** Makes one plan from nodes and their changes: cohorts, steps, waves, a digest. Equal input gives equal bytes, in whatever order the nodes come. */

import { byText } from '#base/text.ts'
import type { DurableFix } from '#model/finding.ts'
import {
  actsAtOnce,
  type LeftAlone,
  type Plan,
  type PlanCohort,
  type PlannedSnapshot,
  type PlanStep,
  planSchema,
  stepKey,
} from '#model/plan.ts'
import { canonicalJson, digestOf, sha256 } from '#remediate/plan/canonical.ts'
import { blastOf, effectOf, type PlannedNode } from './effect.ts'

/** Nodes with equal values in these fields form one cohort. */
export type CohortKey = Pick<
  PlanCohort,
  'cluster' | 'group' | 'amiFamily' | 'kubeletVersion' | 'fields' | 'file' | 'image'
>

/** `invalid`: no kubelet of this minor starts with it; `unread`: too little of the node was read. */
export type NodeOutcome =
  | { state: 'planned'; planned: PlannedNode; because?: undefined }
  | { state: 'never' | 'refused'; why: string; because?: 'invalid' | 'unread' }

/** A wanted change of one node. */
export interface Wish {
  cohort: CohortKey
  /** Ids of the findings that the change ends. */
  findings: readonly string[]
  /** The lasting form of the change, for the nodes that come after. */
  durable(): DurableFix[]
  /** Whether ready containers stay ready when the node's kubelet restarts. */
  isStatusKept: boolean
  outcome: NodeOutcome
}

interface CohortWishes {
  key: CohortKey
  findings: Set<string>
  /** The wish of the first node by name counts for the cohort: a plan must not depend on a snapshot's order. */
  first: { node: string; wish: Wish }
  nodes: number
  planned: PlannedNode[]
}

export class PlanBuilder {
  readonly #cohorts = new Map<string, CohortWishes>()
  readonly #steps: PlanStep[] = []
  readonly #candidates: Candidate[] = []
  readonly #never: LeftAlone[] = []
  readonly #refused: LeftAlone[] = []
  readonly #later: LeftAlone[] = []
  #unchanged = 0

  takeUnchanged() {
    this.#unchanged++
  }

  /** Notes a change that needs another plan, because this plan already changes the node. */
  takeLater(cluster: string, node: string, why: string) {
    this.#later.push({ cluster, node, why })
  }

  take(node: string, wish: Wish) {
    const { cohort: key, findings, outcome } = wish
    const { cluster } = key
    const id = sha256(canonicalJson(key)).slice(0, 12)
    const first = { node, wish }
    const cohort = this.#cohorts.get(id) ?? {
      key,
      findings: new Set(),
      first,
      nodes: 0,
      planned: [],
    }
    this.#cohorts.set(id, cohort)
    cohort.nodes++
    for (const finding of findings) cohort.findings.add(finding)
    if (node < cohort.first.node) cohort.first = first
    if (outcome.state !== 'planned') {
      const list = outcome.state === 'never' ? this.#never : this.#refused
      list.push({ cluster, node, why: outcome.why })
      return
    }
    const { planned } = outcome
    cohort.planned.push(planned)
    this.#steps.push(stepOf(cluster, node, id, planned))
    this.#candidates.push({
      key: stepKey({ cluster, node }),
      cohort: id,
      load: [
        Number(!planned.isReady),
        Number(planned.hasPressure),
        Number(actsAtOnce(planned) || planned.after.imageGcDue === true),
        planned.blast?.singletons.length ?? 0,
        planned.blast?.notReadyPods ?? 0,
        planned.blast ? (planned.blast.pods ?? Number.MAX_SAFE_INTEGER) : 0,
      ],
    })
  }

  /** @param wavePercents shares of a cohort, after its first node */
  close({ modes = {}, ...snapshot }: PlannedSnapshot, wavePercents: readonly number[]): Plan {
    const cohorts = [...this.#cohorts]
      .map(([id, cohort]) => cohortOf(id, cohort))
      .sort(
        (a, b) =>
          byText(a.cluster, b.cluster) || byText(a.group.name, b.group.name) || byText(a.id, b.id),
      )
    const read = Object.entries(modes).filter(([name]) =>
      cohorts.some(({ cluster }) => cluster === name),
    )
    const body: Omit<Plan, 'id' | 'digest'> = {
      schema: planSchema,
      createdAt: snapshot.takenAt,
      snapshot: { ...snapshot, ...(read.length > 0 && { modes: Object.fromEntries(read) }) },
      cohorts,
      steps: this.#steps.sort(byNode),
      never: this.#never.sort(byNode),
      refused: this.#refused.sort(byNode),
      ...(this.#later.length > 0 && { later: this.#later.sort(byNode) }),
      unchanged: this.#unchanged,
      waves: wavesOf(this.#candidates, wavePercents),
    }
    const digest = digestOf(body)
    return { ...body, id: digest.slice(0, 16), digest }
  }
}

const byNode = (a: Pick<LeftAlone, 'cluster' | 'node'>, b: Pick<LeftAlone, 'cluster' | 'node'>) =>
  byText(a.cluster, b.cluster) || byText(a.node, b.node)

/** Every field is named: what is in a step is in the plan's digest, and approved with it. */
function stepOf(cluster: string, node: string, cohort: string, planned: PlannedNode): PlanStep {
  const { change, instanceId, expect, expectBack, kubeletStartedAt, before, after, until } = planned
  return {
    cluster,
    node,
    instanceId,
    cohort,
    ...change,
    expect,
    expectBack,
    ...planned.others,
    kubeletStartedAt,
    before,
    after,
    ...(until !== undefined && { until }),
  }
}

const cohortOf = (
  id: string,
  { key, findings, first: { wish }, nodes, planned }: CohortWishes,
): PlanCohort => ({
  id,
  ...key,
  findings: [...findings].sort(),
  nodes,
  planned: planned.length,
  effect: effectOf(planned, key),
  durable: wish.durable(),
  blast: blastOf(planned, key, wish.isStatusKept),
})

/* The order in which nodes are changed: one node of each cohort first, then growing groups. */

interface Candidate {
  /** `cluster/node`. */
  key: string
  cohort: string
  load: number[]
}

/** Sorts the healthiest and least loaded nodes first. */
function byHealth(a: Candidate, b: Candidate) {
  const differing = a.load.findIndex((load, index) => load !== b.load[index])
  return differing < 0 ? byText(a.key, b.key) : a.load[differing]! - b.load[differing]!
}

/**
 * @param percents share of each cohort that is changed after the second wave, the third, …; the rest comes last
 * @returns no wave is empty
 */
function wavesOf(candidates: readonly Candidate[], percents: readonly number[]) {
  const cohorts = [...Map.groupBy(candidates, ({ cohort }) => cohort)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const waves: string[][] = Array.from({ length: percents.length + 2 }, () => [])
  for (const [, members] of cohorts) {
    const keys = members.toSorted(byHealth).map(({ key }) => key)
    const ends = [
      1,
      ...percents.map(percent => Math.ceil((keys.length * percent) / 100)),
      keys.length,
    ]
    let from = 0
    for (const [index, end] of ends.entries()) {
      waves[index]?.push(...keys.slice(from, Math.max(from, end)))
      from = Math.max(from, end)
    }
  }
  return waves.filter(wave => wave.length > 0)
}
