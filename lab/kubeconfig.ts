/** A kubeconfig for the lab's clusters. It is JSON, and so YAML too. */
import type { World } from './world.ts'

/** One context for each cluster that has an endpoint, named like the cluster; one user with a static token. */
export function kubeconfig({ clusters, kubeconfigToken }: World): string {
  const reachable = [...clusters.values()].filter(cluster => cluster.endpoint !== null)
  const names = reachable.map(cluster => cluster.scenario.name)
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: reachable.map(({ scenario, endpoint, shownAuthorityPem }) => ({
      name: scenario.name,
      cluster: {
        server: endpoint,
        'certificate-authority-data': Buffer.from(shownAuthorityPem).toString('base64'),
      },
    })),
    users: [{ name: 'lab-reader', user: { token: kubeconfigToken } }],
    contexts: names.map(name => ({ name, context: { cluster: name, user: 'lab-reader' } })),
    'current-context': names[0] ?? '',
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
