/** Runs a document on instances by SSM Run Command, many instances per command. Each caller gets its instance's output, or an error with the reason. */

import { messageOf } from '#base/operator-error.ts'
import { ReadFailed, RequestFailure } from '#clients/failure.ts'
import { sleep } from '#clients/pace.ts'
import { isAgentTooOld } from '#facts/aws/agent-versions.ts'
import { commandInstancesMax } from '#facts/aws/limits.ts'
import {
  type Command,
  type InvocationOutput,
  type ManagedInstance,
  namesUnknownInstance,
  type PinnedDocument,
  type SsmApi,
} from './ssm.ts'

/** Requirements for an SSM agent to receive a command. */
export interface Reach {
  /** Maximum age of an agent's last ping, in ms. SSM may show an agent as Online after it is gone. */
  silentAfterMs: number
  /** Oldest agent version that can run the document. */
  agentVersion: string
}

/** An agent reports every 5 minutes. Source: Systems Manager user guide, SSM Agent health. */
export const agentSilentAfterMs = 15 * 60_000
/** Concurrent SSM calls in one account and region. */
export const ssmAtOnce = 5

const pollMs = 2000
/** Minimum number of polls within a time limit: a short limit polls more often. */
const leastPolls = 40

/** Intervals for gathering requests and for polling, if a node has `timeoutMs`. */
export const commandTimings = (
  timeoutMs: number,
  gatherMs: number,
): Pick<RunCommandOptions, 'gatherMs' | 'pollMs'> => ({
  gatherMs: Math.min(gatherMs, timeoutMs / leastPolls),
  pollMs: Math.min(pollMs, timeoutMs / leastPolls),
})

export interface RunCommandOptions
  extends Pick<Command, 'document' | 'parameters' | 'comment' | 'output'> {
  /** Name of the only step in the document. */
  stepName: string
  /** Time limit per instance: delivery, run and answer. */
  timeoutMs: number
  reach: Reach
  /** An incomplete batch is sent when this time has passed since its last request and no output is being read. */
  gatherMs: number
  pollMs: number
  signal: AbortSignal
}

export interface CommandAnswer extends InvocationOutput {
  commandId: string
}

/** No command was sent to the instance. After any other error a command may run or may have run. */
export class NotSent extends ReadFailed {
  /** The reason lies in the account or in SSM, not in this instance. */
  readonly isCommon: boolean

  constructor(
    message: string,
    {
      isCommon = false,
      reason = null,
      ...options
    }: ErrorOptions & { isCommon?: boolean; reason?: ReadFailed['reason'] } = {},
  ) {
    super(reason, message, options)
    this.isCommon = isCommon
  }
}

interface PendingCommand {
  instanceId: string
  onSent?: (commandId: string) => void
  resolve(answer: CommandAnswer): void
  reject(error: Error): void
}

export class RunCommand {
  readonly #ssm: SsmApi
  readonly #options: RunCommandOptions
  #waiting: PendingCommand[] = []
  #outputsUnderWay = 0
  #timer: NodeJS.Timeout | null = null

  constructor(ssm: SsmApi, options: RunCommandOptions) {
    this.#ssm = ssm
    this.#options = options
  }

  /**
   * @param onSent called when the command is sent, before the answer
   * @throws NotSent; Error with the reason why the instance has not answered; the signal's reason
   */
  ask(instanceId: string, onSent?: (commandId: string) => void): Promise<CommandAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ instanceId, onSent, resolve, reject })
      if (this.#waiting.length >= commandInstancesMax) this.#flush()
      // Requests arrive in quick succession, so only an incomplete batch waits for the timer.
      else
        this.#timer =
          this.#timer?.refresh() ?? setTimeout(() => this.#flushWhenIdle(), this.#options.gatherMs)
    })
  }

  /** A caller requests its next node after each output. While outputs are read, requests join one batch instead of becoming commands of their own. */
  #flushWhenIdle() {
    if (this.#outputsUnderWay > 0) this.#timer?.refresh()
    else this.#flush()
  }

  #flush() {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const batch = this.#waiting
    this.#waiting = []
    void rejectOnError(batch, this.#run(batch))
  }

  async #run(batch: PendingCommand[]) {
    await this.#sendTogether(await asNotSent(this.#reachableOf(batch)))
  }

  /**
   * If an instance has disappeared since it was listed, SSM refuses the whole command and does not name the instance. The instances are
   * listed again. If the list is unchanged, the command is divided in halves.
   */
  async #sendTogether(batch: PendingCommand[], isListedAgain = false) {
    if (batch.length === 0) return
    const commandId = await this.#send(batch)
    if (commandId !== null) {
      for (const { onSent } of batch) onSent?.(commandId)
      return this.#awaitAnswers(commandId, batch)
    }
    const known = isListedAgain ? batch : await asNotSent(this.#reachableOf(batch))
    const half = Math.ceil(known.length / 2)
    const parts = known.length < batch.length ? [known] : [known.slice(0, half), known.slice(half)]
    await Promise.all(parts.map(part => rejectOnError(part, this.#sendTogether(part, true))))
  }

  /** Returns the command's id; null: SSM does not know one of several instances. */
  async #send(batch: PendingCommand[]) {
    const { signal, document, parameters, comment, output, timeoutMs } = this.#options
    const instanceIds = batch.map(({ instanceId }) => instanceId)
    const deliveryTimeoutSeconds = Math.max(leastDeliverySeconds, Math.ceil(timeoutMs / 2000))
    try {
      return await this.#ssm.send(
        { document, instanceIds, parameters, comment, deliveryTimeoutSeconds, output },
        signal,
      )
    } catch (error) {
      if (batch.length > 1 && namesUnknownInstance(error)) return null
      // A refused command was not sent. After a broken connection it may have been sent.
      throw wasRefused(error)
        ? new NotSent(error.message, { cause: error, isCommon: !namesUnknownInstance(error) })
        : error
    }
  }

  /** Drops unreachable instances. One unknown instance makes SSM refuse the whole command. */
  async #reachableOf(batch: PendingCommand[]) {
    this.#options.signal.throwIfAborted()
    const known = await this.#ssm.instances(
      [...new Set(batch.map(({ instanceId }) => instanceId))],
      this.#options.signal,
    )
    const byId = new Map(known.map(instance => [instance.instanceId, instance]))
    const found = new Map<string, PendingCommand>()
    for (const pending of batch) {
      const why = whyNotReachable(
        byId.get(pending.instanceId),
        this.#ssm.region,
        this.#options.reach,
      )
      if (why !== null) pending.reject(new NotSent(why, { reason: 'agent-lost' }))
      else if (found.has(pending.instanceId))
        pending.reject(
          new NotSent(`another node of this run has the same instance ${pending.instanceId}`),
        )
      else found.set(pending.instanceId, pending)
    }
    return [...found.values()]
  }

  async #awaitAnswers(commandId: string, batch: PendingCommand[]) {
    const { signal, timeoutMs, pollMs } = this.#options
    const open = new Map(batch.map(pending => [pending.instanceId, pending]))
    const last = new Map<string, string>()
    const endMs = performance.now() + timeoutMs
    const outputs: Promise<void>[] = []
    while (open.size > 0 && performance.now() < endMs) {
      await sleep(pollMs, signal)
      for (const { instanceId, status, statusDetails } of await this.#ssm.invocations(
        commandId,
        signal,
      )) {
        const pending = open.get(instanceId)
        if (!pending) continue
        last.set(instanceId, statusDetails || status)
        if (!ended.has(status)) continue
        open.delete(instanceId)
        const why = whyNotAnswered(status, statusDetails)
        // A script that failed still has output. In any other failure no script ran.
        if (
          why === undefined ||
          (status === 'Failed' && (statusDetails === 'Failed' || statusDetails === ''))
        )
          outputs.push(this.#settleOutput(commandId, pending))
        else pending.reject(new Error(`SSM: ${why}`))
      }
    }
    for (const [instanceId, { reject }] of open) {
      const status = last.get(instanceId) ?? 'Pending'
      reject(new Error(`SSM: ${whyNotAnswered(status, status) ?? status} (${timeoutMs / 1000} s)`))
    }
    await Promise.all(outputs)
  }

  async #settleOutput(commandId: string, { instanceId, resolve, reject }: PendingCommand) {
    this.#outputsUnderWay++
    try {
      const output = await this.#ssm.output(
        commandId,
        instanceId,
        this.#options.stepName,
        this.#options.signal,
      )
      resolve({ ...output, commandId })
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#outputsUnderWay--
    }
  }
}

/** Rejects the waiting callers of a batch. A caller that already has an answer keeps it. */
const rejectOnError = (batch: PendingCommand[], run: Promise<void>) =>
  run.catch((error: Error) => {
    for (const { reject } of batch) reject(error)
  })

async function asNotSent<T>(request: Promise<T>) {
  try {
    return await request
  } catch (error) {
    throw new NotSent(messageOf(error), { cause: error, isCommon: true })
  }
}

const wasRefused = (error: unknown): error is RequestFailure =>
  error instanceof RequestFailure &&
  error.status !== null &&
  error.status >= 400 &&
  error.status < 500

/** The default version of a document in the account, if its hash matches. @throws Error */
export async function pinnedDocument(
  ssm: SsmApi,
  name: string,
  sha256: string,
  signal: AbortSignal,
): Promise<PinnedDocument> {
  const found = await ssm.document(name, signal)
  if (!found)
    throw new Error(
      `the account has no SSM document ${name} in ${ssm.region}: deploy the stack there`,
    )
  if (found.sha256 !== sha256)
    throw new Error(
      `the account's ${name} in ${ssm.region} is not the one of this version: deploy the stack again`,
    )
  return { name, version: found.version, sha256 }
}

/** Source: SSM API reference, SendCommand TimeoutSeconds. */
const leastDeliverySeconds = 30

/** Why no command can be sent to the instance; null: one can be sent. */
export function whyNotReachable(
  instance: ManagedInstance | undefined,
  region: string,
  { silentAfterMs, agentVersion }: Reach,
): string | null {
  if (!instance)
    return `SSM does not know the instance in ${region}: its agent is not running, its role lacks AmazonSSMManagedInstanceCore, or it cannot reach SSM's endpoints`
  if (instance.pingStatus !== 'Online')
    return `SSM has lost the connection to its agent (${instance.pingStatus}, last heard ${instance.lastPingAt ?? 'never'})`
  if (instance.platformType !== 'Linux')
    return `SSM knows it as ${instance.platformType || 'an unknown platform'}: the document runs on Linux only`
  if (isAgentTooOld(instance.agentVersion, agentVersion))
    return `its agent ${instance.agentVersion.slice(0, 40)} is too old to run the document: it needs ${agentVersion} or later`
  const silentMs = instance.lastPingAt === null ? 0 : Date.now() - Date.parse(instance.lastPingAt)
  return silentMs > silentAfterMs
    ? `its agent was last heard ${Math.round(silentMs / 60_000)} min ago, though SSM calls it Online`
    : null
}

/*
 * The status of a command on one instance, as SSM reports it.
 * Source: Systems Manager user guide, Understanding command statuses; SSM API reference, CommandInvocation StatusDetails.
 */

/** Final statuses: SSM will not change them. */
const ended = new Set(['Success', 'Failed', 'TimedOut', 'Cancelled'])

/** By `StatusDetails` without spaces, because the API writes them with and without. */
const meanings: Readonly<Record<string, string>> = {
  Pending: 'the command still waited to be delivered when the time was up',
  InProgress: 'the script still ran when the time was up',
  Delayed: 'the agent did not take the command in time; SSM still tried when the time was up',
  DeliveryTimedOut: 'the command could not be delivered in time: the agent does not answer',
  ExecutionTimedOut: 'the script took longer than it may, and was stopped',
  TimedOut: 'the command ran out of time',
  Failed: 'the script failed',
  Cancelled: 'the command was cancelled in SSM before it ended',
  Cancelling: 'the command was being cancelled in SSM',
  Undeliverable:
    'the command cannot be delivered: the instance is gone, or its agent does not answer',
  Terminated: 'SSM ended the command because too many other instances of it had failed',
  AccessDenied: "the instance's role does not allow its agent to run the document",
  InvalidPlatform: "the document does not run on the instance's platform",
  NoInstancesInTag: 'no instance was found for the command',
  LimitExceeded:
    "the account's limit of commands for one instance is reached: others are still waiting",
  Incomplete: 'the command ended before its script did',
  RateExceeded: "the account's limit of commands a second is reached",
}

function whyNotAnswered(status: string, statusDetails: string) {
  if (status === 'Success') return undefined
  const key = statusDetails.replaceAll(' ', '') || status
  return Object.hasOwn(meanings, key)
    ? meanings[key]
    : `SSM gives it a status that is not known here (${statusDetails.slice(0, 50)})`
}
