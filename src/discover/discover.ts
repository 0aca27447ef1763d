/** Lists the EKS clusters in every account and region of the policy, and finds how to reach each cluster. */

import pMap, { pMapIterable } from 'p-map'
import { TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { OperatorError } from '#base/operator-error.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { type CredentialSource, credentialSource } from '#clients/aws/credentials.ts'
import { Ec2Api, type TemplateVersions } from '#clients/aws/ec2.ts'
import { EksApi, noRegion, sdkRegion } from '#clients/aws/eks.ts'
import { callerAccount, eksAuthorization } from '#clients/aws/sts.ts'
import { RequestFailure, readErrorOf } from '#clients/failure.ts'
import type { KubeletIdentity, KubernetesEndpoint } from '#clients/kubernetes/kubernetes.ts'
import { mostInsights } from '#facts/eks/insights.ts'
import {
  accountInArn,
  type ClusterRecord,
  fullClusterName,
  matchesCluster,
  type ReadError,
  type Selection,
  selectsCluster,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'

/* Accounts and regions of a policy, and account ids. */

/** A region, and the credentials of an account. */
export interface AwsPlace {
  region: string
  /** The role to assume; its ARN contains the account. Null: the caller's account. */
  roleArn: string | null
  externalId: string | null
  credentials: CredentialSource
}

/** Returns every pair of role and region once, in the policy's order. @throws OperatorError if the caller's own region is needed and unknown */
async function awsPlaces({ accounts }: Pick<Policy, 'accounts'>): Promise<AwsPlace[]> {
  const places = new Map<string, AwsPlace>()
  for (const { roleArn, externalId, regions } of accounts)
    for (const region of regions ?? [await ownRegion()]) {
      const key = JSON.stringify([roleArn, region])
      const credentials = credentialSource(roleArn, externalId, region)
      if (!places.has(key)) places.set(key, { region, roleArn, externalId, credentials })
    }
  return [...places.values()]
}

async function ownRegion() {
  const region = await sdkRegion()
  if (region === null)
    throw new OperatorError(
      `${noRegion()}. Set AWS_REGION or a profile with a region, or give --region`,
    )
  return region
}

/**
 * Whether a policy names more than one pair of account and region. Only the policy's text decides, so an unavailable service cannot change the result.
 * @throws OperatorError as awsPlaces
 */
export async function isAcrossPlaces(policy: Pick<Policy, 'accounts'>): Promise<boolean> {
  const places = await awsPlaces(policy)
  const keys = places.map(({ roleArn, region }) =>
    JSON.stringify([roleArn && accountInArn(roleArn), region]),
  )
  return new Set(keys).size > 1
}

export interface Accounts {
  /** The account in the role's ARN; without a role, the caller's account from STS. Null: STS did not answer. */
  accountOf(place: AwsPlace): Promise<string | null>
}

/** Calls STS when the caller's account is first needed. */
function accountsOf(signal: AbortSignal): Accounts {
  let own: Promise<string | null> | null = null
  return {
    async accountOf({ roleArn, region, credentials }) {
      if (roleArn !== null) return accountInArn(roleArn)
      own ??= callerAccount(region, credentials, signal).catch(() => null)
      return own
    },
  }
}

/** One cluster to audit. `endpoint` null: the cluster cannot be read; `record.errors` has the reasons. */
export interface ClusterTarget {
  record: ClusterRecord
  endpoint: KubernetesEndpoint | null
  /** Account and region of the cluster's instances. Clusters of one account and region share the object. Null: unknown. */
  place: AwsPlace | null
  /** Identity for direct requests to the cluster's kubelets. Absent or null: none. */
  kubelet?: KubeletIdentity | null
}

interface ClusterAddress extends AwsPlace {
  eks: EksApi
}

interface NodeListing {
  place: ClusterAddress
  names: string[]
  error: ReadError | null
}

const describedAtOnce = 5

/**
 * Yields every selected cluster of every account and region. A failed listing or description is a target with errors.
 * @throws OperatorError when no account could be listed, or nothing is selected.
 */
export async function* discover(
  policy: Policy,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<ClusterTarget> {
  const places = (await awsPlaces(policy)).map(place => ({
    ...place,
    eks: new EksApi(place.region, place.credentials),
  }))
  try {
    const accounts = accountsOf(signal)
    const listings = await firstPerPlace(
      await pMap(places, place => listClustersAt(place, signal), { concurrency: describedAtOnce }),
      accounts,
    )
    const failed = listings.filter(({ error }) => error !== null)
    if (failed.length === listings.length)
      throw new OperatorError(failed.map(({ error }) => error?.message).join('\n'), {
        isBadInput: false,
      })
    const isAcross = await areNamedInFull(policy)
    const reportedName = async (
      { place, name }: { place: AwsPlace; name: string },
      eks: RawObject | null,
    ) =>
      isAcross
        ? fullClusterName(accountOf(eks) ?? (await accounts.accountOf(place)), place.region, name)
        : name
    const found = await pMap(
      listings.flatMap(({ place, names }) => names.map(name => ({ place, name }))),
      async one => ({ ...one, cluster: await reportedName(one, null) }),
    )
    const selected = found.filter(({ cluster }) => isWanted(policy, selection, cluster))
    if (selected.length === 0) throw nothingSelected(selection, policy, found)
    for (const { place, error } of failed) {
      const cluster = fullClusterName(await accounts.accountOf(place), place.region, '*')
      yield {
        record: { kind: 'Cluster', cluster, errors: error ? [error] : [] },
        endpoint: null,
        place,
      }
    }
    const targets = pMapIterable(
      selected,
      async one => describe(one, eks => reportedName(one, eks), policy, signal),
      { concurrency: describedAtOnce },
    )
    let tagged = 0
    const seen = new Set<string>()
    for await (const target of targets) {
      // If STS does not return the caller's account, only EKS shows that two roles lead to the same account.
      const { cluster } = target.record
      if (seen.has(cluster)) continue
      seen.add(cluster)
      if (!hasTags(target, policy.clusters.tags)) continue
      tagged += 1
      yield target
    }
    if (tagged === 0)
      throw new OperatorError(
        `No EKS cluster has the tags ${tagsText(policy.clusters.tags)}. See aws eks describe-cluster`,
      )
    yield* missingClusters(selection, found)
  } finally {
    for (const { eks } of places) eks.close()
  }
}

/** Keeps one listing per account and region: a second role for the same account would read everything twice. */
async function firstPerPlace(listings: NodeListing[], accounts: Accounts) {
  const ways = new Map<string, NodeListing>()
  for (const listing of listings) {
    const { place, error } = listing
    const isAlone = listings.every(
      other => other === listing || other.place.region !== place.region,
    )
    const key = `${isAlone ? '' : await accounts.accountOf(place)}/${place.region}`
    const before = ways.get(key)
    if (!before || (before.error && !error)) ways.set(key, listing)
  }
  return [...ways.values()]
}

/** Whether cluster names include account and region. Narrowing the policy's accounts does not change a name. */
const areNamedInFull = async (policy: Policy) =>
  (await isAcrossPlaces(policy)) ||
  (policy.narrowedFrom !== undefined && (await isAcrossPlaces({ accounts: policy.narrowedFrom })))

async function listClustersAt(place: ClusterAddress, signal: AbortSignal): Promise<NodeListing> {
  try {
    return { place, names: await place.eks.listClusters(signal), error: null }
  } catch (error) {
    signal.throwIfAborted()
    return { place, names: [], error: readErrorOf('clusters', error) }
  }
}

/** @param reportedName returns the cluster's name in reports from its description in EKS */
async function describe(
  { place, name }: { place: ClusterAddress; name: string },
  reportedName: (eks: RawObject | null) => Promise<string>,
  policy: Policy,
  signal: AbortSignal,
): Promise<ClusterTarget> {
  const errors: ReadError[] = []
  const attempt = async <T>(what: ReadError['what'], read: () => Promise<T>) => {
    try {
      return await read()
    } catch (error) {
      errors.push(readErrorOf(what, error))
      return null
    }
  }
  const eks = await attempt('cluster', () => place.eks.describeCluster(name, signal))
  const names = eks
    ? await attempt('nodegroups', () => place.eks.listNodegroups(name, signal))
    : null
  const answers = await pMap(
    names ?? [],
    nodegroup =>
      attempt(`nodegroup ${nodegroup}`, () => place.eks.describeNodegroup(name, nodegroup, signal)),
    { concurrency: describedAtOnce },
  )
  const nodegroups = names ? answers.filter(nodegroup => nodegroup !== null) : null
  const launchTemplates = nodegroups && (await launchTemplatesOf(nodegroups, place, errors, signal))
  const insights = eks ? await insightsOf(place.eks, name, errors, signal) : null
  const way = eks ? clusterEndpoints(eks, name, place, policy, errors) : noWay
  const cluster = await reportedName(eks)
  const read = { eks, nodegroups, launchTemplates, insights }
  return { record: { kind: 'Cluster', cluster, ...read, errors }, ...way, place }
}

/**
 * Finds how to reach a cluster that discovery has found before. The record is in a bucket, so EKS supplies endpoint and certificate
 * authority: no token is sent to an address that only the record contains.
 * @param record from discovery, pruned or not; only the name in its description is used
 * @param at where the cluster was found
 * @returns the target with `record` unchanged, and the errors that prevent reading the cluster now
 */
export async function targetAt(
  record: ClusterRecord,
  { region, roleArn, externalId }: Omit<AwsPlace, 'credentials'>,
  policy: Policy,
  signal: AbortSignal,
): Promise<ClusterTarget & { errors: ReadError[] }> {
  const credentials = credentialSource(roleArn, externalId, region)
  const place = { region, roleArn, externalId, credentials }
  const errors: ReadError[] = []
  const name = isRawObject(record.eks) ? record.eks.name : null
  // The record has the reason why the cluster could not be described.
  if (typeof name !== 'string') return { record, ...noWay, place, errors }
  const eks = new EksApi(region, place.credentials)
  try {
    const described = await eks.describeCluster(name, signal)
    return { record, ...clusterEndpoints(described, name, place, policy, errors), place, errors }
  } catch (error) {
    signal.throwIfAborted()
    errors.push(readErrorOf('cluster', error))
    return { record, ...noWay, place, errors }
  } finally {
    eks.close()
  }
}

type ClusterWay = Required<Pick<ClusterTarget, 'endpoint' | 'kubelet'>>
const noWay: ClusterWay = { endpoint: null, kubelet: null }

/** Adds the reasons why the cluster cannot be read to `errors`. */
function clusterEndpoints(
  eks: RawObject,
  name: string,
  place: AwsPlace,
  policy: Policy,
  errors: ReadError[],
): ClusterWay {
  const endpoint = endpointOf(eks, name, place, errors)
  const kubelet = endpoint
    ? kubeletIdentity(policy, endpoint, { ...place, clusterId: clusterIdOf(eks, name) })
    : null
  return { endpoint, kubelet }
}

/** Only ACTIVE and UPDATING clusters have an API server that answers. Source: EKS API reference, Cluster.status. */
function endpointOf(
  eks: RawObject,
  name: string,
  { region, credentials }: AwsPlace,
  errors: ReadError[],
): KubernetesEndpoint | null {
  const noteUnreadable = (message: string) => {
    errors.push({ what: 'cluster', message })
    return null
  }
  const status = String(eks.status)
  if (status !== 'ACTIVE' && status !== 'UPDATING')
    return noteUnreadable(
      `the cluster is ${status}: only ACTIVE and UPDATING clusters can be read. Audit it again when it is`,
    )
  const ca = isRawObject(eks.certificateAuthority) ? eks.certificateAuthority.data : null
  const server = eks.endpoint
  if (typeof server !== 'string' || !URL.canParse(server) || typeof ca !== 'string')
    return noteUnreadable(
      'EKS shows no endpoint or no certificate authority for it: a registered (connected) cluster is not readable',
    )
  // The token would be sent in clear text. EKS names https endpoints only.
  if (new URL(server).protocol !== 'https:')
    return noteUnreadable(
      `EKS names the endpoint ${server.slice(0, 200)}, which is not https: nothing was sent there`,
    )
  const clusterId = clusterIdOf(eks, name)
  return {
    server,
    ca: Buffer.from(ca, 'base64'),
    authorization: eksAuthorization({ region, clusterId, credentials }),
  }
}

/** A local cluster on Outposts has an id, and its token contains the id instead of the name. Source: aws-iam-authenticator. */
const clusterIdOf = (eks: RawObject | null, name: string) =>
  typeof eks?.id === 'string' ? eks.id : name

/** The identity whose token kubelets see: a separate role, or the reader if the policy allows it. Null: none. */
function kubeletIdentity(
  { kubelet: { roleArn, useOwnToken } }: Policy,
  { ca, authorization }: KubernetesEndpoint,
  { region, clusterId }: { region: string; clusterId: string },
): KubeletIdentity | null {
  if (ca === undefined) return null
  if (roleArn === null) return useOwnToken ? { ca, authorization } : null
  const credentials = credentialSource(roleArn, null, region)
  return { ca, authorization: eksAuthorization({ region, clusterId, credentials }) }
}

const accountOf = (eks: RawObject | null) =>
  typeof eks?.arn === 'string' ? accountInArn(eks.arn) : null

const isWanted = (policy: Policy, selection: Selection, cluster: string) =>
  selectsCluster(selection, cluster) &&
  selectsCluster({ ...selection, clusters: policy.clusters.names }, cluster)

function hasTags({ record }: ClusterTarget, wanted: Record<string, string>) {
  const tags = record.eks?.tags
  const has = new Map(Object.entries(isRawObject(tags) ? tags : {}))
  // An undescribed cluster may have the tags, so it stays in the list.
  return (
    record.eks === null || Object.entries(wanted).every(([key, value]) => has.get(key) === value)
  )
}

const tagsText = (tags: Record<string, string>) =>
  Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')

function nothingSelected(selection: Selection, policy: Policy, found: { cluster: string }[]) {
  const names = found.map(({ cluster }) => cluster).sort()
  if (names.length === 0)
    return new OperatorError(
      'There is no EKS cluster in the selected accounts and regions. Check --region and the credentials',
    )
  const wanted = [...selection.clusters, ...policy.clusters.names].join(', ')
  return new OperatorError(
    `No EKS cluster is named ${wanted}. There are: ${names.slice(0, 50).join(', ')}${names.length > 50 ? ', …' : ''}`,
  )
}

/** Reports clusters that are selected by name but listed by no account, instead of skipping them. */
function* missingClusters(
  { clusters }: Selection,
  found: { cluster: string }[],
): Generator<ClusterTarget> {
  for (const cluster of clusters) {
    if (cluster.includes('*') || found.some(one => matchesCluster(cluster, one.cluster))) continue
    const message = 'no EKS cluster of this name in the selected accounts and regions'
    const errors: ReadError[] = [{ what: 'cluster', message }]
    yield { record: { kind: 'Cluster', cluster, errors }, endpoint: null, place: null }
  }
}

/* Reads the upgrade insights of a cluster that do not pass. */

/** Adds what could not be read to `errors`. Null: the list could not be read. */
async function insightsOf(eks: EksApi, cluster: string, errors: ReadError[], signal: AbortSignal) {
  const insights: RawObject[] = []
  let refusal: ReadError['refusal']
  const describe = async (id: string) => {
    // A missing right concerns every insight, so it is reported once.
    if (refusal !== undefined) return null
    try {
      return await eks.describeInsight(cluster, id, signal)
    } catch (error) {
      const readError = readErrorOf(`insight ${id}`, error)
      refusal = readError.refusal
      errors.push(readError)
      return null
    }
  }
  try {
    for (const { id, summary } of await eks.listInsights(cluster, mostInsights, signal))
      insights.push((await describe(id)) ?? summary)
    return insights
  } catch (error) {
    errors.push(readErrorOf('insights', error))
    return null
  }
}

/* Reads the kubelet settings in the launch templates of a cluster's nodegroups. If a nodegroup has none, EKS makes one with its own user data. */

/** Adds unread launch templates to `errors`. Null: none could be read. */
async function launchTemplatesOf(
  nodegroups: RawObject[],
  { region, credentials }: AwsPlace,
  errors: ReadError[],
  signal: AbortSignal,
) {
  const wanted = namedTemplates(nodegroups)
  if (wanted.length === 0) return []
  const ec2 = new Ec2Api(region, credentials)
  const found: RawObject[] = []
  const budget = new TextBudget(textLimits.clusterUserData)
  try {
    for (const [index, template] of wanted.entries()) {
      try {
        const { templates, unread } = await ec2.launchTemplates(template, signal, budget)
        found.push(...templates)
        errors.push(...unread.map(message => ({ what: 'launchTemplates' as const, message })))
      } catch (error) {
        const status = error instanceof RequestFailure ? error.status : null
        // One deleted version fails the whole request: the versions are then requested one by one.
        if (status === 400 && template.versions.length > 1) {
          wanted.push(...template.versions.map(version => ({ ...template, versions: [version] })))
          continue
        }
        const readError = readErrorOf('launchTemplates', error)
        const left = wanted.length - index - 1
        // A missing right or an expired deadline concerns every template, so it is reported once.
        const isForAll = status !== 400
        const more = isForAll && left > 0 ? ` (and ${left} more)` : ''
        errors.push({ ...readError, message: `${readError.message}${more}` })
        if (isForAll) break
      }
    }
  } finally {
    ec2.close()
  }
  return found.length > 0 ? found : null
}

/** Returns each template once, with all the versions that nodegroups name. Sources: EKS API reference, LaunchTemplateSpecification. */
function namedTemplates(nodegroups: RawObject[]): TemplateVersions[] {
  const found = new Map<string, { by: TemplateVersions['by']; versions: Set<string> }>()
  for (const { launchTemplate } of nodegroups) {
    if (!isRawObject(launchTemplate)) continue
    const { id, name, version } = launchTemplate
    const byName = typeof name === 'string' ? { name } : null
    const by = typeof id === 'string' ? { id } : byName
    if (!by) continue
    const key = JSON.stringify(by)
    const versions = found.get(key)?.versions ?? new Set()
    // A nodegroup without a version uses the template's default version. Source: EKS API reference.
    versions.add(typeof version === 'string' && version !== '' ? version : '$Default')
    found.set(key, { by, versions })
  }
  return [...found.values()].map(({ by, versions }) => ({ by, versions: [...versions] }))
}
