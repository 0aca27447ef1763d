/** Inspects nodes of one account and region by SSM, with this product's documents only, many nodes at once. */

import { inputLimits } from '#base/limits.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import {
  agentSilentAfterMs,
  type CommandAnswer,
  commandTimings,
  pinnedDocument,
  RunCommand,
  ssmAtOnce,
} from '#clients/aws/run-command.ts'
import { SsmApi } from '#clients/aws/ssm.ts'
import { ReadFailed } from '#clients/failure.ts'
import { sleep } from '#clients/pace.ts'
import { s3Store } from '#clients/store/s3.ts'
import type { Store } from '#clients/store/store.ts'
import { leastAgentVersion } from '#facts/aws/agent-versions.ts'
import {
  type InspectDocument,
  inspectDocumentHashes,
  inspectStep,
  inspectTargetOf,
  outputFolder,
  outputKey,
} from '#facts/aws/inspect-targets.ts'
import { commandOutputMax } from '#facts/aws/limits.ts'
import type { NodeIdentity } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { type InspectAnswer, readAnswer, readWholeAnswer, withDiskUse } from './answer.ts'

/** A region, and the account of the credentials. */
export interface AwsPlace {
  region: string
  credentials: CredentialSource
}

export const inspectReach = { silentAfterMs: agentSilentAfterMs, agentVersion: leastAgentVersion }
const gatherMs = 1500
/** The agent may report success shortly before its output is in S3. */
const storeTries = 4

export class Inspector {
  readonly #ssm: SsmApi
  readonly #policy: Pick<Policy, 'inspectOutput' | 'timeoutsMs'>
  readonly #signal: AbortSignal
  readonly #readsDisks: boolean
  readonly #store: Store | null
  readonly #commands = new Map<InspectDocument, Promise<RunCommand>>()

  /** @param readsDisks whether the use of the disks is measured, too */
  constructor(place: AwsPlace, policy: Policy, signal: AbortSignal, readsDisks: boolean) {
    const { region, credentials } = place
    const { inspectOutput, pace } = policy
    this.#ssm = new SsmApi(region, credentials, {
      requestsPerSecond: pace.ssmRequestsPerSecond,
      concurrency: ssmAtOnce,
    })
    this.#policy = policy
    this.#signal = signal
    this.#readsDisks = readsDisks
    this.#store =
      inspectOutput &&
      s3Store({
        ...inspectOutput,
        prefix: outputFolder(inspectOutput),
        region,
        credentials,
        signal,
        readMaxBytes: inputLimits.inspection.maxBytes,
      })
  }

  /** @throws Error with the reason why this node returned no usable answer */
  async inspect(node: NodeIdentity): Promise<InspectAnswer> {
    const target = inspectTargetOf(node)
    if (!target.isReachable) throw new Error(target.reason)
    const { instanceId, document, disksDocument } = target
    const [answer, disks] = await Promise.all([
      this.#answer(document, instanceId, node.name),
      // Without it the rest of the answer holds.
      this.#readsDisks &&
        disksDocument &&
        this.#answer(disksDocument, instanceId, node.name).catch((error: Error) => error),
    ])
    return disks ? withDiskUse(answer, disks) : answer
  }

  /** @throws Error with the reason why this node returned no usable answer */
  async #answer(document: InspectDocument, instanceId: string, name: string) {
    const command = await this.#commandOf(document)
    const reply = await command.ask(instanceId)
    const short = readAnswer(reply.stdout, instanceId, name)
    const answer =
      short.isKnown || !this.#store
        ? short
        : await this.#wholeAnswer(reply, { instanceId, name }, this.#store)
    if (answer.isKnown) return answer
    const said =
      reply.status === 'Success' ? '' : `; the script failed with exit code ${reply.responseCode}`
    const isCut = reply.stdout.length >= commandOutputMax
    throw new ReadFailed(isCut ? 'cut' : null, `SSM: ${answer.reason}${said}`)
  }

  get #timings() {
    return commandTimings(this.#policy.timeoutsMs.inspect, gatherMs)
  }

  close(): void {
    this.#ssm.close()
  }

  /** Returns the command for a document. Each document is looked up once. */
  #commandOf(document: InspectDocument) {
    const known = this.#commands.get(document) ?? this.#pinned(document)
    this.#commands.set(document, known)
    return known
  }

  async #pinned(name: InspectDocument) {
    const { inspectOutput, timeoutsMs } = this.#policy
    const sha256 = inspectDocumentHashes[name]
    return new RunCommand(this.#ssm, {
      document: await pinnedDocument(this.#ssm, name, sha256, this.#signal),
      stepName: inspectStep,
      parameters: { Output: inspectOutput ? 'full' : 'short' },
      comment: 'highwater: reads the node, changes nothing',
      output: inspectOutput && {
        bucket: inspectOutput.bucket,
        prefix: outputFolder(inspectOutput).replace(/\/$/, ''),
      },
      timeoutMs: timeoutsMs.inspect,
      reach: inspectReach,
      ...this.#timings,
      signal: this.#signal,
    })
  }

  /** Reads an answer too long for SSM from S3, where the instance's role wrote it. @throws Error */
  async #wholeAnswer(
    { commandId, stdout }: CommandAnswer,
    { instanceId, name }: { instanceId: string; name: string },
    store: Store,
  ) {
    const key = outputKey(commandId, instanceId, inspectStep)
    for (let attempt = 1; attempt <= storeTries; attempt++) {
      if (attempt > 1) await sleep(this.#timings.pollMs, this.#signal)
      const object = await store.read(key)
      if (object) return readWholeAnswer(object.body.toString('utf8'), stdout, instanceId, name)
    }
    const isCut = stdout.length >= commandOutputMax
    const what = isCut ? 'what SSM keeps of it is cut off' : 'what it returned to SSM is no answer'
    throw new ReadFailed(
      isCut ? 'cut' : null,
      `SSM: the whole answer is not at ${store.location}/${key}, and ${what}: the instance's role needs s3:PutObject there`,
    )
  }
}
