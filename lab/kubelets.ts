/** The kubelets of a cluster on ports of their own: each at its own address of 127.0.0.0/8, which its Node object then shows. */
import { kubeletApi } from './apis/kubelet.ts'
import { createAuthority, issueServing } from './certificates.ts'
import type { LabNode, NodeSource } from './scenarios/scenario.ts'
import { type Served, serve } from './server.ts'
import type { Tally } from './tally.ts'
import type { World, WorldCluster } from './world.ts'

interface Address {
  ip: string
  port: number
}

const mostKubelets = 250

/** Starts them, and has the cluster show where they are. @throws Error where the system has no such addresses: only Linux answers for all of 127.0.0.0/8 */
export async function standUpKubelets(
  cluster: WorldCluster,
  world: World,
  tally: Tally,
): Promise<Served[]> {
  const { nodes, faults } = cluster.scenario
  const names = nodes.names()
  if (names.length > mostKubelets)
    throw new Error(`the lab serves ${mostKubelets} kubelets of a cluster, not ${names.length}`)
  const position = [...world.clusters.values()].indexOf(cluster)
  const authority =
    faults?.kubeletCertificate === 'other-authority'
      ? createAuthority('kubelet')
      : cluster.authority
  const addresses = new Map<string, Address>()
  const servers: Served[] = []
  for (const [index, nodeName] of names.entries()) {
    const node = nodes.node(nodeName)
    if (!node) continue
    const ip = `127.${64 + (position % 128)}.0.${index + 1}`
    // Port 1 (tcpmux) is nobody’s: nothing listens.
    addresses.set(nodeName, { ip, port: 1 })
    if (node.fault?.kind === 'down') continue
    const names =
      faults?.kubeletCertificate === 'other-host'
        ? { dns: ['another-node'], ip: [] }
        : { dns: [nodeName], ip: [ip] }
    const served = await serve(
      kubeletApi(node, () => nodes.node(nodeName), cluster, world),
      tally,
      issueServing(authority, names),
      ip,
    ).catch((cause: Error) => {
      throw new Error(
        `no kubelet of the lab can listen at ${ip}: that takes Linux, where all of 127.0.0.0/8 is this machine`,
        { cause },
      )
    })
    servers.push(served)
    addresses.set(nodeName, { ip, port: served.port })
  }
  cluster.scenario = { ...cluster.scenario, nodes: shownAt(nodes, addresses) }
  return servers
}

const shownAt = (nodes: NodeSource, addresses: ReadonlyMap<string, Address>): NodeSource => ({
  ...nodes,
  node(name) {
    const node = nodes.node(name)
    const address = addresses.get(name)
    return node && address ? moved(node, address) : node
  },
})

const moved = (node: LabNode, { ip, port }: Address): LabNode => ({
  ...node,
  node(at) {
    const object = node.node(at)
    const addresses = object.status?.addresses ?? []
    return {
      ...object,
      status: {
        ...object.status,
        addresses: addresses.map(each =>
          each.type === 'InternalIP' ? { ...each, address: ip } : each,
        ),
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    }
  },
})
