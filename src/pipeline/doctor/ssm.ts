/** Checks the SSM documents and the agents of the nodes. No command is sent. */
import { whyNotReachable } from '#clients/run-command.ts'
import { s3Store } from '#clients/s3.ts'
import { type PinnedDocument, SsmApi } from '#clients/ssm.ts'
import { inspectReach } from '#collect/inspect/inspector.ts'
import type { AwsPlace } from '#discover/discover.ts'
import { applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import { type InspectDocument, inspectDocumentHashes } from '#facts/aws/inspect-documents.ts'
import { type InspectOutput, outputFolder } from '#facts/aws/inspect-output.ts'
import { inspectTargetOf } from '#facts/aws/inspect-targets.ts'
import type { Check } from '#model/checkup.ts'
import { messageOf } from '#model/error-message.ts'
import type { Policy } from '#model/policy.ts'
import type { ReadMode } from '#model/read-mode.ts'
import { awsRights, hasOutput, type NeededRight } from '#pipeline/access/permissions.ts'
import { check, failedCall } from './checks.ts'
import type { NodeAtHand } from './sample.ts'

interface SsmAsking {
  ssm: SsmApi
  signal: AbortSignal
  needed: ReadonlyMap<string, NeededRight>
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
  if (place === null)
    return rights.map(({ right, purpose }) => check(right, 'unchecked', noPlace, purpose))
  const ssm = new SsmApi(place.region, place.credentials, pace)
  const asking = { ssm, signal, needed: new Map(rights.map(needed => [needed.right, needed])) }
  try {
    const targets = (nodes ?? []).map(({ identity }) => ({
      ...inspectTargetOf(identity),
      name: identity.name,
    }))
    const reachable = targets.flatMap(target => (target.isReachable ? [target] : []))
    const unreachable = targets.flatMap(target => (target.isReachable ? [] : [target.reason]))
    return [
      ...(await documentChecks(asking, [...new Set(reachable.map(({ document }) => document))])),
      ...(await agentChecks(asking, reachable)),
      ...[...Map.groupBy(unreachable, reason => reason)].map(([reason, all]) =>
        check('SSM agents', 'note', `${all.length} node${all.length === 1 ? '' : 's'}: ${reason}`),
      ),
      ...(await answerChecks(asking)),
      ...(inspectOutput === null ? [] : await outputChecks(inspectOutput, place, asking)),
      sendCheck(asking),
    ]
  } finally {
    ssm.close()
  }
}

/** The documents that the nodes at hand take; without a node the usual one. */
async function documentChecks(
  { ssm, signal, needed }: SsmAsking,
  documents: readonly InspectDocument[],
): Promise<Check[]> {
  const right = neededOf(needed, 'ssm:DescribeDocument')
  const checks: Check[] = []
  try {
    for (const name of documents.length === 0 ? (['Highwater-Inspect'] as const) : documents) {
      const wanted = { name, sha256: inspectDocumentHashes[name], where: ssm.region, how: '' }
      checks.push(documentCheck(wanted, await ssm.document(name, signal), right.purpose))
    }
    return [check(right.right, 'ok', 'answered'), ...checks]
  } catch (error) {
    signal.throwIfAborted()
    return [failedCall(right, error), ...checks]
  }
}

interface WantedDocument {
  name: string
  sha256: string
  /** The region. */
  where: string
  /** How the stack is deployed to have it. */
  how: string
}

function documentCheck(
  { name, sha256, where, how }: WantedDocument,
  found: PinnedDocument | null,
  purpose: string,
): Check {
  const what = `document ${name}`
  if (found === null)
    return check(
      what,
      'missing',
      `there is none in ${where}: deploy the stack there${how}`,
      purpose,
    )
  return found.sha256 === sha256
    ? check(what, 'ok', `version ${found.version} is the one of this highwater`)
    : check(
        what,
        'failed',
        `version ${found.version} in ${where} is not the one of this highwater: deploy the stack again`,
        purpose,
      )
}

interface Reachable {
  name: string
  instanceId: string
}

const namedAgents = 5

/** Number of agents that an audit can reach, and the reasons for the others. */
async function agentChecks(
  { ssm, signal, needed }: SsmAsking,
  reachable: readonly Reachable[],
): Promise<Check[]> {
  const right = neededOf(needed, 'ssm:DescribeInstanceInformation')
  try {
    const known = await ssm.instances(
      reachable.length === 0 ? [noInstance] : reachable.map(({ instanceId }) => instanceId),
      signal,
    )
    const answered = check(right.right, 'ok', 'answered')
    if (reachable.length === 0)
      return [
        answered,
        check('SSM agents', 'unchecked', 'there is no node at hand that SSM could reach', lost),
      ]
    const byId = new Map(known.map(instance => [instance.instanceId, instance]))
    const silent = reachable.flatMap(({ name, instanceId }) => {
      const why = whyNotReachable(byId.get(instanceId), ssm.region, inspectReach)
      return why === null ? [] : [`${name} (${instanceId}): ${why}`]
    })
    const said = `SSM can ask ${reachable.length - silent.length} of ${reachable.length} instances`
    if (silent.length === 0) return [answered, check('SSM agents', 'ok', said)]
    const more = silent.length > namedAgents ? `; and ${silent.length - namedAgents} more` : ''
    const others = `${silent.slice(0, namedAgents).join('; ')}${more}`
    return [
      answered,
      check(
        'SSM agents',
        silent.length === reachable.length ? 'failed' : 'note',
        `${said}. ${others}`,
        lost,
      ),
    ]
  } catch (error) {
    signal.throwIfAborted()
    return [failedCall(right, error)]
  }
}

const noInstance = 'i-00000000000000000'
const lost = 'what only those nodes know'

async function answerChecks({ ssm, signal, needed }: SsmAsking): Promise<Check[]> {
  const reasons = await ssm.answersUnreadable(signal)
  return ['ssm:ListCommandInvocations', 'ssm:GetCommandInvocation'].map(action => {
    const reason = reasons.get(action)
    return reason === undefined
      ? check(action, 'ok', 'answered')
      : failedCall(neededOf(needed, action), reason)
  })
}

const sendCheck = ({ needed }: SsmAsking): Check =>
  check(
    'ssm:SendCommand',
    'unchecked',
    "not tried: it would run the document. IAM's own simulator (aws iam simulate-principal-policy) can tell, for who may ask it; else the first audit does",
    neededOf(needed, 'ssm:SendCommand').purpose,
  )

const neededOf = (needed: ReadonlyMap<string, NeededRight>, right: string): NeededRight =>
  needed.get(right) ?? { right, purpose: '' }

interface SsmQuery {
  signal: AbortSignal
  /** By right. */
  needed: ReadonlyMap<string, NeededRight>
}

async function outputChecks(
  output: InspectOutput,
  place: AwsPlace,
  { signal, needed }: SsmQuery,
): Promise<Check[]> {
  const store = s3Store({ ...place, bucket: output.bucket, prefix: outputFolder(output), signal })
  const errorOf = async (call: () => Promise<unknown>): Promise<unknown> => {
    try {
      await call()
      return null
    } catch (error) {
      signal.throwIfAborted()
      return error
    }
  }
  const neededOf = (right: string): NeededRight => needed.get(right) ?? { right, purpose: '' }
  const [mayList, mayRead] = [neededOf('s3:ListBucket'), neededOf('s3:GetObject')]
  const what = `inspectOutput ${store.location}`
  const unlisted = await errorOf(async () => store.list('')[Symbol.asyncIterator]().next())
  if (unlisted !== null) {
    const listing = failedCall(mayList, unlisted)
    if (listing.state !== 'missing')
      return [check(what, 'failed', messageOf(unlisted), mayRead.purpose)]
    return [
      listing,
      check(
        mayRead.right,
        'unchecked',
        'not tried: without s3:ListBucket S3 calls forbidden what is not there',
        mayRead.purpose,
      ),
    ]
  }
  const unread = await errorOf(() => store.read('highwater-doctor'))
  return [
    check(mayList.right, 'ok', 'answered'),
    unread === null ? check(mayRead.right, 'ok', 'answered') : failedCall(mayRead, unread),
    check(
      what,
      'note',
      "it is there; whether the instances' own roles may write there (s3:PutObject) is not tried",
    ),
  ]
}

const notApplied = 'no plan is applied by SSM; highwater script writes it as scripts instead'

/** Whether the documents that change a node are in the account, as this highwater has them. Nothing is sent. */
export async function applyChecks(place: AwsPlace | null, signal: AbortSignal): Promise<Check[]> {
  const wanted = Object.entries(applyDocumentHashes)
  if (place === null)
    return wanted.map(([name]) => check(`document ${name}`, 'unchecked', noPlace, notApplied))
  const ssm = new SsmApi(place.region, place.credentials, pace)
  const checks: Check[] = []
  try {
    for (const [name, sha256] of wanted) {
      const found = await ssm.document(name, signal)
      checks.push(
        documentCheck(
          { name, sha256, where: place.region, how: ' with remediation on' },
          found,
          notApplied,
        ),
      )
    }
  } catch (error) {
    signal.throwIfAborted()
    checks.push(check('documents that change a node', 'failed', messageOf(error), notApplied))
  } finally {
    ssm.close()
  }
  return checks
}
