/** Reads one node with the collectors of the mode. */

import { messageOf } from '#base/operator-error.ts'
import type { KubernetesClient } from '#clients/kubernetes/kubernetes.ts'
import type { CollectContext } from '#collect/collect.ts'
import { collectorsOf } from '#collect/modes.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { type KubeletAddress, kubeletAddress } from '#facts/kubelet/endpoints.ts'
import type { Check } from '#model/checkup.ts'
import {
  type NodeIdentity,
  type ReadMode,
  type Selection,
  selectsNode,
} from '#model/input/record.ts'
import { check } from './checks.ts'

/** The part of a node that the checks need. A fleet can have thousands of nodes, so nothing else is kept. */
export interface NodeAtHand {
  identity: NodeIdentity
  address: KubeletAddress
}

/**
 * The selected nodes. `areAll` false: only the nodes of the first page that has selected nodes, enough for a sample.
 * @throws RequestFailure
 */
export async function nodesAtHand(
  kubernetes: KubernetesClient,
  selection: Selection,
  { areAll, ...options }: { areAll: boolean; signal: AbortSignal; timeoutMs: number },
) {
  const found: NodeAtHand[] = []
  for await (const { items } of kubernetes.list('/api/v1/nodes', {}, options)) {
    const nodes = items.map(node => ({
      identity: nodeIdentity(node),
      address: kubeletAddress(node),
    }))
    found.push(...nodes.filter(({ identity }) => selectsNode(selection, identity)))
    if (!areAll && found.length > 0) break
  }
  return found
}

/** Checks the node's own answers. No SSM command is sent. */
export async function sampleChecks(
  nodes: readonly NodeAtHand[],
  mode: ReadMode,
  context: CollectContext,
): Promise<Check[]> {
  const collectors = collectorsOf[mode].filter(
    ({ isAnsweredByKubelet, permissions }) => isAnsweredByKubelet && permissions.aws === undefined,
  )
  if (collectors.length === 0) return []
  const identities = nodes.filter(({ identity }) => identity.owner !== 'fargate')
  const sample = identities.find(({ identity }) => identity.ready === 'True') ?? identities[0]
  if (!sample)
    return [check('a node', 'unchecked', 'there is no node to ask', 'whether kubelets answer')]
  const { address, identity } = sample
  const checks: Check[] = []
  for (const { answers, collect, purpose } of collectors) {
    const what = `node ${identity.name}: ${answers.join(', ')}`
    try {
      const parse = await collect(identity, { ...context, address })
      const { errors = [] } = parse()
      const [error] = errors
      checks.push(
        error ? check(what, 'failed', error.message, purpose) : check(what, 'ok', 'answers'),
      )
    } catch (error) {
      context.signal.throwIfAborted()
      checks.push(check(what, 'failed', messageOf(error), purpose))
    }
  }
  return checks
}
