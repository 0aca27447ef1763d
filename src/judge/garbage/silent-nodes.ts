import type { ClusterPrediction, InstanceGarbage, NodeGarbage } from '#model/cluster-garbage.ts'
import { isOld, leftHours } from './garbage.ts'

export const isWithoutInstance = (
  { sinceMs }: InstanceGarbage['withoutInstance'][number],
  at: string,
): boolean => isOld(sinceMs, at, leftHours.nodeWithoutInstance)

/** NotReady nodes, except those whose instance is gone. @param instances null: unknown */
export function silentNodes(
  { notReady }: NodeGarbage,
  instances: ClusterPrediction['instances'],
  at: string,
): NodeGarbage['notReady'][number][] {
  const gone = new Set(
    instances?.withoutInstance.filter(each => isWithoutInstance(each, at)).map(({ node }) => node),
  )
  return notReady.filter(({ node }) => !gone.has(node))
}
