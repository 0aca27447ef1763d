/** Identity of a cluster, independent of its name in a plan, account or kubeconfig: two runs must not change one cluster at once. */
import * as z from 'zod'
import type { KubernetesClient } from '#clients/kubernetes/kubernetes.ts'

/** UID of kube-system, the namespace that every cluster has and that cannot be recreated. */
export const identityPermission = 'list namespaces'
const path = '/api/v1/namespaces?fieldSelector=metadata.name%3Dkube-system'

const namespace = z.object({
  metadata: z.object({ name: z.literal('kube-system'), uid: z.string().regex(/^[\w-]{8,100}$/) }),
})
const namespaces = z.object({ items: z.array(namespace.nullable().catch(null)) })

/** The UID of the cluster's namespace kube-system. @throws what the client throws, or an Error if the answer has no UID */
export async function clusterIdentity(
  kubernetes: KubernetesClient,
  options: Parameters<KubernetesClient['getJson']>[1],
) {
  const listed = namespaces.safeParse(await kubernetes.getJson(path, options))
  const uid = listed.data?.items.find(item => item !== null)?.metadata.uid
  if (uid === undefined) throw new Error('its namespace kube-system has no UID')
  return uid
}
