/** Nodes that answer as the scripts of the documents do, a store, and processes that may die at any call they make. */

import { createHash, randomUUID } from 'node:crypto'
import type { Store } from '#clients/store/store.ts'
import {
  type ApplyAnswer,
  type Approval,
  approvalSchema,
  type Plan,
  type PlanCohort,
  type PlanStep,
  planSchema,
  type RemediationRun,
  stepKey,
  type Verification,
} from '#model/plan.ts'
import { defaultPolicy, type RemediationPolicy } from '#model/policy.ts'
import { digestOf, sha256 } from '#remediate/plan/canonical.ts'
import { pruningFields } from '#remediate/plan/step-truth.ts'
import type { CommandResult } from '#remediate/run/apply.ts'
import type { ImageUse } from '#remediate/run/node-work.ts'
import {
  type ApplyOptions,
  applyPlan,
  rollBack,
  type SessionOptions,
} from '#remediate/run/session.ts'
import { VirtualTime } from './virtual-time.ts'

/** What a node does when it is told to change. */
export type Nature =
  | 'well'
  /** Its kubelet does not come back with the new file. */
  | 'puts back'
  | 'refuses'
  /** It says that it is done, and what is read of it is something else. */
  | 'wrong'
  /** It says that it is done, as Bottlerocket does, and its kubelet stays down with the new settings. */
  | 'down'
  /** Image GC finds nothing to delete. */
  | 'full'
  /** It says that it is back, and its kubelet runs with the new file still. */
  | 'stays'
  /** What it answers never arrives. */
  | 'silent'
  /** It is gone once it was changed, and so is its answer. */
  | 'replaced'
  /** SSM does not know it, before anything is sent. */
  | 'away'
  /** It can neither go there nor back. */
  | 'breaks'
  /** It goes there, and is not well when it is put back. */
  | 'breaks back'

export interface PretendNode {
  step: PlanStep
  nature: Nature
  /** Answers that are lost, of those to come. */
  lose: number
  /** What is on its disk, and its kubelet runs with. */
  sha256: string
  /** Of the run; the script's own words. */
  phase: '' | 'applied' | 'restored' | 'rolled-back' | 'broken'
  /** How often its kubelet was started anew with another file. */
  swaps: number
  /** Why its step would not be planned for it any more. */
  objection: string | null
  /** Of its image filesystem; while its thresholds are lowered, less each time that it is read. */
  usedPercent: number
}

const newText = '{"imageGCHighThresholdPercent":70,"imageGCLowThresholdPercent":69}\n'
export const oldSha256 = sha256('{"imageGCHighThresholdPercent":85}\n')
export const newSha256 = sha256(newText)
const state = { evictsBeforeImageGc: false, imageGcDue: false, freedBytesAtMost: 0, evictsNow: [] }

function step(cluster: string, index: number, cohort: string): PlanStep {
  const node = `ip-10-0-0-${index}.ec2.internal`
  return {
    cluster,
    node,
    instanceId: `i-${createHash('sha256').update(`${cluster}/${node}`).digest('hex').slice(0, 17)}`,
    cohort,
    method: 'kubelet-file',
    path: '/etc/kubernetes/kubelet/kubelet-config.json',
    oldSha256,
    newSha256,
    content: newText,
    lastsUntil: 'replacement',
    expect: [{ field: 'imageGCHighThresholdPercent', value: 70 }],
    expectBack: [{ field: 'imageGCHighThresholdPercent', value: 85 }],
    kubeletStartedAt: null,
    before: state,
    after: state,
  }
}

function cohort(cluster: string, id: string, nodes: number): PlanCohort {
  const counts = { evictFirst: 0, imageGcDue: 0, freedBytesAtMost: 0, evictNow: 0, unknown: 0 }
  const none = { count: 0, sample: [] }
  return {
    id,
    cluster,
    group: { kind: 'Nodegroup', namespace: null, name: 'workers' },
    amiFamily: 'AL2',
    kubeletVersion: '1.32',
    fields: { imageGCHighThresholdPercent: 70 },
    findings: [],
    nodes,
    planned: nodes,
    effect: { before: counts, after: counts, pulls: [], text: '' },
    durable: [],
    blast: {
      ...{
        pods: 0,
        notReadyPods: 0,
        singletons: none,
        budgetsAtLimit: none,
        startupProbes: 0,
        imagesForgotten: 0,
        unreadNodes: 0,
      },
      text: '',
    },
  }
}

/** The same, for a while: until the image filesystem is down to 69 %, and for 20 minutes at most. */
export function pruningPlanOf(sizes: readonly number[]): Plan {
  const { id: _id, digest: _digest, ...plan } = planOf(sizes)
  const until = {
    kind: 'image-gc',
    usedPercentAtMost: 69,
    atMostMs: 20 * 60_000,
    imagesAtMost: 9,
    bytesAtMost: 2 ** 35,
  } as const
  const cohorts = plan.cohorts.map(one => ({
    ...one,
    fields: pruningFields(until.usedPercentAtMost),
  }))
  const body = { ...plan, cohorts, steps: plan.steps.map(one => ({ ...one, until })) }
  const digest = digestOf(body)
  return { ...body, id: digest.slice(0, 16), digest }
}

/** @param sizes of the waves of each cluster, all of one cohort; the nodes are called by their number, from 1 */
export function planOf(sizes: readonly number[], ...clusters: string[]): Plan {
  const createdAt = '2026-11-21T00:00:00Z'
  const numbers = Array.from(
    { length: sizes.reduce((sum, size) => sum + size, 0) },
    (_, index) => index + 1,
  )
  const startOf = (wave: number) => sizes.slice(0, wave).reduce((sum, size) => sum + size, 0)
  const own = (clusters.length === 0 ? ['prod'] : clusters).map(cluster =>
    numbers.map(number => step(cluster, number, `workers of ${cluster}`)),
  )
  const steps = own.flat()
  const waves = sizes.map((size, wave) =>
    own.flatMap(some => some.slice(startOf(wave), startOf(wave) + size).map(stepKey)),
  )
  const body: Omit<Plan, 'id' | 'digest'> = {
    schema: planSchema,
    createdAt,
    snapshot: { takenAt: createdAt, account: null, region: null },
    cohorts: (clusters.length === 0 ? ['prod'] : clusters).map(cluster =>
      cohort(cluster, `workers of ${cluster}`, numbers.length),
    ),
    steps,
    never: [],
    refused: [],
    unchanged: 0,
    waves,
  }
  const digest = digestOf(body)
  return { ...body, id: digest.slice(0, 16), digest }
}

export const approvalOf = (plan: Plan, changed: Partial<Approval> = {}): Approval => ({
  schema: approvalSchema,
  plan: plan.digest,
  by: 'Ada Lovelace',
  identity: 'arn:aws:iam::111122223333:user/ada',
  at: '2026-11-21T11:00:00Z',
  until: '2026-11-22T11:00:00Z',
  options: { allowActAtOnce: false },
  ...changed,
})

class Died extends Error {}

/** The call at which a process dies: before it has had any effect, or with all of it and without its answer. */
export interface Death {
  call: number
  when: 'before' | 'after'
}

export interface ProcessOptions
  extends Partial<
    Pick<ApplyOptions, 'resume' | 'skipChanged' | 'stop' | 'end' | 'onWait' | 'patienceMs'>
  > {
  despiteErrors?: boolean
  death?: Death
  skewMs?: number
  policy?: Partial<RemediationPolicy>
  approval?: Approval
  /** In place of the world's. */
  effects?: Partial<SessionOptions['effects']>
  store?: Store
}

export class World {
  readonly time = new VirtualTime()
  readonly store = memoryStore()
  readonly nodes: Map<string, PretendNode>
  /** Of the last process. */
  calls = 0
  /** `apply ip-…` for each command that has gone out. */
  readonly commands: string[] = []
  /** Why nothing may be sent now. */
  reasons: string[] = []
  unasked: string[] = []
  /** Why the account can be sent nothing. */
  fault: string | null = null
  readonly nodeReasons = new Map<string, string>()
  readonly plan: Plan
  /** Which cluster it is; by default each is its name. */
  readonly identities = new Map<string, string>()

  constructor(plan: Plan, natures: Readonly<Record<number, Nature>> = {}) {
    this.plan = plan
    this.nodes = new Map(
      plan.steps.map((one, index) => [
        stepKey(one),
        {
          step: one,
          nature: natures[index + 1] ?? 'well',
          lose: 0,
          sha256: oldSha256,
          phase: '',
          swaps: 0,
          objection: null,
          usedPercent: 90,
        },
      ]),
    )
  }

  node(number: number): PretendNode {
    return [...this.nodes.values()][number - 1] as PretendNode
  }

  apply(options: ProcessOptions = {}): Promise<RemediationRun> {
    const { session } = this.#process(options)
    return this.#passed(
      options,
      applyPlan(this.plan, options.approval ?? approvalOf(this.plan), {
        ...session,
        resume: options.resume ?? false,
        skipChanged: options.skipChanged ?? false,
      }),
    )
  }

  rollBack(options: ProcessOptions = {}): Promise<RemediationRun> {
    return this.#passed(
      options,
      rollBack(this.plan.id, {
        ...this.#process(options).session,
        despiteErrors: options.despiteErrors ?? false,
      }),
    )
  }

  /** Where a test brings a clock of its own, it passes by itself. */
  #passed<T>({ effects }: ProcessOptions, work: Promise<T>): Promise<T> {
    return effects?.clock === undefined ? this.time.pass(work) : work
  }

  /** What lies in the store, by key. */
  async read(key: string): Promise<unknown> {
    const found = await this.store.read(key)
    return found === null ? null : JSON.parse(found.body.toString())
  }

  #process(options: ProcessOptions): { session: SessionOptions } {
    const never = new AbortController().signal
    const clock = this.time.clock(options.skewMs)
    let isDead = false
    this.calls = 0
    const call = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isDead) throw new Died()
      const number = ++this.calls
      const isTheOne = options.death?.call === number
      if (isTheOne) isDead = true
      if (isTheOne && options.death?.when === 'before') throw new Died()
      const answer = await work()
      if (isTheOne) throw new Died()
      return answer
    }
    const store = options.store ?? this.store
    const session: SessionOptions = {
      store: {
        ...store,
        read: key => call(() => store.read(key)),
        write: (...written) => call(() => store.write(...written)),
        create: (...written) => call(() => store.create(...written)),
        replace: (...written) => call(() => store.replace(...written)),
        async *list(prefix) {
          yield* await call(() => Array.fromAsync(store.list(prefix)))
        },
      },
      holder: randomUUID(),
      policy: { ...defaultPolicy.remediation, ...options.policy },
      stop: options.stop ?? never,
      end: options.end ?? never,
      ...(options.onWait && { onWait: options.onWait }),
      ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
      effects: {
        clock: {
          ...clock,
          sleep: (delayMs, signal) =>
            isDead ? Promise.reject(new Died()) : clock.sleep(delayMs, signal),
        },
        send: (one, action, onSent) => call(() => this.#send(one, action, onSent)),
        before: steps =>
          call(async () => ({
            reasons: this.reasons,
            nodes: this.nodeReasons,
            later: new Set(),
            unasked: this.unasked,
            readyPods: new Map(steps.map(one => [stepKey(one), ['shop/web']])),
          })),
        verify: nodes =>
          call(
            async () => new Map(nodes.map(({ step: one }) => [stepKey(one), this.#verify(one)])),
          ),
        verifyBack: steps =>
          call(async () => new Map(steps.map(one => [stepKey(one), this.#verifyBack(one)]))),
        imageUse: steps =>
          call(async () => new Map(steps.map(one => [stepKey(one), this.#imageUse(one)]))),
        isGone: one => call(async () => !this.nodes.has(stepKey(one))),
        present: steps =>
          call(async () =>
            steps.flatMap(one => {
              const node = this.nodes.get(stepKey(one))
              const { cluster, instanceId } = one
              return node === undefined
                ? []
                : [
                    {
                      cluster,
                      node: one.node,
                      instanceId,
                      sha256: node.sha256,
                      kubeletStartedAt: null,
                      objection: node.objection,
                    },
                  ]
            }),
          ),
        identityOf: cluster => call(async () => this.identities.get(cluster) ?? cluster),
        ...options.effects,
      },
    }
    return { session }
  }

  #verify(one: PlanStep): Verification {
    const node = this.nodes.get(stepKey(one))
    if (node === undefined) return { state: 'not-yet', why: 'the node is gone' }
    if (node.nature === 'wrong') return { state: 'wrong', why: 'imageGCHighThresholdPercent is 85' }
    if (node.nature === 'down')
      return { state: 'not-yet', why: 'what its kubelet runs with was not read' }
    return node.sha256 === newSha256
      ? { state: 'verified' }
      : { state: 'not-yet', why: 'imageGCHighThresholdPercent is 85' }
  }

  #verifyBack(one: PlanStep): Verification {
    const node = this.nodes.get(stepKey(one))
    const isBack = node?.sha256 === oldSha256 && node.nature !== 'stays'
    return isBack
      ? { state: 'verified' }
      : { state: 'not-yet', why: 'imageGCHighThresholdPercent is not what it was: 70' }
  }

  #imageUse(one: PlanStep): ImageUse {
    const node = this.nodes.get(stepKey(one))
    if (node === undefined) throw new Error('the node is gone')
    if (node.sha256 === newSha256 && node.nature !== 'full') node.usedPercent -= 10
    return { usedPercent: node.usedPercent, usedBytes: node.usedPercent * 2 ** 30 }
  }

  async #send(
    one: PlanStep,
    action: ApplyAnswer['action'],
    onSent: (commandId: string) => void,
  ): Promise<CommandResult> {
    const node = this.nodes.get(stepKey(one))
    if (this.fault !== null) return { kind: 'unsent', why: this.fault, isCommon: true }
    if (node === undefined || node.nature === 'away')
      return { kind: 'unsent', why: 'SSM does not know the instance', isCommon: false }
    this.commands.push(`${action} ${one.node}`)
    onSent(`command-${this.commands.length}`)
    const answer = this.#script(node, action)
    if (node.nature === 'replaced') this.nodes.delete(stepKey(one))
    if (['silent', 'replaced'].includes(node.nature) || node.lose > 0) {
      node.lose -= 1
      return {
        kind: 'unknown',
        why: 'SSM: the command could not be delivered in time',
        isRefused: false,
      }
    }
    return { kind: 'answer', answer }
  }

  /** As change.sh does. */
  #script(node: PretendNode, action: ApplyAnswer['action']): ApplyAnswer {
    const answer = (
      outcome: ApplyAnswer['outcome'],
      reason: string | null = null,
    ): ApplyAnswer => ({
      run: this.plan.id,
      action,
      instanceId: node.step.instanceId,
      outcome,
      reason,
      oldSha256,
      newSha256,
      presentSha256: node.sha256,
      kubelet: { active: true, startedAtBefore: null, startedAtAfter: null, healthz: 'ok' },
      steps: [],
    })
    const swap = (to: string, phase: PretendNode['phase']) => {
      Object.assign(node, { sha256: to, phase, swaps: node.swaps + 1 })
    }
    if (action === 'rollback' && node.nature === 'breaks back') {
      Object.assign(node, { sha256: oldSha256, phase: 'broken' })
      return answer('broken', 'with what was there before it is not well')
    }
    if (action === 'rollback') {
      if (node.nature === 'breaks' && node.phase === 'broken')
        return answer('broken', 'with what was there before it is not well either')
      if (node.phase === 'applied' || node.phase === 'broken') {
        swap(oldSha256, 'rolled-back')
        return answer('restored')
      }
      if (node.phase !== '') return answer('unchanged')
      if (node.sha256 === newSha256)
        return answer(
          'refused',
          'what this run was to write is there, and nothing is kept of what was there before',
        )
      node.phase = 'rolled-back'
      return answer('unchanged', 'this run changed nothing on this node')
    }
    if (node.phase === 'applied')
      return node.sha256 === newSha256
        ? answer('unchanged')
        : answer('refused', 'what this run wrote is not there any more')
    if (node.phase === 'restored') return answer('restored', 'this run was taken back before')
    if (node.phase === 'rolled-back') return answer('refused', 'this run was rolled back before')
    if (node.phase === 'broken')
      return answer('broken', 'with what was there before it is not well either')
    if (node.sha256 === newSha256)
      return answer('unchanged', 'this run changed nothing: it was there already')
    if (node.sha256 !== oldSha256 || node.nature === 'refuses')
      return answer('refused', 'what is there is not what the plan was made for')
    swap(newSha256, 'applied')
    if (node.nature === 'breaks') node.phase = 'broken'
    if (node.nature === 'breaks')
      return answer('broken', 'with what was there before it is not well either')
    if (node.nature !== 'puts back') return answer('applied')
    swap(oldSha256, 'restored')
    return answer('restored', 'the kubelet does not stay: it exits soon after each start')
  }
}

/** As a bucket with conditional writes. */
export function memoryStore(): Store {
  const objects = new Map<string, { body: Buffer; version: string }>()
  let versions = 0
  const put = (key: string, body: Buffer | string) =>
    void objects.set(key, { body: Buffer.from(body), version: String(++versions) })
  return {
    location: 's3://bucket',
    read: async key => objects.get(key) ?? null,
    write: async (key, body) => put(key, body),
    async create(key, body) {
      if (objects.has(key)) return false
      put(key, body)
      return true
    },
    async replace(key, body, version) {
      if (objects.get(key)?.version !== version) return false
      put(key, body)
      return true
    },
    writeFile: () => Promise.reject(new Error('nobody does that here')),
    wasWritten: async key => objects.has(key),
    async *list(prefix) {
      yield* [...objects.keys()].filter(key => key.startsWith(prefix)).sort()
    },
  }
}
