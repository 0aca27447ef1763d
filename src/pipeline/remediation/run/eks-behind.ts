/** Looks up clusters of a kubeconfig in EKS, to see whether EKS is changing them or their nodegroups. An audit does not need this. */

import { messageOf } from '#base/operator-error.ts'
import type { KubernetesEndpoint } from '#clients/kubernetes/kubernetes.ts'
import { type ClusterTarget, discover } from '#discover/discover.ts'
import { type ClusterRecord, everything } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'

/** Host names of EKS API servers, for each partition and both IP families. Source: Amazon EKS user guide, cluster endpoint. */
const eksHost = /\.(eks\.amazonaws\.com(\.cn)?|eks\.api\.aws|api\.amazonwebservices\.com\.cn)$/
const eksArn = /^arn:aws[\w-]*:eks:/

type OfEks = Pick<ClusterRecord, 'eks' | 'nodegroups' | 'errors'>
type Find = (names: readonly string[]) => AsyncIterable<ClusterTarget>

/** Finds clusters in EKS by the address of their API server, and remembers their names. */
export function openEksLookup(
  policy: Policy,
  signal: AbortSignal,
  find: Find = names => discover(policy, { ...everything, clusters: [...names] }, signal),
) {
  /** Names in EKS by server address. */
  const names = new Map<string, string>()
  /** Empty: nothing suggests an EKS cluster. `eks` null: it seems to be an EKS cluster, but EKS does not list it or does not answer. */
  async function clusterBehind(
    context: string,
    { server }: Pick<KubernetesEndpoint, 'server'>,
  ): Promise<OfEks> {
    const known = names.get(server)
    let why = 'none of the EKS clusters of the policy’s accounts and regions has its address'
    try {
      for await (const { record } of find(known === undefined ? [] : [known])) {
        const { eks, nodegroups, errors } = record
        if (typeof eks?.endpoint !== 'string' || hostOf(eks.endpoint) !== hostOf(server)) continue
        if (typeof eks.name === 'string') names.set(server, eks.name)
        return { eks, nodegroups, errors }
      }
    } catch (error) {
      why = `EKS was not read: ${messageOf(error)}`
    }
    return eksArn.test(context) || eksHost.test(urlOf(server)?.hostname ?? '')
      ? { eks: null, nodegroups: null, errors: [{ what: 'cluster', message: why }] }
      : {}
  }
  return { clusterBehind }
}

const urlOf = (address: string) => (URL.canParse(address) ? new URL(address) : null)
/** The host with its port. */
const hostOf = (address: string) => urlOf(address)?.host ?? address
