/** One node, asked as the mode asks it: by the collectors themselves. */
import type { KubernetesClient } from '#clients/kubernetes.ts'
import type { CollectContext } from '#collect/collector.ts'
import { collectorsOf } from '#collect/modes.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { kubeletAddress } from '#facts/kubelet/endpoints.ts'
import type { Check } from '#model/checkup.ts'
import type { KubernetesNode } from '#model/kubernetes.ts'
import type { ReadMode } from '#model/read-mode.ts'
import { type Selection, selectsNode } from '#model/selection.ts'
import { check, messageOf } from './checks.ts'

/** The nodes that somebody asked for on the first page that has any. @throws RequestFailure */
export async function firstNodes(
  kubernetes: KubernetesClient,
  selection: Selection,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<KubernetesNode[]> {
  for await (const { items } of kubernetes.list('/api/v1/nodes', {}, options)) {
    const wanted = items.filter(node => selectsNode(selection, nodeIdentity(node)))
    if (wanted.length > 0) return wanted
  }
  return []
}

/** The node's own answers, apart from what SSM would run on it. */
export async function sampleChecks(nodes: readonly KubernetesNode[], mode: ReadMode, context: CollectContext): Promise<Check[]> {
  const collectors = collectorsOf[mode].filter(
    ({ isAnsweredByKubelet, permissions }) => isAnsweredByKubelet && permissions.aws === undefined,
  )
  if (collectors.length === 0) return []
  const identities = nodes.map(node => ({ node, identity: nodeIdentity(node) })).filter(({ identity }) => identity.owner !== 'fargate')
  const sample = identities.find(({ identity }) => identity.ready === 'True') ?? identities[0]
  if (sample === undefined) return [check('a node', 'unchecked', 'there is no node to ask', 'whether kubelets answer')]
  const { node, identity } = sample
  const checks: Check[] = []
  for (const { answers, collect, tells } of collectors) {
    const what = `node ${identity.name}: ${answers.join(', ')}`
    try {
      const { errors = [] } = await collect(identity, { ...context, address: kubeletAddress(node) })
      const [error] = errors
      checks.push(error ? check(what, 'failed', error.message, tells) : check(what, 'ok', 'answers'))
    } catch (error) {
      context.signal.throwIfAborted()
      checks.push(check(what, 'failed', messageOf(error), tells))
    }
  }
  return checks
}
