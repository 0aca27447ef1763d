import { TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { firstReasons } from '#base/text.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { GetOptions, KubernetesClient } from '#clients/kubernetes/kubernetes.ts'
import { readUserData } from '#clients/user-data.ts'
import type { ClusterCollector } from '#collect/collector.ts'
import { type CustomResource, nodeClasses } from '#facts/eks/node-classes.ts'

/** NodePools, EC2NodeClasses and Auto Mode's NodeClasses: the settings of nodes outside nodegroups. A cluster may lack these resources. */
export const nodeClassCollectors: ClusterCollector[] = nodeClasses.map(resource => ({
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
