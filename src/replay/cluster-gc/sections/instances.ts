/** Nodes whose EC2 instance no longer exists. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { InstanceGarbage } from '#model/finding/cluster-garbage.ts'
import { isOf } from '#model/input/cluster-objects.ts'
import type { ClusterObject } from '#model/input/kubernetes.ts'
import { conditionOf, timeOf } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'

export const instances: Section<'instances'> = {
  resources: ['instances.ec2.amazonaws.com'],
  needsNodes: true,
  open: () => new Instances(),
}

class Instances implements OpenSection<InstanceGarbage> {
  readonly #instances = new Set<string>()

  take(resource: string, instance: ClusterObject) {
    if (!isOf('instances.ec2.amazonaws.com', resource, instance)) return
    if (instance.InstanceId !== undefined) this.#instances.add(instance.InstanceId)
  }

  close({ nodes }: SectionContext): InstanceGarbage {
    const known = (nodes ?? []).map(node => ({ node, ...nodeIdentity(node) }))
    return {
      withoutInstance: known.flatMap(({ node, name, instanceId, ready }) => {
        const isOfEc2 = instanceId?.startsWith('i-') === true
        if (!isOfEc2 || ready === 'True' || this.#instances.has(instanceId)) return []
        return [
          {
            node: name,
            instanceId,
            sinceMs: timeOf(conditionOf(node, 'Ready')?.lastTransitionTime),
          },
        ]
      }),
    }
  }
}
