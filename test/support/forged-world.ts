/** A bucket with the plans, approvals and runs of several days, a fleet that they are about, and every version of every object that was written. */
import type { Store } from '#clients/store/store.ts'
import type { ApplyAnswer, Plan, RemediationAnswer, RemediationRequest } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { answerRequest, noteRefusals, serviceOf } from '#pipeline/remediation/run/service.ts'
import { parsePolicy } from '#policy/parse.ts'
import { digestOf, sha256 } from '#remediate/plan/canonical.ts'
import { approvePolicy, keepPolicyApproval } from '#remediate/plan/policy-approval.ts'
import { keepApproval, keepPlan } from '#remediate/plan/store.ts'
import type { SessionOptions } from '#remediate/run/session.ts'
import { type SealKeys, sealedStore, type Unsealed } from '#remediate/seal.ts'
import { parseSettings } from '#settings.ts'
import { approvalOf, oldSha256, planOf, pruningPlanOf } from './remediation-world.ts'
import { ada, memoryKeys } from './seals.ts'
import { VirtualTime } from './virtual-time.ts'

/** Approves by itself on Monday night: `toMonday`. */
export const policyText = `${JSON.stringify({
  remediation: {
    pauseMs: 0,
    auto: {
      ...{ fields: ['imageGCHighThresholdPercent'], clusters: ['prod'], nodesPerDay: 100 },
      windows: [{ days: ['mon'], from: '01:00', to: '02:00', timezone: 'UTC' }],
    },
  },
})}\n`

/** One node, as the scripts leave it. */
interface ForgedNode {
  sha256: string
  /** By run, as its own script noted there. */
  phases: Map<string, 'applied' | 'rolled-back'>
}

export interface Sent {
  action: 'check' | 'apply' | 'rollback'
  run: string
  node: string
  newSha256: string
  content: string
  /** Whether the node showed, before, that this run began there. */
  hasBegun: boolean
  atMs: number
}

const parsed = new Map<string, () => Policy>()

/** Most draws have the same policy, or the same text that is none. */
function parsedOnce(text: string, file: string): Policy {
  const found = parsed.get(text) ?? parsedPolicy(text, file)
  parsed.set(text, found)
  return found()
}

function parsedPolicy(text: string, file: string): () => Policy {
  try {
    const policy = parsePolicy(text, file, policyTerms)
    return () => policy
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Draws share most bodies. */
const versionsOf = new WeakMap<Buffer, string>()

function versionOf(body: Buffer): string {
  const version = versionsOf.get(body) ?? sha256(body.toString('latin1'))
  versionsOf.set(body, version)
  return version
}

export type Objects = Map<string, Buffer>

/** A plan of three nodes, in waves of one and two. @param nodes what the names of its nodes begin with */
export function planFor(nodes: string, highPercent: number, more: object = {}): Plan {
  const { id: _id, digest: _digest, ...plan } = planOf([1, 2])
  const content = `${JSON.stringify({ imageGCHighThresholdPercent: highPercent, ...more })}\n`
  const renamed = (name: string) => name.replace('ip-', `${nodes}-`)
  const body = {
    ...plan,
    cohorts: plan.cohorts.map(one => ({
      ...one,
      fields: { imageGCHighThresholdPercent: highPercent },
    })),
    steps: plan.steps.map(step => ({
      ...step,
      node: renamed(step.node),
      content,
      newSha256: sha256(content),
      expect: [{ field: 'imageGCHighThresholdPercent', value: highPercent }],
    })),
    waves: plan.waves.map(wave => wave.map(renamed)),
  }
  const digest = digestOf(body)
  return { ...body, id: digest.slice(0, 16), digest }
}

/** The same, for a while only: the run itself takes it back. */
export function passingPlanFor(nodes: string): Plan {
  const { id: _id, digest: _digest, ...plan } = pruningPlanOf([1, 2])
  const renamed = (name: string) => name.replace('ip-', `${nodes}-`)
  const body = {
    ...plan,
    steps: plan.steps.map(step => ({ ...step, node: renamed(step.node) })),
    waves: plan.waves.map(wave => wave.map(renamed)),
  }
  const digest = digestOf(body)
  return { ...body, id: digest.slice(0, 16), digest }
}

export class ForgedWorld {
  readonly time = new VirtualTime()
  readonly sent: Sent[] = []

  /** Runs that are paused after their first node. */
  readonly held = new Set<string>()
  readonly objects: Objects
  readonly versions: Map<string, Buffer[]>
  /** Every write, in order. */
  readonly writes: { key: string; body: Buffer }[] = []
  /** Nodes whose changes are never seen to be well. */
  readonly unwell = new Set<string>()
  readonly nodes: Map<string, ForgedNode>
  /** What the fleet comes to now. */
  readonly planNow = planFor('auto', 80)
  readonly store: Store
  readonly #keys: SealKeys

  constructor(
    plans: readonly Plan[],
    { objects = new Map(), versions = new Map(), nodes, keys = memoryKeys }: Partial<Start> = {},
  ) {
    this.objects = new Map(objects)
    this.versions = new Map(versions)
    this.nodes = new Map(
      plans
        .flatMap(({ steps }) => steps)
        .map(({ node }) => {
          const before = nodes?.get(node)
          return [
            node,
            { sha256: before?.sha256 ?? oldSha256, phases: new Map(before?.phases ?? []) },
          ]
        }),
    )
    this.store = this.#bucket()
    this.#keys = keys
  }

  /** What the function answers to an event; an error where it fails. */
  async answer(request: RemediationRequest): Promise<RemediationAnswer | Error> {
    const never = new AbortController().signal
    const clock = this.time.clock()
    const work = async (onUnsealed: (error: Unsealed) => void) =>
      answerRequest(
        request,
        await serviceOf(
          {
            store: sealedStore(this.store, this.#keys.runs, onUnsealed),
            ...{ keys: this.#keys, onUnsealed },
            runtime: {
              now: () => clock.now(),
              folder: '/nowhere',
              version: '0',
              parsePolicy: parsedOnce,
            },
            policyGrants: parseSettings({}).policyGrants,
            ...{ readUntil: never, stop: never, end: never },
            effects: run => this.#effects(run),
            planFleet: async () => ({ plan: this.planNow, inputErrors: [], unread: 0 }),
          },
          request.action,
        ),
      )
    const noted = noteRefusals(this.store, () => clock.now(), work)
    return this.time.pass(noted).catch((error: unknown) => {
      if (error instanceof TypeError || error instanceof RangeError) throw error
      return error instanceof Error ? error : new Error(String(error))
    })
  }

  async keep(plan: Plan, approval: Partial<ReturnType<typeof approvalOf>> | null): Promise<void> {
    await keepPlan(this.store, plan)
    const key = approval?.by === 'policy' ? this.#keys.runs : this.#keys.approvals
    if (approval !== null) await keepApproval(this.store, approvalOf(plan, approval), key)
  }

  async approvePolicy(text: string): Promise<void> {
    await this.store.write('highwater.yaml', text, 'application/yaml')
    const approval = approvePolicy(text, {
      ...{ by: 'Ada Lovelace', identity: ada },
      ...{ at: '2026-11-20T00:00:00Z', until: '2027-01-01T00:00:00Z' },
    })
    await keepPolicyApproval(this.store, approval, this.#keys.approvals)
  }

  /** From the Saturday on which all else happens into the window of the policy. */
  async toMonday(): Promise<void> {
    const waitMs = 37.2 * 3_600_000
    await this.time.pass(this.time.clock().sleep(waitMs, new AbortController().signal))
  }

  #effects(run: string): SessionOptions['effects'] {
    const clock = this.time.clock()
    const isNew = ({ node, newSha256 }: Plan['steps'][number]) =>
      this.nodes.get(node)?.sha256 === newSha256
    const keyed = <T>(
      steps: readonly Plan['steps'][number][],
      of: (step: Plan['steps'][number]) => T,
    ) => new Map(steps.map(step => [`${step.cluster}/${step.node}`, of(step)]))
    return {
      clock,
      send: async (step, action, onSent) => {
        onSent('command')
        return { kind: 'answer', answer: this.#script(run, step, action) }
      },
      present: async steps =>
        steps.flatMap(({ cluster, node, instanceId }) => {
          const found = this.nodes.get(node)
          const read = { kubeletStartedAt: null, objection: null }
          return found === undefined
            ? []
            : [{ cluster, node, instanceId, sha256: found.sha256, ...read }]
        }),
      before: async steps => ({
        reasons:
          this.held.has(run) && [...this.nodes.values()].some(one => one.phases.has(run))
            ? ['an alarm']
            : [],
        nodes: new Map(),
        later: new Set(),
        unasked: [],
        readyPods: keyed(steps, () => []),
      }),
      verify: async entries =>
        keyed(
          entries.map(({ step }) => step),
          step =>
            isNew(step) && !this.unwell.has(step.node)
              ? { state: 'verified' }
              : { state: 'wrong', why: 'it is not there' },
        ),
      verifyBack: async steps =>
        keyed(steps, ({ node }) =>
          this.nodes.get(node)?.sha256 === oldSha256 && !this.unwell.has(node)
            ? { state: 'verified' }
            : { state: 'wrong', why: 'it is there still' },
        ),
      imageUse: async steps => keyed(steps, () => ({ usedPercent: 50, usedBytes: 0 })),
      isGone: async ({ node }) => !this.nodes.has(node),
      identityOf: async cluster => cluster,
    }
  }

  /** As change.sh does. */
  #script(
    run: string,
    { node, instanceId, newSha256, content }: Plan['steps'][number],
    action: Sent['action'],
  ): ApplyAnswer {
    const found = this.nodes.get(node)
    if (found === undefined) throw new Error(`there is no node ${node}`)
    const phase = found.phases.get(run)
    const hasBegun = phase !== undefined || found.sha256 === newSha256
    const atMs = this.time.clock().now().getTime()
    this.sent.push({ action, run, node, newSha256, content, hasBegun, atMs })
    const answer = (outcome: ApplyAnswer['outcome'], reason: string | null): ApplyAnswer => ({
      ...{ run, action, instanceId, outcome, reason, oldSha256, newSha256 },
      ...{ presentSha256: found.sha256, kubelet: null, steps: [] },
    })
    if (action === 'rollback') {
      const wasApplied = phase === 'applied'
      if (wasApplied) found.sha256 = oldSha256
      found.phases.set(run, 'rolled-back')
      return answer(wasApplied ? 'restored' : 'unchanged', null)
    }
    if (phase === 'rolled-back') return answer('refused', 'this run was rolled back before')
    if (phase === 'applied') return answer('unchanged', null)
    if (found.sha256 === newSha256) return answer('unchanged', 'it was there already')
    if (found.sha256 !== oldSha256) return answer('refused', 'the file is another')
    found.sha256 = newSha256
    found.phases.set(run, 'applied')
    return answer('applied', null)
  }

  /** As a bucket with conditional writes and versions. */
  #bucket(): Store {
    const { objects, versions, writes } = this
    const put = (key: string, body: Buffer | string) => {
      const bytes = Buffer.from(body)
      objects.set(key, bytes)
      writes.push({ key, body: bytes })
      versions.set(key, [...(versions.get(key) ?? []), bytes])
      return true
    }
    return {
      location: 's3://bucket',
      async read(key) {
        const body = objects.get(key)
        return body === undefined ? null : { body, version: versionOf(body) }
      },
      write: async (key, body) => void put(key, body),
      create: async (key, body) => !objects.has(key) && put(key, body),
      async replace(key, body, version) {
        const present = objects.get(key)
        return present !== undefined && versionOf(present) === version && put(key, body)
      },
      writeFile: () => Promise.reject(new Error('no file is written here')),
      wasWritten: async key => objects.has(key) || versions.has(key),
      async *list(prefix) {
        yield* [...objects.keys()].filter(key => key.startsWith(prefix)).sort()
      },
    }
  }
}

interface Start {
  objects: ReadonlyMap<string, Buffer>
  versions: ReadonlyMap<string, Buffer[]>
  nodes: ReadonlyMap<string, ForgedNode>
  keys: SealKeys
}
