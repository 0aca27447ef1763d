/** Pull requests whose mistake, or whose harmlessness, is easy to overlook: a wrong place, a wrong unit, a value that goes, a name that changes. */
import type { PullRequest } from './pull-requests.ts'

const wholeSpec = `spec:
  amiSelectorTerms:
    - alias: al2023@latest
  role: r
  subnetSelectorTerms:
    - tags: {a: b}
  securityGroupSelectorTerms:
    - tags: {a: b}
`
const nodeClass = (more: string, name = 'spot', spec = wholeSpec) =>
  `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: ${name}}\n${spec}${more}`
const pool = (template: string) =>
  `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: spot}\nspec:\n  template:\n${template}    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: spot}\n`

/** Fields of Karpenter's objects that their CRD has at another place, or under another name. */
const atAWrongPlace: PullRequest[] = [
  ...[
    ['a threshold beside spec.kubelet', '  evictionHard:\n    nodefs.available: 20%\n', 12],
    ['kubeletConfiguration', '  kubeletConfiguration:\n    imageGCHighThresholdPercent: 70\n', 12],
    ['kubelet in other letters', '  Kubelet:\n    imageGCHighThresholdPercent: 70\n', 12],
    ['kubelet beside spec', 'kubelet:\n  imageGCHighThresholdPercent: 70\n', 12],
    [
      'mappings in the singular',
      '  blockDeviceMapping:\n    - deviceName: /dev/xvda\n      ebs: {volumeSize: 20Gi}\n',
      12,
    ],
    [
      'a size beside ebs',
      '  blockDeviceMappings:\n    - deviceName: /dev/xvda\n      volumeSize: 20Gi\n',
      14,
    ],
    ['user data in other letters', '  userdata: |\n    #!/bin/bash\n', 12],
  ].map(([name, more, line]) => ({
    name: `of a whole class: ${name}`,
    files: { 'class.yaml': nodeClass(String(more)) },
    stops: [`class.yaml:${line} refused`],
  })),
  ...[
    ['a threshold beside spec.kubelet', 'spec:\n  evictionHard:\n    nodefs.available: 20%\n', 5],
    ['kubeletConfiguration', 'spec:\n  kubeletConfiguration: {maxPods: 20}\n', 5],
    ['kubelet beside spec', 'kubelet:\n  imageGCHighThresholdPercent: 70\n', 4],
  ].map(([name, more, line]) => ({
    name: `of a part of a class: ${name}`,
    files: { 'class.yaml': nodeClass(String(more), 'spot', '') },
    stops: [`class.yaml:${line} refused`],
  })),
  {
    name: 'kubelet beside the spec of a template of nodes',
    files: { 'pool.yaml': pool('    kubelet: {maxPods: 10}\n') },
    stops: ['pool.yaml:6 refused'],
  },
  {
    name: 'fields of later releases of Karpenter, and notes of a tool',
    files: {
      'class.yaml': nodeClass('  warmPool: {size: 3}\n  cpuOptions: {coreCount: 2}\nx-notes: 1\n'),
      'pool.yaml': pool(''),
    },
    stops: [],
  },
]

export const ofSilence: readonly PullRequest[] = [...atAWrongPlace]
