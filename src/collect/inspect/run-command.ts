/** Asks instances through SSM Run Command, many at once: who asks for one gets its output, or an error that says why there is none. */

import { sleep } from '#clients/pace.ts'
import type { InvocationOutput, ManagedInstance, PinnedDocument, SsmApi } from '#clients/ssm.ts'
import { hasEnded, whyNotAnswered } from '#facts/aws/command-status.ts'
import { commandInstancesMax } from '#facts/aws/limits.ts'

export interface RunCommandOptions {
  document: PinnedDocument
  /** The name of the document's one step. */
  stepName: string
  parameters: Readonly<Record<string, string>>
  comment: string
  /** Where agents put what is longer than SSM keeps; null: nowhere. */
  output: { bucket: string; prefix: string } | null
  /** Everything that one instance may take: to be reached, to run, to answer. */
  timeoutMs: number
  /** "Online" is a memory of SSM's: an agent that was not heard for longer is not asked. */
  silentAfterMs: number
  /** What is asked for goes out together, with no longer than this between one and the next. */
  gatherMs: number
  pollMs: number
  signal: AbortSignal
}

export interface CommandAnswer extends InvocationOutput {
  commandId: string
}

interface Asked {
  instanceId: string
  resolve(answer: CommandAnswer): void
  reject(error: Error): void
}

export class RunCommand {
  readonly #ssm: SsmApi
  readonly #options: RunCommandOptions
  #waiting: Asked[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(ssm: SsmApi, options: RunCommandOptions) {
    this.#ssm = ssm
    this.#options = options
  }

  /** @throws Error that says in words why the instance has not answered, or the signal's reason */
  ask(instanceId: string): Promise<CommandAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ instanceId, resolve, reject })
      if (this.#waiting.length >= commandInstancesMax) this.#flush()
      // Nodes come one by one as others are done with: a batch is full before long, and only the last ones wait.
      else this.#timer = this.#timer?.refresh() ?? setTimeout(() => this.#flush(), this.#options.gatherMs)
    })
  }

  #flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const batch = this.#waiting
    this.#waiting = []
    this.#run(batch).catch((error: Error) => {
      // Whoever has been answered already does not hear it.
      for (const { reject } of batch) reject(error)
    })
  }

  async #run(batch: Asked[]): Promise<void> {
    const { signal, document, parameters, comment, output, timeoutMs } = this.#options
    signal.throwIfAborted()
    const reachable = await this.#reachable(batch)
    if (reachable.length === 0) return
    const instanceIds = reachable.map(({ instanceId }) => instanceId)
    const deliveryTimeoutSeconds = Math.max(leastDeliverySeconds, Math.ceil(timeoutMs / 2000))
    const command = { document, instanceIds, parameters, comment, deliveryTimeoutSeconds, output }
    await this.#answers(await this.#ssm.send(command, signal), reachable)
  }

  /** One instance that SSM does not know would refuse the whole command. */
  async #reachable(batch: Asked[]): Promise<Asked[]> {
    const known = await this.#ssm.instances([...new Set(batch.map(({ instanceId }) => instanceId))], this.#options.signal)
    const byId = new Map(known.map(instance => [instance.instanceId, instance]))
    const found = new Map<string, Asked>()
    for (const asked of batch) {
      const why = whyNotReachable(byId.get(asked.instanceId), this.#ssm.region, this.#options.silentAfterMs)
      if (why !== null) asked.reject(new Error(why))
      else if (found.has(asked.instanceId)) asked.reject(new Error(`another node of this run has the instance ${asked.instanceId}, too`))
      else found.set(asked.instanceId, asked)
    }
    return [...found.values()]
  }

  async #answers(commandId: string, batch: Asked[]): Promise<void> {
    const { signal, timeoutMs, pollMs } = this.#options
    const open = new Map(batch.map(asked => [asked.instanceId, asked]))
    const last = new Map<string, string>()
    const endMs = performance.now() + timeoutMs
    const outputs: Promise<void>[] = []
    while (open.size > 0 && performance.now() < endMs) {
      await sleep(pollMs, signal)
      for (const { instanceId, status, statusDetails } of await this.#ssm.invocations(commandId, signal)) {
        const asked = open.get(instanceId)
        if (asked === undefined) continue
        last.set(instanceId, statusDetails || status)
        if (!hasEnded(status)) continue
        open.delete(instanceId)
        const why = whyNotAnswered(status, statusDetails)
        // A script that failed has still said something.
        if (why === undefined || status === 'Failed') outputs.push(this.#output(commandId, asked))
        else asked.reject(new Error(`SSM: ${why}`))
      }
    }
    for (const [instanceId, { reject }] of open) {
      const status = last.get(instanceId) ?? 'Pending'
      reject(new Error(`SSM: ${whyNotAnswered(status, status) ?? status} (${timeoutMs / 1000} s)`))
    }
    await Promise.all(outputs)
  }

  async #output(commandId: string, { instanceId, resolve, reject }: Asked): Promise<void> {
    try {
      const output = await this.#ssm.output(commandId, instanceId, this.#options.stepName, this.#options.signal)
      resolve({ ...output, commandId })
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/** Source: SSM API reference, SendCommand TimeoutSeconds. */
const leastDeliverySeconds = 30

function whyNotReachable(instance: ManagedInstance | undefined, region: string, silentAfterMs: number): string | null {
  if (instance === undefined)
    return `SSM does not know the instance in ${region}: its agent is not running, its role lacks AmazonSSMManagedInstanceCore, or it cannot reach SSM's endpoints`
  if (instance.pingStatus !== 'Online')
    return `SSM has lost the connection to its agent (${instance.pingStatus}, last heard ${instance.lastPingAt ?? 'never'})`
  if (instance.platformType !== 'Linux')
    return `SSM knows it as ${instance.platformType || 'an unknown platform'}: the probe runs on Linux only`
  const silentMs = instance.lastPingAt === null ? 0 : Date.now() - Date.parse(instance.lastPingAt)
  return silentMs > silentAfterMs ? `its agent was last heard ${Math.round(silentMs / 60_000)} min ago, though SSM calls it Online` : null
}
