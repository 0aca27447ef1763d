import type { KubernetesPod } from './kubernetes.ts'

/** Kind and name. A ReplicaSet counts as its Deployment if its name ends with the pods' hash. */
export function controllerOf({ metadata }: KubernetesPod): string | null {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  if (owner?.name === undefined || owner.kind === 'Node') return null
  const hash = metadata?.labels?.['pod-template-hash']
  const isOfDeployment = owner.kind === 'ReplicaSet' && owner.name.endsWith(`-${hash}`)
  return isOfDeployment
    ? `Deployment ${owner.name.slice(0, -(hash?.length ?? 0) - 1)}`
    : `${owner.kind ?? ''} ${owner.name}`
}

/** The statuses of a pod's containers and init containers. */
export const statusesOf = ({ status }: Pick<KubernetesPod, 'status'>) => [
  ...(status?.containerStatuses ?? []),
  ...(status?.initContainerStatuses ?? []),
]
