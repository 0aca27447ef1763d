/** Collectors of a cluster: objects that all nodes share, leftover objects, volumes and instances. */

import { TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { firstReasons } from '#base/text.ts'
import { Ec2Api } from '#clients/aws/ec2.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { GetOptions, KubernetesClient } from '#clients/kubernetes/kubernetes.ts'
import { readUserData } from '#clients/user-data.ts'
import type { ClusterCollector, ClusterInAws, ObjectsContext } from '#collect/collect.ts'
import {
  type AwsResource,
  clusterFilters,
  instancesResource,
  livingInstanceStates,
  unattachedVolumeState,
  volumesResource,
} from '#facts/aws/cluster-resources.ts'
import { type CustomResource, nodeClasses } from '#facts/eks/node-classes.ts'
import {
  eventsKeptPerReason,
  isNamespaceOfNodeEvents,
  isReadByRules,
  routineReasons,
} from '#facts/kubelet/event-reasons.ts'
import { versionPath, versionResource } from '#facts/kubernetes/discovery.ts'
import {
  type GarbageResource,
  garbageResources,
  podResource,
} from '#facts/kubernetes/garbage-resources.ts'
import type { Policy } from '#model/policy.ts'

/** NodePools, EC2NodeClasses and Auto Mode's NodeClasses: the settings of nodes outside nodegroups. A cluster may lack these resources. */
const nodeClassCollectors: ClusterCollector[] = nodeClasses.map(resource => ({
  resource: `${resource.plural}.${resource.group}`,
  permissions: { kubernetes: [`list ${resource.plural}.${resource.group}`] },
  purpose: `kubelet settings of ${resource.plural}`,

  async *collect({ kubernetes, signal, timeoutsMs }) {
    const options = { signal, timeoutMs: timeoutsMs.list }
    const version = await servedVersion(kubernetes, resource, options)
    if (version === null) return
    const unread: string[] = []
    const budget = new TextBudget(textLimits.clusterUserData)
    try {
      for await (const { items } of kubernetes.list(
        `/apis/${resource.group}/${version}/${resource.plural}`,
        {},
        options,
      ))
        yield items.map(item => withCutUserData(item, unread, budget))
    } catch (error) {
      // The group may be installed only for other resources.
      if (!isAbsent(error)) throw error
    }
    if (unread.length > 0) throw new Error(firstReasons(unread, mostNamed))
  },
}))

/** Number of reasons that an error names. */
const mostNamed = 20

/** The newest known version that the server serves; null: none, for example if the group is not installed. */
async function servedVersion(
  kubernetes: KubernetesClient,
  { group, versions }: CustomResource,
  options: GetOptions,
) {
  try {
    const found = await kubernetes.getJson(`/apis/${group}`, options)
    const served =
      isRawObject(found) && Array.isArray(found.versions)
        ? found.versions.filter(isRawObject).map(({ version }) => version)
        : []
    return versions.find(version => served.includes(version)) ?? null
  } catch (error) {
    if (isAbsent(error)) return null
    // An identity without the right to read API groups might still be allowed to list.
    if (error instanceof RequestFailure && error.status === 403) return versions[0] ?? null
    throw error
  }
}

const isAbsent = (error: unknown) => error instanceof RequestFailure && error.status === 404

/** User data may hold secrets, so only the kubelet's settings in it are kept. */
function withCutUserData(item: RawObject, unread: string[], budget: TextBudget) {
  if (!isRawObject(item.spec) || typeof item.spec.userData !== 'string') return item
  const read = readUserData(item.spec.userData, budget)
  const name = isRawObject(item.metadata) ? item.metadata.name : ''
  unread.push(...read.unread.map(why => `the user data of ${name} is not fully known: ${why}`))
  const isKnown = read.unread.length === 0 || read.settings.length > 0
  return { ...item, spec: { ...item.spec, userData: isKnown ? read.settings : null } }
}

/** Lists objects that may be uncollected garbage, one paged list per kind. A kind that the server does not have yields no objects. */
const listCollectors: ClusterCollector[] = garbageResources.map(resource => ({
  ...collectorFields(resource),

  async *collect(context) {
    try {
      yield* pagesOf(context, resource.path, {}, resource.isMetadataOnly)
    } catch (error) {
      if (!(error instanceof RequestFailure && error.status === 404)) throw error
    }
  },
}))

/**
 * Pods that no node's record contains: pods without a node, and ended pods of deleted nodes. The API server cannot list the pods of deleted nodes
 * alone, so all ended pods are listed. Pod GC sets running pods of a deleted node to Failed before it deletes them (`replay/cluster-gc/sections/pods.ts`),
 * so pods that finalizers then hold are listed, too. A pod that is still Running or Pending was not yet handled by pod GC, and is not listed.
 */
const homelessPods: ClusterCollector = {
  ...collectorFields(podResource),

  async *collect(context) {
    yield* podsOf(context, 'spec.nodeName=')
    for await (const items of podsOf(
      context,
      'status.phase!=Running,status.phase!=Pending,spec.nodeName!=',
    ))
      yield items.filter(
        pod => !context.nodesWithPods.has(String(isRawObject(pod.spec) ? pod.spec.nodeName : '')),
      )
  },
}

const garbageCollectors: ClusterCollector[] = [homelessPods, ...listCollectors]

function collectorFields({ resource, kinds, purpose }: GarbageResource) {
  return { resource, garbage: kinds, permissions: { kubernetes: [`list ${resource}`] }, purpose }
}

/** The pages of one list. */
async function* pagesOf(
  { kubernetes, signal, timeoutsMs }: ObjectsContext,
  path: string,
  query: Record<string, string> = {},
  isMetadataOnly?: boolean,
): AsyncGenerator<RawObject[]> {
  const options = { signal, timeoutMs: timeoutsMs.list, isMetadataOnly }
  for await (const { items } of kubernetes.list(path, query, options)) yield items
}

const podsOf = (context: ObjectsContext, fieldSelector: string) =>
  pagesOf(context, podResource.path, { fieldSelector })

type Pages = (
  ec2: Ec2Api,
  cluster: ClusterInAws,
  signal: AbortSignal,
) => AsyncGenerator<RawObject[]>[]

/** Lists resources with the cluster's tags, each resource once. The SDK retries throttled calls; the API server's pace does not apply to EC2. */
const taggedCollector = (
  { resource, kind, action, purpose }: AwsResource,
  id: string,
  lists: Pages,
): ClusterCollector => ({
  resource,
  garbage: [kind],
  permissions: { kubernetes: [], aws: [action] },
  isOfAws: true,
  purpose,

  async *collect({ aws, signal }) {
    if (!aws) return
    const ec2 = new Ec2Api(aws.region, aws.credentials)
    const seen = new Set<unknown>()
    try {
      for (const pages of lists(ec2, aws, signal))
        for await (const items of pages)
          yield items.filter(item => {
            const isNew = !seen.has(item[id])
            seen.add(item[id])
            return isNew
          })
    } finally {
      ec2.close()
    }
  },
})

const awsCollectors: ClusterCollector[] = [
  taggedCollector(volumesResource, 'VolumeId', (ec2, { name }, signal) =>
    clusterFilters(name, 'volumes').map(filter =>
      ec2.volumes([filter, { name: 'status', values: [unattachedVolumeState] }], signal),
    ),
  ),
  taggedCollector(instancesResource, 'InstanceId', (ec2, { name }, signal) =>
    clusterFilters(name, 'instances').map(filter =>
      ec2.instances(
        [filter, { name: 'instance-state-name', values: livingInstanceStates }],
        signal,
      ),
    ),
  ),
]

/**
 * Events of nodes and pods about GC, eviction, pulls and memory, while the API server keeps them (an hour by default).
 *
 * One paged list, not one for each reason: the API server keeps no watch cache of events and reads all of them from etcd for every list, whatever
 * its selector (upstream: pkg/kubeapiserver/default_storage_factory_builder.go DefaultWatchCacheSizes). A selector saves only bytes, so this selector
 * excludes the most frequent reasons, and the other events are sorted here.
 */
export const events: ClusterCollector = {
  resource: 'events',
  permissions: { kubernetes: ['list events'] },
  purpose: 'evictions, failed image GC and failed pulls of the last hour',

  async *collect(context) {
    const counts = new Map<string, number>()
    const isKept = (event: RawObject) => {
      const reason = String(event.reason)
      const count = (counts.get(reason) ?? 0) + 1
      counts.set(reason, count)
      return count <= eventsKeptPerReason
    }
    const query = { fieldSelector: routineReasons.map(reason => `reason!=${reason}`).join(',') }
    for await (const items of pagesOf(context, '/api/v1/events', query))
      yield items.filter(isEventRead).filter(isKept)
    const over = [...counts]
      .filter(([, count]) => count > eventsKeptPerReason)
      .map(([reason, count]) => [reason, count - eventsKeptPerReason])
    if (over.length > 0)
      throw new Error(
        `of each reason the first ${eventsKeptPerReason} are kept; of others only the number is known: ${over.map(([reason, count]) => `${count} more ${reason}`).join(', ')}`,
      )
  },
}

/** Others could fill the number that is kept. */
function isEventRead({ metadata, reason, message, involvedObject }: RawObject) {
  const kind = isRawObject(involvedObject) ? involvedObject.kind : null
  const namespace = isRawObject(metadata) ? metadata.namespace : null
  return (
    (kind !== 'Node' || isNamespaceOfNodeEvents(namespace)) && isReadByRules(reason, kind, message)
  )
}

/** They limit how many pods may be down at once. A plan names budgets that allow none. */
export const disruptionBudgets: ClusterCollector = {
  resource: 'poddisruptionbudgets.policy',
  permissions: { kubernetes: ['list poddisruptionbudgets.policy'] },
  purpose:
    'PodDisruptionBudgets that allow no disruption: without this right a plan cannot name them, and no node is changed',

  collect: context => pagesOf(context, '/apis/policy/v1/poddisruptionbudgets'),
}

/** Version of the control plane, if EKS does not report it. Every authenticated user may read it (the ClusterRole system:public-info-viewer). */
const serverVersion: ClusterCollector = {
  resource: versionResource,
  garbage: ['pods', 'jobs', 'leases', 'nodes', 'volumes', 'certificates', 'owners', 'finalizers'],
  permissions: { kubernetes: [] },
  purpose: 'version of the control plane, which decides what its own collectors do',

  async *collect({ kubernetes, signal, timeoutsMs }) {
    const answer = await kubernetes.getJson(versionPath, { signal, timeoutMs: timeoutsMs.list })
    yield isRawObject(answer) ? [answer] : []
  },
}

/** Collectors of every mode, besides the list of nodes. */
const clusterCollectors: readonly ClusterCollector[] = [
  events,
  disruptionBudgets,
  ...nodeClassCollectors,
  serverVersion,
  ...garbageCollectors,
  ...awsCollectors,
]

/** The collectors that the policy turns on. */
export const clusterCollectorsOf = ({
  clusterGarbage: { enabled, kinds },
}: Policy): ClusterCollector[] =>
  clusterCollectors.filter(
    ({ garbage }) =>
      garbage === undefined || (enabled && garbage.some(kind => kinds.includes(kind))),
  )
