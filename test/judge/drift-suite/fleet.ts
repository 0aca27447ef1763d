/** Small fleets, as snapshot records: groups of nodes by who made them, each with what was declared for it. */

import type { RawObject } from '#base/raw-object.ts'
import type { NodeRecord, SnapshotRecord } from '#model/input/record.ts'
import type { KubeletSettings } from '#model/kubelet/settings.ts'
import { takenAt } from '#test/node-builder.ts'
import type { Image, SuiteFamily, SuiteMinor } from './image.ts'
import { cluster, type Member, nodeRecord, releaseOf, uidOf } from './node.ts'

export interface GroupOptions {
  image: Pick<Image, 'family' | 'minor'> & Partial<Image>
  name?: string
  nodes: Member[]
}

interface Group {
  nodegroups?: RawObject[]
  launchTemplates?: RawObject[]
  objects?: Record<string, RawObject[]>
  nodes: NodeRecord[]
}

/** Made when its place among the groups is known, which is its subnet. */
export type GroupOf = (subnet: number) => Group

export const times = (count: number, member: Member = {}): Member[] =>
  Array.from({ length: count }, () => member)
export const image = (
  family: SuiteFamily,
  minor: SuiteMinor,
  more: Partial<Image> = {},
): GroupOptions['image'] => ({ family, minor, ...more })

const created = '2026-03-02T10:00:00Z'

export function fleet(...groups: GroupOf[]): SnapshotRecord[] {
  const built = groups.map((group, index) => group(index + 1))
  const objects = Map.groupBy(
    built.flatMap(({ objects = {} }) => Object.entries(objects)),
    ([resource]) => resource,
  )
  return [
    {
      kind: 'Snapshot',
      schema: 'highwater.snapshot/1',
      takenAt,
      account: '111122223333',
      region: 'us-east-1',
    },
    {
      kind: 'Cluster',
      cluster,
      eks: { name: cluster, version: '1.35', status: 'ACTIVE' },
      nodegroups: built.flatMap(({ nodegroups = [] }) => nodegroups),
      launchTemplates: built.flatMap(({ launchTemplates = [] }) => launchTemplates),
      errors: [],
    },
    ...[...objects].map(([resource, lists]) => ({
      kind: 'Objects' as const,
      cluster,
      resource,
      items: lists.flatMap(([, items]) => items),
    })),
    ...built.flatMap(({ nodes }) => nodes),
  ]
}

export interface ManagedOptions extends GroupOptions {
  /**
   * What its launch template tells the kubelet, one for each source in its user data; null: nothing; `unread`: not known. Absent: the
   * nodegroup has no launch template of its own.
   */
  declares?: KubeletSettings[] | null | 'unread'
  /** Of its launch template; 4 unless said. */
  version?: number
}

const amiTypes: Partial<Record<SuiteFamily, string>> = {
  AL2: 'AL2_x86_64',
  AL2023: 'AL2023_x86_64_STANDARD',
  Bottlerocket: 'BOTTLEROCKET_x86_64',
}

/** Kubelet settings of each version of the template: none without a template, unread without the field. */
function kubeletsOf(declares: ManagedOptions['declares']): { kubelet?: KubeletSettings | null }[] {
  if (declares === undefined) return []
  if (declares === 'unread') return [{}]
  return declares === null ? [{ kubelet: null }] : declares.map(kubelet => ({ kubelet }))
}

export function managed({
  image,
  name = 'workers',
  nodes,
  declares,
  version = 4,
}: ManagedOptions): GroupOf {
  return subnet => {
    const templateId = `lt-0d21f70000000000${subnet}`
    const template = {
      launchTemplateId: templateId,
      launchTemplateName: `${name}-template`,
      versionNumber: version,
    }
    const hasTemplate = declares !== undefined
    const release = releaseOf(wholeImage(image, {}))
    return {
      nodegroups: [
        {
          nodegroupName: name,
          clusterName: cluster,
          version: `1.${image.minor}`,
          releaseVersion: release.version,
          amiType: amiTypes[image.family],
          status: 'ACTIVE',
          ...(hasTemplate && {
            launchTemplate: { id: templateId, name: `${name}-template`, version: String(version) },
          }),
        },
      ],
      launchTemplates: kubeletsOf(declares).map(kubelet => ({ ...template, ...kubelet })),
      nodes: nodes.map((node, index) =>
        nodeRecord(wholeImage(image, node), node, index, subnet, {
          labels: {
            'eks.amazonaws.com/nodegroup': name,
            'eks.amazonaws.com/nodegroup-image': releaseOf(wholeImage(image, node)).ami,
            'eks.amazonaws.com/capacityType': 'ON_DEMAND',
            ...(hasTemplate && {
              'eks.amazonaws.com/sourceLaunchTemplateId': templateId,
              'eks.amazonaws.com/sourceLaunchTemplateVersion': String(node.madeFrom ?? version),
            }),
          },
        }),
      ),
    }
  }
}

export interface KarpenterOptions extends GroupOptions {
  /** `spec.kubelet` of the EC2NodeClass. */
  kubelet?: RawObject
  userData?: KubeletSettings[]
  /** Of a NodePool as it was before v1. */
  poolKubelet?: RawObject
}

const hashAnnotations = (hash: string, version: string) => ({
  'karpenter.k8s.aws/ec2nodeclass-hash': hash,
  'karpenter.k8s.aws/ec2nodeclass-hash-version': version,
})

export function karpenter({
  image,
  name = 'general',
  nodes,
  kubelet,
  userData,
  poolKubelet,
}: KarpenterOptions): GroupOf {
  return subnet => ({
    objects: {
      ...nodePool(name, { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name }, poolKubelet),
      'ec2nodeclasses.karpenter.k8s.aws': [
        {
          metadata: {
            name,
            uid: uidOf(`class/${name}`),
            creationTimestamp: created,
            annotations: hashAnnotations('now', 'v4'),
          },
          spec: {
            amiFamily: image.family,
            amiSelectorTerms: [{ alias: `${image.family.toLowerCase()}@latest` }],
            blockDeviceMappings: [
              { deviceName: '/dev/xvda', ebs: { volumeSize: '40Gi', volumeType: 'gp3' } },
            ],
            ...(kubelet && { kubelet }),
            ...(userData && { userData }),
          },
        },
      ],
    },
    nodes: nodes.map((node, index) =>
      nodeRecord(wholeImage(image, node), node, index, subnet, {
        labels: {
          'karpenter.sh/nodepool': name,
          'karpenter.sh/capacity-type': 'spot',
          'karpenter.k8s.aws/ec2nodeclass': name,
        },
        annotations: hashAnnotations(node.classHash ?? 'now', node.classHashVersion ?? 'v4'),
      }),
    ),
  })
}

const nodePool = (name: string, nodeClassRef: RawObject, kubelet?: RawObject) => ({
  'nodepools.karpenter.sh': [
    {
      metadata: { name, uid: uidOf(`pool/${name}`), creationTimestamp: created },
      spec: {
        disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '1m' },
        template: { spec: { nodeClassRef, ...(kubelet && { kubelet }) } },
      },
    },
  ],
})

/** EKS Auto Mode: nobody can declare anything, and nobody reads its nodes' disks. */
export function autoMode({ image, name = 'general-purpose', nodes }: GroupOptions): GroupOf {
  return subnet => ({
    objects: {
      ...nodePool(name, { group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'default' }),
      'nodeclasses.eks.amazonaws.com': [
        {
          metadata: { name: 'default', uid: uidOf('class/default'), creationTimestamp: created },
          spec: { ephemeralStorage: { size: '80Gi' } },
        },
      ],
    },
    nodes: nodes.map((node, index) =>
      nodeRecord(wholeImage(image, node), node, index, subnet, {
        labels: {
          'eks.amazonaws.com/compute-type': 'auto',
          'eks.amazonaws.com/nodeclass': 'default',
          'karpenter.sh/nodepool': name,
        },
      }),
    ),
  })
}

const labelled =
  (labelsOf: (name: string) => Record<string, string>) =>
  ({ image, name = 'own', nodes }: GroupOptions): GroupOf =>
  subnet => ({
    nodes: nodes.map((node, index) =>
      nodeRecord(wholeImage(image, node), node, index, subnet, { labels: labelsOf(name) }),
    ),
  })

export const eksctl = labelled(name => ({
  'alpha.eksctl.io/cluster-name': cluster,
  'alpha.eksctl.io/nodegroup-name': name,
}))
/** Nothing says which group they are of: each stands for itself. */
export const selfManaged = labelled(() => ({}))
export const hybrid = labelled(() => ({
  'eks.amazonaws.com/compute-type': 'hybrid',
  'eks.amazonaws.com/hybrid-credential-provider': 'ssm',
}))

const wholeImage = (
  image: GroupOptions['image'],
  { family, minor, instanceType, release }: Member,
): Image => ({
  family: family ?? image.family,
  minor: minor ?? image.minor,
  instanceType: instanceType ?? image.instanceType ?? 'm5.large',
  release: release ?? image.release ?? 'new',
})
