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

const eksctl = (groups: string, list = 'managedNodeGroups') =>
  `apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: prod, region: eu-west-1}\n${list}:\n${groups}`
const nodegroupOfStack = (more: string) =>
  `Resources:\n  NG:\n    Type: AWS::EKS::Nodegroup\n    Properties:\n      ClusterName: prod\n      NodegroupName: general\n${more}`
const templateOfStack = (size: string) => `Resources:
  LT:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        BlockDeviceMappings:
          - DeviceName: /dev/xvda
            Ebs: {VolumeSize: ${size}}
`
const hclTemplate = (size: string) => `resource "aws_launch_template" "x" {
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = ${size}
    }
  }
}
`

/** Sizes that are whole numbers of GiB, but for those of an EC2NodeClass. */
const withAUnit: PullRequest[] = [
  ...['200Gi', '"200"', '40Gi'].map(size => ({
    name: `a size of eksctl: ${size}`,
    files: { 'cluster.yaml': eksctl(`  - name: general\n    volumeSize: ${size}\n`) },
    stops: ['cluster.yaml:6 refused'],
  })),
  {
    name: 'a size of CloudFormation with a unit',
    files: { 'stack.yaml': nodegroupOfStack('      DiskSize: 200Gi\n') },
    stops: ['stack.yaml:7 refused'],
  },
  {
    name: 'a size of a launch template in CloudFormation with a unit',
    group: 'general',
    files: { 'stack.yaml': templateOfStack('20GB') },
    stops: ['stack.yaml:8 refused'],
  },
  {
    name: 'a size of HCL with a unit',
    group: 'general',
    files: { 'main.tf': hclTemplate('"200Gi"') },
    stops: ['main.tf:5 refused'],
  },
  {
    name: 'sizes as texts that CloudFormation and Terraform take as numbers',
    group: 'general',
    files: {
      'stack.yaml': nodegroupOfStack('      DiskSize: "100"\n'),
      'main.tf': hclTemplate('"100"'),
    },
    stops: [],
  },
]

const ofEksctl: PullRequest[] = [
  {
    name: 'a setting of Bottlerocket in eksctl, after others',
    files: {
      'cluster.yaml': eksctl(
        '  - name: vault\n    amiFamily: Bottlerocket\n    bottlerocket:\n      settings:\n        motd: x\n        kubernetes:\n          max-pods: 29\n          image-gc-high-threshold-percent: 60\n          eviction-hard:\n            nodefs.available: 60%\n',
        'nodeGroups',
      ),
    },
    stops: ['cluster.yaml:12 refused'],
  },
  {
    name: 'a threshold of Bottlerocket in eksctl, after others',
    files: {
      'cluster.yaml': eksctl(
        '  - name: vault\n    amiFamily: Bottlerocket\n    bottlerocket:\n      settings:\n        kubernetes:\n          max-pods: 29\n          eviction-hard:\n            memory.available: 100Mi\n            nodefs.available: 60%\n',
        'nodeGroups',
      ),
    },
    stops: ['cluster.yaml:11 threshold-lost', 'cluster.yaml:13 eviction', 'cluster.yaml:13 worse'],
  },
  ...['AmazonLinux2023', 'Bottlerocket'].map(image => ({
    name: `fewer pods than run by eksctl on ${image}`,
    files: {
      'cluster.yaml': eksctl(
        `  - name: ${image === 'Bottlerocket' ? 'vault' : 'general'}\n    amiFamily: ${image}\n    maxPodsPerNode: 2\n`,
      ),
    },
    stops: ['cluster.yaml:7 worse'],
  })),
  {
    name: 'kubeletExtraConfig as a text',
    files: {
      'cluster.yaml': eksctl(
        '  - name: general\n    kubeletExtraConfig: "imageGCHighThresholdPercent: 70"\n',
        'nodeGroups',
      ),
    },
    stops: ['cluster.yaml:6 refused'],
  },
]

const nodeConfig = (high: string) =>
  `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      imageGCHighThresholdPercent: ${high}\n      imageGCLowThresholdPercent: 60\n`
const hclNodeConfig = (high: string) =>
  `resource "aws_launch_template" "general" {\n  name = "general"\n  user_data = base64encode(<<-EOT\n${nodeConfig(high).replace(/^/gm, '    ')}EOT\n  )\n}\n`
const kubelet = (high: string) =>
  `  kubelet:\n    imageGCHighThresholdPercent: ${high}\n    imageGCLowThresholdPercent: 60\n    evictionHard: {memory.available: 200Mi, nodefs.available: 12%, nodefs.inodesFree: 5%}\n`
const flags = (high: string) =>
  `#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args "--image-gc-high-threshold=${high} --image-gc-low-threshold=60"\n`
const toml = (high: string) =>
  `[settings.kubernetes]\nimage-gc-high-threshold-percent = "${high}"\nimage-gc-low-threshold-percent = 60\n`

/** Values and files that can no longer be read. */
const becomesUnclear: PullRequest[] = (
  [
    ['a NodeConfig', 'general/n.yaml', nodeConfig('70'), nodeConfig('"{{ high }}"')],
    ['a text in HCL', 'general/m.tf', hclNodeConfig('70'), hclNodeConfig(`\${var.x}`)],
    [
      'a text in HCL that becomes a file',
      'general/m.tf',
      hclNodeConfig('70'),
      'resource "aws_launch_template" "general" {\n  user_data = base64encode(templatefile("ud.tpl", {}))\n}\n',
    ],
    [
      'a node class that becomes a template of Helm',
      'class.yaml',
      nodeClass(kubelet('70')),
      nodeClass(kubelet('{{ .Values.high }}')),
    ],
    ['a flag', 'legacy/u.sh', flags('70'), flags('$HIGH')],
    ['a setting of Bottlerocket', 'vault.toml', toml('70'), toml(`\${high}`)],
  ] as const
).map(([name, file, before, after]) => ({
  name: `an expression in place of a value: ${name}`,
  base: { [file]: before },
  files: { [file]: after },
  stops: [],
  isUnread: true,
}))

const mappings =
  '  blockDeviceMappings:\n    - deviceName: /dev/xvda\n      ebs: {volumeSize: 100Gi}\n'
const hclGroup = (more: string) =>
  `resource "aws_eks_node_group" "x" {\n  cluster_name = "prod"\n  node_group_name = "general"\n${more}}\n`

/** Sizes of volumes that go: their owner's default takes their place. */
const withoutASize: PullRequest[] = [
  {
    name: 'a node class without its mapping',
    base: { 'class.yaml': nodeClass(mappings) },
    files: { 'class.yaml': nodeClass('') },
    stops: ['class.yaml:4 eviction', 'class.yaml:4 worse'],
  },
  {
    name: 'a nodegroup of CloudFormation without its size',
    base: { 'stack.yaml': nodegroupOfStack('      DiskSize: 100\n') },
    files: { 'stack.yaml': nodegroupOfStack('') },
    stops: ['stack.yaml:1 eviction', 'stack.yaml:1 worse'],
  },
  {
    name: 'a nodegroup of HCL without its size',
    base: { 'main.tf': hclGroup('  disk_size = 100\n') },
    files: { 'main.tf': hclGroup('') },
    stops: ['main.tf:1 eviction', 'main.tf:1 worse'],
  },
  {
    name: 'a nodegroup of eksctl without its size, which is 80 GiB then',
    base: { 'cluster.yaml': eksctl('  - name: general\n    volumeSize: 100\n') },
    files: { 'cluster.yaml': eksctl('  - name: general\n') },
    stops: [],
  },
  {
    name: 'a size that a launch template has from now on',
    base: { 'main.tf': hclGroup('  disk_size = 100\n') },
    files: { 'main.tf': hclGroup('  launch_template { id = var.id }\n') },
    stops: [],
    isUnread: true,
  },
  {
    name: 'an instance store in place of a volume',
    base: { 'class.yaml': nodeClass(mappings) },
    files: { 'class.yaml': nodeClass('  instanceStorePolicy: RAID0\n') },
    stops: [],
  },
  {
    name: 'a node class for nodes with an image of their own, without its mapping',
    base: { 'class.yaml': nodeClass(`  amiFamily: Custom\n${mappings}`) },
    files: { 'class.yaml': nodeClass('  amiFamily: Custom\n') },
    stops: [],
  },
]

const eksctlGroup = (name: string) =>
  eksctl(
    `  - name: small\n  - name: ${name}\n    amiFamily: AmazonLinux2023\n    kubeletExtraConfig: {imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 60}\n`,
    'nodeGroups',
  )

/** Objects that go, or have another name: their nodes go with them. */
const withoutAnObject: PullRequest[] = [
  {
    name: 'a nodegroup of eksctl under another name',
    base: { 'cluster.yaml': eksctlGroup('general') },
    files: { 'cluster.yaml': eksctlGroup('general-v2') },
    stops: [],
  },
  {
    name: 'a nodegroup of eksctl that goes',
    base: { 'cluster.yaml': eksctlGroup('general') },
    files: { 'cluster.yaml': eksctl('  - name: small\n', 'nodeGroups') },
    stops: [],
  },
  {
    name: 'a node class under another name',
    base: { 'class.yaml': nodeClass(kubelet('70')) },
    files: { 'class.yaml': nodeClass(kubelet('70'), 'spot2') },
    stops: [],
  },
]

const config = (...lines: string[]) => ({
  'n.yaml': `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n${lines.map(line => `      ${line}\n`).join('')}`,
})

/** Settings that a kubelet takes and does not use, and some that it uses. */
const ofEviction: PullRequest[] = [
  ...[
    ['a threshold of containerfs', 'evictionHard: {containerfs.available: 60%}'],
    [
      'a reclaim of a signal without a threshold',
      'evictionMinimumReclaim: {imagefs.available: 2Gi}',
    ],
    ['a grace period without its threshold', 'evictionSoftGracePeriod: {nodefs.available: 2m}'],
    ['a grace period of pods without a soft threshold', 'evictionMaxPodGracePeriod: 60'],
  ].map(([name = '', line = '']) => ({
    name,
    group: 'general',
    files: config(line),
    stops: ['n.yaml:6 no-effect'],
  })),
  {
    name: 'grace periods, reclaims and thresholds that a kubelet uses',
    group: 'general',
    files: config(
      'evictionMinimumReclaim: {nodefs.available: 1Gi, memory.available: 100Mi}',
      'evictionSoft: {nodefs.available: 14%}',
      'evictionSoftGracePeriod: {nodefs.available: 2m}',
      'evictionMaxPodGracePeriod: 60',
    ),
    stops: [],
  },
  {
    name: 'what containerfs has anyway, and no grace period',
    group: 'general',
    files: config(
      'evictionHard: {containerfs.available: 10%, nodefs.available: 10%}',
      'evictionMaxPodGracePeriod: 0',
    ),
    stops: [],
  },
  {
    name: 'an empty list, which is no expression',
    files: {
      'legacy/kubelet.yaml':
        'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupsPerQOS: false\nenforceNodeAllocatable: []\n',
    },
    base: {
      'legacy/kubelet.yaml':
        'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n',
    },
    stops: [],
  },
]

/** Words of a command line that end the kubelet. */
const ofWords: PullRequest[] = [
  ...['-max-pods=29', '---max-pods=29', '--=29', '\u2013max-pods=29', '--v=abc'].map(word => ({
    name: `an argument that ends the kubelet: ${word}`,
    files: {
      'legacy/u.sh': `#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args "${word}"\n`,
    },
    stops: ['legacy/u.sh:2 refused'],
  })),
  {
    name: 'arguments with one hyphen that a kubelet knows',
    files: {
      'legacy/u.sh':
        '#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args "-v=2 -v 3 --max-pods 29"\n',
    },
    stops: [],
  },
  {
    name: 'a line that only prints flags',
    files: {
      'legacy/u.sh': `#!/bin/bash\necho "use --kubelet-extra-args '--image-gc-high-threshold=60'"\n/etc/eks/bootstrap.sh prod\n`,
    },
    stops: [],
  },
  {
    name: 'a block that writes what it prints',
    files: {
      'legacy/u.sh':
        '#!/bin/bash\n{\n  echo "KUBELET_EXTRA_ARGS=--image-gc-high-threshold=60"\n} > /etc/sysconfig/kubelet\n',
    },
    stops: ['legacy/u.sh:3 refused'],
  },
]

const unread = (name: string, file: string, text: string): PullRequest => ({
  name,
  files: { [file]: text },
  stops: [],
  isUnread: true,
})
const ignored = (name: string, text: string, base?: string): PullRequest => ({
  name,
  files: { 'a.yaml': text },
  ...(base !== undefined && { base: { 'a.yaml': base } }),
  stops: [],
})
const policy = (rule: string) =>
  `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: x}\nspec:\n  rules:\n  - name: a\n    ${rule}\n`
const values = (image: string, share: string) =>
  `kubelet:\n  evictionHard:\n    nodefs.available: ${share}\nimage: ${image}\n`

/** Programs, and objects that only name what they do not set. */
const ofOtherKinds: PullRequest[] = [
  unread(
    "a script of Python that edits the kubelet's file",
    'general/ud.py',
    "#!/usr/bin/env python3\nimport json\np='/etc/kubernetes/kubelet/config.json'\nc=json.load(open(p)); c['imageGCHighThresholdPercent']=60; json.dump(c,open(p,'w'))\n",
  ),
  unread(
    'a program of Pulumi',
    'p.ts',
    "import * as eks from '@pulumi/eks';\nnew eks.ManagedNodeGroup('general',{kubeletExtraArgs:'--image-gc-high-threshold=60'});\n",
  ),
  unread(
    'a policy that writes thresholds',
    'policy.yaml',
    policy(
      'mutate: {patchStrategicMerge: {spec: {kubelet: {evictionHard: {nodefs.available: 60%}}}}}',
    ),
  ),
  ignored(
    'a policy that demands thresholds',
    policy('validate: {pattern: {spec: {kubelet: {evictionHard: "?*"}}}}'),
  ),
  ignored(
    'an alert on evictions',
    'apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: x}\nspec: {expr: \'kubelet_evictions{eviction_signal="nodefs.available"}\'}\n',
  ),
  ignored(
    'a cluster of kind',
    'kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- kubeadmConfigPatches:\n  - |\n    kind: KubeletConfiguration\n    imageGCHighThresholdPercent: 60\n',
  ),
  ignored('values of which the image changes', values('b', '10%'), values('a', '10%')),
  {
    ...ignored('values of which a threshold changes', values('a', '60%'), values('a', '10%')),
    isUnread: true,
  },
]

export const ofSilence: readonly PullRequest[] = [
  ...atAWrongPlace,
  ...withAUnit,
  ...ofEksctl,
  ...becomesUnclear,
  ...withoutASize,
  ...withoutAnObject,
  ...ofEviction,
  ...ofWords,
  ...ofOtherKinds,
]
