/** Two real kubelets, v1.34.4, as recorded: one with everything on one disk, one with a disk of its own for the container runtime. */
import { readAsset } from '#asset.ts'
import type { RawObject } from '#base/raw-object.ts'
import type { KubernetesNode, KubernetesPod } from '#model/input/record.ts'
import { fixedNodes, type LabNode, type Scenario } from './scenario.ts'

const singleDisk = 'ip-10-99-0-61.ec2.internal'
const splitDisk = 'ip-10-99-0-62.ec2.internal'

export const recorded: Scenario = {
  name: 'recorded',
  about: 'two recorded real kubelets, one with a disk of its own for the container runtime',
  clusters: [
    {
      name: 'recorded',
      version: '1.34',
      nodegroups: [
        {
          name: 'ng-1',
          amiType: 'CUSTOM',
          version: '1.34',
          releaseVersion: 'ami-0a11ab0000000034',
          instanceTypes: ['m6i.large'],
          desiredSize: 2,
        },
      ],
      nodes: fixedNodes({
        [singleDisk]: recordedNode('single-disk'),
        [splitDisk]: recordedNode('split-disk'),
      }),
    },
  ],
  expect: () => ({
    nodes: [
      { cluster: 'recorded', node: singleDisk, rules: ['alert-before-image-gc'] },
      {
        cluster: 'recorded',
        node: splitDisk,
        rules: ['alert-before-image-gc', 'lost-default-threshold', 'unwatched-imagefs'],
      },
    ],
    notAudited: [],
  }),
}

function recordedNode(disk: 'single-disk' | 'split-disk'): LabNode {
  const body = lazy(disk)
  const pods = () => (body('pods').items ?? []) as KubernetesPod[]
  return {
    node() {
      const { kind: _kind, apiVersion: _apiVersion, ...node } = body('node')
      return node as KubernetesNode
    },
    configz: () => body('configz'),
    summary: () => body('stats-summary'),
    podKeys: () =>
      pods().map(pod => ({
        namespace: pod.metadata?.namespace ?? '',
        name: pod.metadata?.name ?? '',
      })),
    pod: index => pods()[index]!,
  }
}

/** Each file is read when it is first asked for. */
function lazy(disk: string): (name: string) => RawObject {
  const read = new Map<string, RawObject>()
  return name => {
    const known =
      read.get(name) ??
      (JSON.parse(readAsset(`test/fixtures/real/${disk}-${name}.json`)) as RawObject)
    read.set(name, known)
    return known
  }
}
