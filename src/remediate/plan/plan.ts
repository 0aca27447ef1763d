/** Makes one plan from nodes and their changes: cohorts, steps, waves, a digest. Equal input gives equal bytes, in whatever order the nodes come. */

import { byText } from '#base/text/text-order.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { DurableFix } from '#model/finding/finding.ts'
import {
  actsAtOnce,
  type ExpectedSetting,
  type LeftAlone,
  type ManualChange,
  type NodeState,
  type Plan,
  type PlanCohort,
  type PlannedSnapshot,
  type PlanStep,
  type Pulls,
  planSchema,
  type StepEnd,
} from '#model/plan/plan.ts'
import type { FileChange } from '#remediate/remedies/remedy.ts'
import { blastOfCohort, type NodeBlast, withoutRestart } from './blast.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import { effectOf } from './effect.ts'

/** Nodes with equal values in these fields form one cohort. */
export type CohortKey = Pick<
  PlanCohort,
  'cluster' | 'group' | 'amiFamily' | 'kubeletVersion' | 'fields' | 'file' | 'image'
>

/** Data of one node that holds for its cohort. */
export interface CohortFacts {
  durable(): DurableFix[]
  features: KubeletFeatures
  isStatusKept: boolean
}

/** Settings that the step does not change. */
export type OtherSettings = Pick<PlanStep, 'others' | 'othersOn'>

export interface PlannedNode {
  change: Omit<FileChange, 'host' | 'staysSet' | 'says'>
  instanceId: string
  expect: ExpectedSetting[]
  expectBack: ExpectedSetting[]
  others?: OtherSettings
  kubeletStartedAt: string | null
  before: NodeState
  after: NodeState
  until?: StepEnd
  /** Null: the step restarts nothing. */
  blast: NodeBlast | null
  pulls: Pulls[]
  /** A remark about the step for people, the same for all nodes of a cohort. */
  says?: string
  isReady: boolean
  hasPressure: boolean
}

export type NodeOutcome =
  | { state: 'planned'; planned: PlannedNode }
  | { state: 'never' | 'refused'; why: string }

interface NodeCohort {
  key: CohortKey
  findings: Set<string>
  /** The first node by name. Its facts count: a plan must not depend on a snapshot's order. */
  first: { node: string; facts: CohortFacts }
  nodes: number
  planned: PlannedNode[]
}

export type PlanHead = PlannedSnapshot

function withDigest(body: Omit<Plan, 'id' | 'digest'>): Plan {
  const digest = digestOf(body)
  return { ...body, id: digest.slice(0, 16), digest }
}

export class PlanBuilder {
  readonly #cohorts = new Map<string, NodeCohort>()
  readonly #steps: PlanStep[] = []
  readonly #candidates: Candidate[] = []
  readonly #never: LeftAlone[] = []
  readonly #refused: LeftAlone[] = []
  readonly #later: LeftAlone[] = []
  readonly #manual: ManualChange[] = []
  #unchanged = 0

  takeUnchanged(): void {
    this.#unchanged++
  }

  /** Notes a change that needs another plan, because this plan already changes the node. */
  takeLater(cluster: string, node: string, why: string): void {
    this.#later.push({ cluster, node, why })
  }

  takeManual(changes: readonly ManualChange[]): void {
    this.#manual.push(...changes)
  }

  /** @param findings ids of the findings that request the change */
  take(
    node: string,
    key: CohortKey,
    findings: readonly string[],
    facts: CohortFacts,
    outcome: NodeOutcome,
  ): void {
    const id = sha256(canonicalJson(key)).slice(0, 12)
    const cohort = this.#cohorts.get(id) ?? {
      key,
      findings: new Set(),
      first: { node, facts },
      nodes: 0,
      planned: [],
    }
    this.#cohorts.set(id, cohort)
    cohort.nodes++
    for (const finding of findings) cohort.findings.add(finding)
    if (node < cohort.first.node) cohort.first = { node, facts }
    const { cluster } = key
    if (outcome.state !== 'planned') {
      const list = outcome.state === 'never' ? this.#never : this.#refused
      list.push({ cluster, node, why: outcome.why })
      return
    }
    const { planned } = outcome
    cohort.planned.push(planned)
    this.#steps.push(stepOf(cluster, node, id, planned))
    this.#candidates.push(candidateOf(`${cluster}/${node}`, id, planned))
  }

  /** @param wavePercents shares of a cohort, after its first node */
  close({ modes = {}, ...snapshot }: PlanHead, wavePercents: readonly number[]): Plan {
    const cohorts = [...this.#cohorts]
      .map(([id, cohort]) => cohortOf(id, cohort))
      .sort(
        (a, b) =>
          byText(a.cluster, b.cluster) || byText(a.group.name, b.group.name) || byText(a.id, b.id),
      )
    const read = Object.entries(modes).filter(([name]) =>
      cohorts.some(({ cluster }) => cluster === name),
    )
    return withDigest({
      schema: planSchema,
      createdAt: snapshot.takenAt,
      snapshot: { ...snapshot, ...(read.length > 0 && { modes: Object.fromEntries(read) }) },
      cohorts,
      steps: this.#steps.sort(byNode),
      never: this.#never.sort(byNode),
      refused: this.#refused.sort(byNode),
      ...(this.#later.length > 0 && { later: this.#later.sort(byNode) }),
      ...(this.#manual.length > 0 && { manual: this.#manual }),
      unchanged: this.#unchanged,
      waves: wavesOf(this.#candidates, wavePercents),
    })
  }
}

/** Digest of everything in a plan but its id and the digest itself. */
export function digestOf(plan: Omit<Plan, 'id' | 'digest'>): string {
  const { id: _id, digest: _digest, ...body } = plan as Plan
  return sha256(canonicalJson(body))
}

const byNode = (a: Pick<LeftAlone, 'cluster' | 'node'>, b: Pick<LeftAlone, 'cluster' | 'node'>) =>
  byText(a.cluster, b.cluster) || byText(a.node, b.node)

function stepOf(cluster: string, node: string, cohort: string, planned: PlannedNode): PlanStep {
  const { change, instanceId, expect, expectBack, kubeletStartedAt, before, after } = planned
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
    ...(planned.until !== undefined && { until: planned.until }),
  }
}

const candidateOf = (key: string, cohort: string, planned: PlannedNode): Candidate => ({
  key,
  cohort,
  isReady: planned.isReady,
  hasPressure: planned.hasPressure,
  actsAtOnce: actsAtOnce(planned) || planned.after.imageGcDue === true,
  singletons: planned.blast?.singletons.length ?? 0,
  notReadyPods: planned.blast?.notReadyPods ?? 0,
  pods: planned.blast === null ? 0 : (planned.blast.pods ?? Number.MAX_SAFE_INTEGER),
})

function cohortOf(
  id: string,
  { key, findings, first: { facts }, nodes, planned }: NodeCohort,
): PlanCohort {
  return {
    id,
    ...key,
    findings: [...findings].sort(),
    nodes,
    planned: planned.length,
    effect: effectOf(planned, key),
    durable: facts.durable(),
    blast: key.file || key.image ? withoutRestart : blastOf(planned, facts),
  }
}

const blastOf = (planned: readonly PlannedNode[], { features, isStatusKept }: CohortFacts) =>
  blastOfCohort(
    planned.flatMap(({ blast }) => blast ?? []),
    { features, isStatusKept, restarts: planned.some(({ until }) => until) ? 2 : 1 },
  )

/** The order in which nodes are changed: one node of each cohort first, then growing groups. */

/** Facts of a node that decide its place in the order. */
interface Candidate {
  /** `cluster/node`. */
  key: string
  cohort: string
  isReady: boolean
  hasPressure: boolean
  actsAtOnce: boolean
  singletons: number
  notReadyPods: number
  pods: number
}

/** Sorts the healthiest and least loaded nodes first. */
function byHealth(a: Candidate, b: Candidate) {
  return (
    Number(b.isReady) - Number(a.isReady) ||
    Number(a.hasPressure) - Number(b.hasPressure) ||
    Number(a.actsAtOnce) - Number(b.actsAtOnce) ||
    a.singletons - b.singletons ||
    a.notReadyPods - b.notReadyPods ||
    a.pods - b.pods ||
    (a.key < b.key ? -1 : 1)
  )
}

/**
 * @param percents share of each cohort that is changed after the second wave, the third, …; the rest comes last
 * @returns no wave is empty
 */
function wavesOf(candidates: readonly Candidate[], percents: readonly number[]): string[][] {
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
