/** Which cluster it is, whatever a plan, an account or a kubeconfig calls it: two that name it differently must not change it at once. */
import type { KubernetesClient } from '#clients/kubernetes.ts'
import { isRawObject } from '#model/record.ts'

/** UID of kube-system, the namespace that every cluster has and that cannot be recreated. */
export const identityPermission = 'list namespaces'
const path = '/api/v1/namespaces?fieldSelector=metadata.name%3Dkube-system'

/** The UID of its namespace kube-system. @throws what the client throws, or an Error when it tells none */
export async function clusterIdentity(
  kubernetes: Pick<KubernetesClient, 'getJson'>,
  options: Parameters<KubernetesClient['getJson']>[1],
): Promise<string> {
  const listed = await kubernetes.getJson(path, options)
  const items =
    isRawObject(listed) && Array.isArray(listed.items) ? listed.items.filter(isRawObject) : []
  const metadata = items
    .map(({ metadata: each }) => each)
    .find(each => isRawObject(each) && each.name === 'kube-system')
  const uid = isRawObject(metadata) ? metadata.uid : undefined
  if (typeof uid !== 'string' || !/^[\w-]{8,100}$/.test(uid))
    throw new Error('its namespace kube-system has no UID')
  return uid
}
