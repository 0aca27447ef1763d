/** Checks the SSM documents and the agents of the nodes. No command is sent. */

import { messageOf } from '#base/operator-error.ts'
import { firstReasons } from '#base/text.ts'
import { whyNotReachable } from '#clients/aws/run-command.ts'
import { type ManagedInstance, type PinnedDocument, SsmApi } from '#clients/aws/ssm.ts'
import { s3Store } from '#clients/store/s3.ts'
import { inspectReach } from '#collect/inspect/inspector.ts'
import type { AwsPlace } from '#discover/discover.ts'
import { applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import {
  type InspectDocument,
  type InspectOutput,
  inspectDocumentHashes,
  inspectTargetOf,
  outputFolder,
} from '#facts/aws/inspect-targets.ts'
import { plural } from '#judge/text.ts'
import type { Check, CheckState } from '#model/checkup.ts'
import type { ReadMode } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { awsRights, hasOutput, type NeededRight } from '#pipeline/access/permissions.ts'
import { callCheck, check, failedCall } from './checks.ts'
import type { NodeAtHand } from './sample.ts'

interface SsmContext {
  ssm: SsmApi
  signal: AbortSignal
  /** Returns the right for an action. The purpose is empty if the mode does not need the right. */
  rightOf(action: string): NeededRight
}

const noPlace = 'the account and region of the instances are unknown: set --region'
const pace = { requestsPerSecond: 5, concurrency: 1 }

export async function ssmChecks(
  nodes: readonly NodeAtHand[] | null,
  mode: ReadMode,
  place: AwsPlace | null,
  inspectOutput: Policy['inspectOutput'],
  signal: AbortSignal,
): Promise<Check[]> {
  if (!hasOutput(mode)) return []
  const rights = awsRights(mode, inspectOutput).filter(({ right }) => /^(ssm|s3):/.test(right))
  if (!place) return rights.map(({ right, purpose }) => check(right, 'unchecked', noPlace, purpose))
  const ssm = new SsmApi(place.region, place.credentials, pace)
  const rightOf = (right: string) =>
    rights.find(needed => needed.right === right) ?? { right, purpose: '' }
  const context = { ssm, signal, rightOf }
  try {
    const targets = (nodes ?? []).map(({ identity }) => ({
      ...inspectTargetOf(identity),
      name: identity.name,
    }))
    const reachable = targets.filter(target => target.isReachable)
    const unreachable = targets.filter(target => !target.isReachable)
    return [
      ...(await documentChecks(context, [
        ...new Set(
          reachable.flatMap(({ document, disksDocument }) =>
            [document, disksDocument ?? []].flat(),
          ),
        ),
      ])),
      ...(await agentChecks(context, reachable)),
      ...[...Map.groupBy(unreachable, ({ reason }) => reason)].map(([reason, all]) =>
        check('SSM agents', 'note', `${plural(all.length, 'node')}: ${reason}`),
      ),
      ...(await answerChecks(context)),
      ...(inspectOutput ? await outputChecks(inspectOutput, place, context) : []),
      sendCheck(context),
    ]
  } finally {
    ssm.close()
  }
}

/** Checks the given documents; without any, the document Highwater-Inspect. */
async function documentChecks(
  { ssm, signal, rightOf }: SsmContext,
  documents: readonly InspectDocument[],
) {
  const needed = rightOf('ssm:DescribeDocument')
  const checks: Check[] = []
  const answered = await callCheck(needed, signal, async () => {
    for (const name of documents.length === 0 ? (['Highwater-Inspect'] as const) : documents) {
      const wanted = { name, sha256: inspectDocumentHashes[name], region: ssm.region, how: '' }
      checks.push(documentCheck(wanted, await ssm.document(name, signal), needed.purpose))
    }
  })
  return [answered, ...checks]
}

interface WantedDocument {
  name: string
  sha256: string
  region: string
  /** How to deploy the stack with this document, for people. */
  how: string
}

export const documentTitle = (name: string) => `document ${name}`

function documentCheck(
  { name, sha256, region, how }: WantedDocument,
  found: PinnedDocument | null,
  purpose: string,
) {
  const what = documentTitle(name)
  if (!found)
    return check(
      what,
      'missing',
      `there is none in ${region}: deploy the stack there${how}`,
      purpose,
    )
  if (found.sha256 === sha256)
    return check(what, 'ok', `version ${found.version} is the one of this highwater`)
  const detail = `version ${found.version} in ${region} is not the one of this highwater: deploy the stack again`
  return check(what, 'failed', detail, purpose)
}

const namedAgents = 5
const noInstance = 'i-00000000000000000'
const lost = 'what only those nodes know'

/** Number of agents that an audit can reach, and the reasons for the others. */
async function agentChecks(
  { ssm, signal, rightOf }: SsmContext,
  reachable: readonly { name: string; instanceId: string }[],
) {
  const ids = reachable.map(({ instanceId }) => instanceId)
  let known: ManagedInstance[] = []
  const answered = await callCheck(rightOf('ssm:DescribeInstanceInformation'), signal, async () => {
    known = await ssm.instances(ids.length === 0 ? [noInstance] : ids, signal)
  })
  if (answered.state !== 'ok') return [answered]
  const agents = (state: CheckState, detail: string) => check('SSM agents', state, detail, lost)
  if (reachable.length === 0)
    return [answered, agents('unchecked', 'there is no node at hand that SSM could reach')]
  const byId = new Map(known.map(instance => [instance.instanceId, instance]))
  const silent = reachable.flatMap(({ name, instanceId }) => {
    const why = whyNotReachable(byId.get(instanceId), ssm.region, inspectReach)
    return why === null ? [] : [`${name} (${instanceId}): ${why}`]
  })
  const summary = `SSM can ask ${reachable.length - silent.length} of ${reachable.length} instances`
  if (silent.length === 0) return [answered, agents('ok', summary)]
  const others = firstReasons(silent, namedAgents)
  const state = silent.length === reachable.length ? 'failed' : 'note'
  return [answered, agents(state, `${summary}. ${others}`)]
}

async function answerChecks({ ssm, signal, rightOf }: SsmContext) {
  const reasons = await ssm.answersUnreadable(signal)
  return ['ssm:ListCommandInvocations', 'ssm:GetCommandInvocation'].map(action =>
    reasons.has(action)
      ? failedCall(rightOf(action), reasons.get(action))
      : check(action, 'ok', 'answered'),
  )
}

const sendCheck = ({ rightOf }: SsmContext) =>
  check(
    'ssm:SendCommand',
    'unchecked',
    'not tried: it would run the document. Check the right with aws iam simulate-principal-policy, or by a first audit',
    rightOf('ssm:SendCommand').purpose,
  )

async function outputChecks(
  output: InspectOutput,
  place: AwsPlace,
  { signal, rightOf }: SsmContext,
) {
  const store = s3Store({ ...place, bucket: output.bucket, prefix: outputFolder(output), signal })
  const reading = rightOf('s3:GetObject')
  const what = `inspectOutput ${store.location}`
  const listed = await callCheck(rightOf('s3:ListBucket'), signal, () =>
    store.list('')[Symbol.asyncIterator]().next(),
  )
  if (listed.state === 'failed') return [check(what, 'failed', listed.detail, reading.purpose)]
  const untried = 'not tried: without s3:ListBucket S3 calls forbidden what is not there'
  if (listed.state !== 'ok')
    return [listed, check(reading.right, 'unchecked', untried, reading.purpose)]
  return [
    listed,
    await callCheck(reading, signal, () => store.read('highwater-doctor')),
    check(
      what,
      'note',
      "it is there; whether the instances' own roles may write there (s3:PutObject) is not tried",
    ),
  ]
}

const notApplied = 'no plan can be applied'

/** Whether the account has the documents that change a node, in the version of this highwater. Nothing is sent. */
export async function applyChecks(place: AwsPlace | null, signal: AbortSignal): Promise<Check[]> {
  const wanted = Object.entries(applyDocumentHashes)
  if (!place)
    return wanted.map(([name]) => check(documentTitle(name), 'unchecked', noPlace, notApplied))
  const { region } = place
  const ssm = new SsmApi(region, place.credentials, pace)
  const checks: Check[] = []
  const how = ' with remediation on'
  try {
    for (const [name, sha256] of wanted) {
      const found = await ssm.document(name, signal)
      checks.push(documentCheck({ name, sha256, region, how }, found, notApplied))
    }
  } catch (error) {
    signal.throwIfAborted()
    checks.push(check('documents that change a node', 'failed', messageOf(error), notApplied))
  } finally {
    ssm.close()
  }
  return checks
}
