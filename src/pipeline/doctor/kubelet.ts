/** The identity that kubelets see in mode `kubelet`. */

import { KubernetesClient, type KubernetesEndpoint } from '#clients/kubernetes.ts'
import type { ClusterTarget } from '#discover/discover.ts'
import type { Check } from '#model/checkup.ts'
import { messageOf } from '#model/error-message.ts'
import type { Policy } from '#model/policy.ts'
import { kubernetesRights } from '#pipeline/access/permissions.ts'
import { type Asking, isAllowed, rightChecks, wayToServer } from './api-server.ts'
import { check } from './checks.ts'

/** The API server is asked with its token what it may do, and what it had better not. */
export async function kubeletChecks(
  { signal, timeoutMs }: Asking,
  endpoint: KubernetesEndpoint,
  identity: ClusterTarget['kubelet'],
  policy: Policy,
): Promise<Check[]> {
  const rights = kubernetesRights('kubelet', 'kubelet')
  if (!identity) {
    const detail =
      'no token for kubelets is configured: set kubelet.roleArn in the policy (docs/permissions.md, mode kubelet)'
    return [
      check('kubelet.roleArn', 'missing', detail, rights.map(({ tells }) => tells).join('; ')),
    ]
  }
  const { roleArn } = policy.kubelet
  const by = roleArn ?? 'this identity, whose token every kubelet then sees'
  const tells = rights.map(right => right.tells).join('; ')
  try {
    await identity.authorization(false)
  } catch (error) {
    signal.throwIfAborted()
    return [check('sts:AssumeRole', 'missing', `${by} cannot be had: ${messageOf(error)}`, tells)]
  }
  const { clientCertificate: _, ...server } = endpoint
  const kubernetes = new KubernetesClient(
    { ...server, authorization: identity.authorization },
    { pace: policy.pace },
  )
  const asking = { kubernetes, signal, timeoutMs }
  try {
    const { checks: way, isKnown } = await wayToServer(asking, endpoint.server, {
      kind: 'Cluster',
      cluster: '',
    })
    if (!isKnown)
      return way
        .filter(({ state }) => state !== 'ok')
        .map(each => ({ ...each, detail: `${by}: ${each.detail}`, without: tells }))
    const checks = await rightChecks(asking, rights, by)
    for (const right of ['get nodes/proxy', 'list secrets'])
      if (await isAllowed(asking, right))
        checks.push(
          check(
            right,
            'note',
            `${by} may do that, too: the owner of a node could do it with the token that its kubelet sees`,
          ),
        )
    return checks
  } finally {
    kubernetes.close()
  }
}
