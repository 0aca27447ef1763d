/** Nodes with what would be written to them → one plan: cohorts, steps, waves, a digest. Equal input gives equal bytes, whatever the order it comes in. */
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { DurableFix, Subject } from '#model/finding.ts'
import type { AmiFamily } from '#model/node-identity.ts'
import {
  actsAtOnce,
  type CohortCounts,
  type CohortEffect,
  type ExpectedSetting,
  type LeftAlone,
  type NodeState,
  type Plan,
  type PlanCohort,
  type PlanStep,
  type Pulls,
  planSchema,
} from '#model/plan.ts'
import type { RawObject } from '#model/record.ts'
import { blastOfCohort, type NodeBlast } from './blast.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import type { FileChange } from './remedies/remedy.ts'
import { type Candidate, wavesOf } from './waves.ts'

/** What makes nodes one cohort. */
export interface CohortKey {
  cluster: string
  group: Subject
  amiFamily: AmiFamily
  /** `1.34`. */
  kubeletVersion: string
  fields: RawObject
}

/** What one node of a cohort tells for all. */
export interface CohortFacts {
  durable(): DurableFix[]
  features: KubeletFeatures
  isStatusKept: boolean
}

export interface PlannedNode {
  change: Omit<FileChange, 'host'>
  instanceId: string
  expect: ExpectedSetting[]
  kubeletStartedAt: string | null
  before: NodeState
  after: NodeState
  blast: NodeBlast
  pulls: Pulls[]
  isReady: boolean
  hasPressure: boolean
}

export type NodeOutcome = { state: 'planned'; planned: PlannedNode } | { state: 'never' | 'refused'; why: string }

interface Cohort {
  key: CohortKey
  findings: Set<string>
  /** The first by name, whose facts count: plans must not depend on the order of a snapshot. */
  first: { node: string; facts: CohortFacts }
  nodes: number
  planned: PlannedNode[]
}

export interface PlanHead {
  takenAt: string
  account: string | null
  region: string | null
}

export class PlanBuilder {
  readonly #cohorts = new Map<string, Cohort>()
  readonly #steps: PlanStep[] = []
  readonly #candidates: Candidate[] = []
  readonly #never: LeftAlone[] = []
  readonly #refused: LeftAlone[] = []
  #unchanged = 0

  takeUnchanged(): void {
    this.#unchanged++
  }

  /** @param findings ids of those that ask for it */
  take(node: string, key: CohortKey, findings: readonly string[], facts: CohortFacts, outcome: NodeOutcome): void {
    const id = sha256(canonicalJson(key)).slice(0, 12)
    const cohort = this.#cohorts.get(id) ?? { key, findings: new Set(), first: { node, facts }, nodes: 0, planned: [] }
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

  /** @param wavePercents of a cohort, after its first node */
  close({ takenAt, account, region }: PlanHead, wavePercents: readonly number[]): Plan {
    const cohorts = [...this.#cohorts]
      .map(([id, cohort]) => cohortOf(id, cohort))
      .sort((a, b) => byText(a.cluster, b.cluster) || byText(a.group.name, b.group.name) || byText(a.id, b.id))
    const body = {
      schema: planSchema,
      createdAt: takenAt,
      snapshot: { takenAt, account, region },
      cohorts,
      steps: this.#steps.sort(byNode),
      never: this.#never.sort(byNode),
      refused: this.#refused.sort(byNode),
      unchanged: this.#unchanged,
      waves: wavesOf(this.#candidates, wavePercents),
    } as const
    const digest = digestOf(body)
    return { ...body, id: digest.slice(0, 16), digest }
  }
}

/** Of all that a plan says but its id and the digest itself. */
export function digestOf({
  schema,
  createdAt,
  snapshot,
  cohorts,
  steps,
  never,
  refused,
  unchanged,
  waves,
}: Omit<Plan, 'id' | 'digest'>): string {
  return sha256(canonicalJson({ schema, createdAt, snapshot, cohorts, steps, never, refused, unchanged, waves }))
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byNode = (a: Pick<LeftAlone, 'cluster' | 'node'>, b: Pick<LeftAlone, 'cluster' | 'node'>): number =>
  byText(a.cluster, b.cluster) || byText(a.node, b.node)

function stepOf(cluster: string, node: string, cohort: string, planned: PlannedNode): PlanStep {
  const { change, instanceId, expect, kubeletStartedAt, before, after } = planned
  const { method, path, oldSha256, newSha256, content, lastsUntil } = change
  return {
    cluster,
    node,
    instanceId,
    cohort,
    method,
    path,
    oldSha256,
    newSha256,
    content,
    lastsUntil,
    expect,
    kubeletStartedAt,
    before,
    after,
  }
}

const candidateOf = (key: string, cohort: string, planned: PlannedNode): Candidate => ({
  key,
  cohort,
  isReady: planned.isReady,
  hasPressure: planned.hasPressure,
  actsAtOnce: actsAtOnce(planned) || planned.after.imageGcDue === true,
  singletons: planned.blast.singletons.length,
  notReadyPods: planned.blast.notReadyPods,
  pods: planned.blast.pods ?? Number.MAX_SAFE_INTEGER,
})

function cohortOf(id: string, { key, findings, first: { facts }, nodes, planned }: Cohort): PlanCohort {
  return {
    id,
    ...key,
    findings: [...findings].sort(),
    nodes,
    planned: planned.length,
    effect: effectOf(planned),
    durable: facts.durable(),
    blast: blastOfCohort(
      planned.map(({ blast }) => blast),
      facts.features,
      facts.isStatusKept,
    ),
  }
}

function effectOf(planned: readonly PlannedNode[]): CohortEffect {
  const before = countsOf(planned.map(node => node.before))
  const after = countsOf(planned.map(node => node.after))
  const pulls = pullsOf(planned.flatMap(node => node.pulls))
  return { before, after, pulls, text: effectText(planned, before, after, pulls) }
}

function countsOf(states: readonly NodeState[]): CohortCounts {
  const count = (is: (state: NodeState) => boolean) => states.filter(is).length
  return {
    evictFirst: count(({ evictsBeforeImageGc }) => evictsBeforeImageGc === true),
    imageGcDue: count(({ imageGcDue }) => imageGcDue === true),
    freedBytesAtMost: states.reduce((sum, { freedBytesAtMost }) => sum + (freedBytesAtMost ?? 0), 0),
    evictNow: count(({ evictsNow }) => (evictsNow?.length ?? 0) > 0),
    unknown: count(state => Object.values(state).includes(null)),
  }
}

function pullsOf(pulls: readonly Pulls[]): Pulls[] {
  const byRegistry = new Map<string, Pulls>()
  for (const { registry, images, limit } of pulls)
    byRegistry.set(registry, { registry, images: images + (byRegistry.get(registry)?.images ?? 0), limit })
  return [...byRegistry.values()].sort((a, b) => byText(a.registry, b.registry))
}

const gib = (count: number): string => `${(count / 2 ** 30).toFixed(1)} GiB`
const nodesOf = (count: number): string => `${count} node${count === 1 ? '' : 's'}`

function effectText(planned: readonly PlannedNode[], before: CohortCounts, after: CohortCounts, pulls: readonly Pulls[]): string {
  const images = pulls.reduce((sum, { images: some }) => sum + some, 0)
  const byRegistry = pulls.map(({ registry, images: some, limit }) =>
    limit === null
      ? `${registry} ${some}`
      : `${registry} ${some} (it gives ${limit.pulls} in ${limit.hours} h to all nodes behind one address)`,
  )
  const lostAtReboot = planned.filter(({ change }) => change.lastsUntil === 'reboot').length
  return [
    `Today ${before.evictFirst} of ${nodesOf(planned.length)} evict first, before image GC; after: ${after.evictFirst}.`,
    ...(after.imageGcDue > 0
      ? [
          `Image GC is due at once on ${nodesOf(after.imageGcDue)} (today ${before.imageGcDue}), freeing at most ${gib(after.freedBytesAtMost)}.`,
        ]
      : []),
    ...(images > 0 ? [`At most ${images} image${images === 1 ? '' : 's'} would have to be pulled again: ${byRegistry.join(', ')}.`] : []),
    ...(after.evictNow > 0 ? [`Eviction is due on ${nodesOf(after.evictNow)} (today ${before.evictNow}).`] : []),
    ...(lostAtReboot > 0 ? [`${nodesOf(lostAtReboot)} lose it at the next reboot: nodeadm writes their file anew.`] : []),
    ...(after.unknown > 0 ? [`Of ${nodesOf(after.unknown)} not all of this is known.`] : []),
  ].join(' ')
}
