/** The only file that changes nodes. It sends steps of an approved plan as parameters of our own documents. */

import { gzipSync } from 'node:zlib'
import { messageOf } from '#base/operator-error.ts'
import { untilItFails } from '#base/until-it-fails.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import {
  agentSilentAfterMs,
  commandTimings,
  NotSent,
  pinnedDocument,
  RunCommand,
  ssmAtOnce,
} from '#clients/aws/run-command.ts'
import { SsmApi } from '#clients/aws/ssm.ts'
import { oneLine } from '#clients/failure.ts'
import { applyAgentVersion, applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import type { ApplyAnswer, PlanStep } from '#model/plan.ts'
import { canonicalJson } from '#remediate/plan/canonical.ts'
import { sourceIn } from '#remediate/remedies/pull-image.ts'
import { type ApplyAction, readApplyAnswer } from './answer.ts'

/** Result of one command to one node. */
export type CommandResult =
  | { kind: 'answer'; answer: ApplyAnswer }
  /** Certainly nothing was sent; `isCommon`: the account or SSM is the cause, so no node there would be sent anything now. */
  | { kind: 'unsent'; why: string; isCommon: boolean }
  /** The node may have carried out the command, or may still do so; `isRefused`: this command was not carried out. */
  | { kind: 'unknown'; why: string; isRefused: boolean }

export interface ApplierOptions {
  region: string
  credentials: CredentialSource
  requestsPerSecond: number
  /** The plan's id, by which the nodes know the run. */
  run: string
  /** A node's own time limit for the change and its rollback together. */
  timeoutSeconds: number
  /** Time limit for a node's answer. */
  answerTimeoutMs: number
  signal: AbortSignal
}

const reach = { silentAfterMs: agentSilentAfterMs, agentVersion: applyAgentVersion }
const gatherMs = 500

/** Sends commands to the nodes of one account and region. */
export class Applier {
  readonly #ssm: SsmApi
  readonly #options: ApplierOptions
  /** Nodes with the same action share a command. */
  readonly #commands = new Map<string, Promise<RunCommand>>()

  constructor(options: ApplierOptions) {
    const { region, credentials, requestsPerSecond } = options
    this.#ssm = new SsmApi(region, credentials, { requestsPerSecond, concurrency: ssmAtOnce })
    this.#options = options
  }

  /** @param onSent called with the command's id before there is an answer */
  async send(
    step: PlanStep,
    action: ApplyAction,
    onSent: (commandId: string) => void,
  ): Promise<CommandResult> {
    const { run } = this.#options
    try {
      const command = await this.#commandOf(step, action)
      const { stdout } = await command.ask(step.instanceId, onSent)
      const read = readApplyAnswer(stdout, step, run, action)
      return read.isKnown
        ? { kind: 'answer', answer: read.answer }
        : { kind: 'unknown', why: read.why, isRefused: read.isRefused }
    } catch (error) {
      const why = oneLine(messageOf(error), 600)
      return error instanceof NotSent
        ? { kind: 'unsent', why, isCommon: error.isCommon }
        : { kind: 'unknown', why, isRefused: false }
    }
  }

  close() {
    this.#ssm.close()
  }

  #commandOf(step: PlanStep, action: ApplyAction) {
    const sent = sendingOf(step, action, this.#options)
    return untilItFails(this.#commands, canonicalJson(sent), () => this.#prepared(sent))
  }

  async #prepared({ document, parameters }: Sending) {
    const { run, answerTimeoutMs, signal } = this.#options
    const pinned = await pinnedDocument(
      this.#ssm,
      document,
      applyDocumentHashes[document],
      signal,
    ).catch(error => {
      throw new NotSent(messageOf(error), { cause: error, isCommon: true })
    })
    return new RunCommand(this.#ssm, {
      document: pinned,
      stepName: stepNames[document],
      parameters,
      output: null,
      reach,
      comment: `highwater: ${parameters.Action}, run ${run}`,
      timeoutMs: answerTimeoutMs,
      ...commandTimings(answerTimeoutMs, gatherMs),
      signal,
    })
  }
}

interface Sending {
  document: keyof typeof applyDocumentHashes
  parameters: Record<string, string>
}

/** The name of the single step in each document. */
const stepNames: Readonly<Record<keyof typeof applyDocumentHashes, string>> = {
  'Highwater-ApplyKubeletConfig': 'apply',
  'Highwater-ApplyBottlerocket': 'apply',
  'Highwater-SyncFile': 'sync',
  'Highwater-PullImage': 'pull',
}

/** Everything that a node is sent for a step. All of it is in the plan. */
function sendingOf(
  step: PlanStep,
  action: ApplyAction,
  { run, timeoutSeconds }: ApplierOptions,
): Sending {
  const { method, path, oldSha256, newSha256, content } = step
  const Content = gzipSync(content).toString('base64')
  const common = { Action: action, Run: run, OldSha256: oldSha256, NewSha256: newSha256, Content }
  const seconds = { TimeoutSeconds: String(timeoutSeconds) }
  switch (method) {
    case 'sync-file':
      return {
        document: 'Highwater-SyncFile',
        parameters: { ...common, Name: path.slice(path.lastIndexOf('/') + 1) },
      }
    case 'bottlerocket':
      return { document: 'Highwater-ApplyBottlerocket', parameters: { ...common, ...seconds } }
    case 'pull-image': {
      const Source = sourceIn(content, path)
      if (Source === null)
        throw new NotSent(`the step for ${path} does not say from where it is pulled`)
      const { Content: _none, ...given } = common
      return { document: 'Highwater-PullImage', parameters: { ...given, Source, Name: path } }
    }
    case 'kubelet-file':
    case 'nodeadm':
    case 'drop-in':
      return {
        document: 'Highwater-ApplyKubeletConfig',
        parameters: { ...common, Method: method, Path: path, ...seconds },
      }
    default:
      // No step is sent by the document of another method.
      throw new NotSent(
        `nothing here carries out the method ${JSON.stringify(method satisfies never)}`,
      )
  }
}
