/** Volumes and instances of the lab's clusters, by tag and state. Source: EC2 API reference, DescribeVolumes, DescribeInstances and their filters. */
import { Refusal } from '#lab/api.ts'
import type { Caller } from '#lab/credentials.ts'
import type { World, WorldCluster } from '#lab/world.ts'
import type { Elements } from '#lab/xml.ts'

interface Tagged {
  tags: Readonly<Record<string, string>>
  state: string
  instance?: string
  shown: Elements
}

const hourMs = 3_600_000
const before = (at: string, hours: number) =>
  new Date(Date.parse(at) - hours * hourMs).toISOString()
const tagSet = (tags: Tagged['tags']): Elements => ({
  item: Object.entries(tags).map(([key, value]) => ({ key, value })),
})

const own = (world: World, { region, principal }: Caller): WorldCluster[] =>
  [...world.clusters.values()].filter(
    cluster => cluster.region === region && cluster.account === principal.account,
  )

export const volumesOf = (world: World, caller: Caller): Tagged[] =>
  own(world, caller).flatMap(({ scenario: { name, disks = [] }, region }) =>
    disks.map(
      ({
        volumeId,
        sizeGiB,
        isAttached = false,
        madeHoursAgo,
        type = { name: 'gp3', iops: 3000 },
      }) => {
        const tags = {
          [`kubernetes.io/cluster/${name}`]: 'owned',
          CSIVolumeName: volumeId.replace('vol-', 'pvc-'),
        }
        const state = isAttached ? 'in-use' : 'available'
        const shown = {
          ...{
            volumeId,
            size: String(sizeGiB),
            volumeType: type.name,
            iops: String(type.iops),
            status: state,
            availabilityZone: `${region}a`,
          },
          ...{ createTime: before(world.at, madeHoursAgo), tagSet: tagSet(tags) },
        }
        return { tags, state, shown }
      },
    ),
  )

/** The disk of each running instance that is asked for. @param wanted their ids */
export const nodeVolumesOf = (
  world: World,
  caller: Caller,
  wanted: ReadonlySet<string>,
): Tagged[] =>
  own(world, caller).flatMap(({ scenario: { nodes, goneInstances = [] } }) =>
    nodes.names().flatMap(name => {
      const lab = nodes.node(name)
      const instance = goneInstances.includes(name) ? null : instanceId(lab, world.at)
      if (instance === null || !wanted.has(instance)) return []
      const { capacity, nodeInfo } = lab?.node(world.at).status ?? {}
      const kibibytes = Number.parseInt(capacity?.['ephemeral-storage'] ?? '', 10)
      const device = nodeInfo?.osImage?.startsWith('Bottlerocket') ? '/dev/xvdb' : '/dev/xvda'
      const shown = {
        volumeId: instance.replace('i-', 'vol-'),
        size: String(Math.ceil(kibibytes / 2 ** 20)),
        ...{ volumeType: 'gp3', iops: '3000', status: 'in-use' },
        attachmentSet: { item: [{ instanceId: instance, device, status: 'attached' }] },
      }
      return [{ tags: {}, state: 'in-use', instance, shown }]
    }),
  )

/** Instances of its nodes, except nodes whose instance is gone. */
export const instancesOf = (world: World, caller: Caller): Tagged[] =>
  own(world, caller).flatMap(({ scenario: { name, nodes, goneInstances = [] } }) => {
    const ids = nodes
      .names()
      .flatMap(node =>
        goneInstances.includes(node) ? [] : (instanceId(nodes.node(node), world.at) ?? []),
      )
    const launchTime = before(world.at, 500)
    const state = 'running'
    return ids.map(id => {
      const tags = { 'aws:eks:cluster-name': name, [`kubernetes.io/cluster/${name}`]: 'owned' }
      const shown = {
        instanceId: id,
        instanceType: 'm6i.large',
        instanceState: { code: '16', name: state },
        launchTime,
        tagSet: tagSet(tags),
      }
      return { tags, state, shown }
    })
  })

function instanceId(
  node: ReturnType<WorldCluster['scenario']['nodes']['node']>,
  at: string,
): string | null {
  const providerId = node?.providerId ?? node?.node(at).spec?.providerID ?? ''
  return /\/(i-[0-9a-f]+)$/.exec(providerId)?.[1] ?? null
}

/** The lab knows these filters. @param stateFilter its name for the state */
export function filtered(
  all: readonly Tagged[],
  parameters: URLSearchParams,
  stateFilter: string,
): Elements[] {
  const filters = filtersIn(parameters)
  const fits = ({ tags, state, instance = '' }: Tagged) =>
    filters.every(({ name, values }) => {
      if (name === stateFilter) return values.includes(state)
      if (name === attachedInstance) return values.includes(instance)
      if (name.startsWith('tag:')) return values.includes(tags[name.slice('tag:'.length)] ?? '')
      throw new Refusal(501, 'NotImplemented', `the lab does not know the filter ${name}`)
    })
  return all.filter(fits).map(({ shown }) => shown)
}

const attachedInstance = 'attachment.instance-id'

/** The instances by which volumes are filtered; empty: they are not. */
export const instancesWanted = (parameters: URLSearchParams): ReadonlySet<string> =>
  new Set(
    filtersIn(parameters).flatMap(({ name, values }) => (name === attachedInstance ? values : [])),
  )

const filtersIn = (parameters: URLSearchParams): { name: string; values: string[] }[] =>
  [...parameters].flatMap(([key, name]) => {
    const [, index] = /^Filter\.(\d+)\.Name$/.exec(key) ?? []
    if (index === undefined) return []
    const values = [...parameters]
      .filter(([other]) => other.startsWith(`Filter.${index}.Value.`))
      .map(([, value]) => value)
    return [{ name, values }]
  })
