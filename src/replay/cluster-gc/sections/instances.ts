/** Instances beside nodes: those that never became one, and nodes whose instance is gone. */
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { InstanceGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import { conditionOf, timeAt } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'

export const instances: Section<'instances'> = {
  resources: ['instances.ec2.amazonaws.com'],
  needsNodes: true,
  open: () => new Instances(),
}

class Instances implements OpenSection<InstanceGarbage> {
  readonly #instances = new Map<string, InstanceGarbage['withoutNode'][number]>()

  take(_resource: string, instance: RawObject): void {
    const instanceId = textAt(instance, 'InstanceId')
    if (instanceId === null) return
    this.#instances.set(instanceId, {
      instanceId,
      instanceType: textAt(instance, 'InstanceType'),
      state: textAt(objectAt(instance, 'State'), 'Name') ?? '',
      launchedMs: timeAt(instance, 'LaunchTime'),
    })
  }

  tell({ nodes }: SectionContext): InstanceGarbage {
    const known = (nodes ?? []).map(node => ({ node, ...nodeIdentity(node) }))
    const ofNodes = new Set(known.map(({ instanceId }) => instanceId))
    return {
      withoutNode: [...this.#instances.values()].filter(
        ({ instanceId }) => !ofNodes.has(instanceId),
      ),
      withoutInstance: known.flatMap(({ node, name, instanceId, ready }) => {
        const isOfEc2 = instanceId?.startsWith('i-') === true
        if (!isOfEc2 || ready === 'True' || this.#instances.has(instanceId)) return []
        return [
          {
            node: name,
            instanceId,
            sinceMs: timeAt(conditionOf(node, 'Ready'), 'lastTransitionTime'),
          },
        ]
      }),
    }
  }
}
