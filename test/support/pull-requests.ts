/** Pull requests as repositories of EKS platforms have them, and what stops each. */
import { gzipSync } from 'node:zlib'
import { valuesOfKubelets } from './pull-requests-in-values.ts'
import { ofFlags } from './pull-requests-of-flags.ts'
import { ofPublicPlatforms } from './pull-requests-of-platforms.ts'
import { ofSilence } from './pull-requests-of-silence.ts'

export interface PullRequest {
  name: string
  files: Record<string, string>
  /** The same files before the change. Absent: no base is given. */
  base?: Record<string, string>
  group?: string
  /** Each `file:line kind` that stops it, once; none: it passes. */
  stops: string[]
  /** Nothing stops it, and something is named as not read. */
  isUnread?: true
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const gzip64 = (text: string) => gzipSync(text).toString('base64')

const kubeletKind = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const nodeConfig = (config: string) =>
  `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n${config}`
const goodGc = (indent: string) =>
  `${indent}imageGCHighThresholdPercent: 75\n${indent}imageGCLowThresholdPercent: 65\n`
const badGc = (indent: string) =>
  `${indent}imageGCHighThresholdPercent: 60\n${indent}imageGCLowThresholdPercent: 70\n`

const mime = (...parts: [type: string, body: string, ...headers: string[]][]) =>
  `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n${parts
    .map(([type, body, ...headers]) =>
      ['--//', `Content-Type: ${type}`, ...headers, '', body].join('\n'),
    )
    .join('\n')}\n--//--\n`

const nodeClass = (name: string, spec: string) =>
  `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: ${name}\nspec:\n  role: KarpenterNodeRole-prod\n${spec}`

const eksctl = (rest: string) =>
  `apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata:\n  name: prod\n  region: eu-west-1\n${rest}`

const onAl2023: PullRequest[] = [
  {
    name: "a file of eksctl's old bootstrap",
    files: {
      'general/user-data.sh': `#!/bin/bash
set -o errexit
mkdir -p /etc/eksctl
cat <<'JSON' > /etc/eksctl/kubelet-extra.json
{
  "imageGCHighThresholdPercent": 75,
  "imageGCLowThresholdPercent": 65
}
JSON
`,
    },
    stops: ['general/user-data.sh:6 no-effect', 'general/user-data.sh:7 no-effect'],
  },
  {
    name: "jq on Amazon Linux 2's file",
    files: {
      'general/user-data.sh': `#!/bin/bash
jq '.imageGCHighThresholdPercent=75 | .imageGCLowThresholdPercent=65' /etc/kubernetes/kubelet/kubelet-config.json > /tmp/k.json
mv /tmp/k.json /etc/kubernetes/kubelet/kubelet-config.json
`,
    },
    stops: ['general/user-data.sh:2 no-effect'],
  },
  {
    name: "jq on Amazon Linux 2's file by a variable",
    files: {
      'general/user-data.sh': `#!/bin/bash
KUBELET_CONFIG=/etc/kubernetes/kubelet/kubelet-config.json
echo "$(jq ".imageGCHighThresholdPercent=75" $KUBELET_CONFIG)" > $KUBELET_CONFIG
echo "$(jq ".imageGCLowThresholdPercent=65" $KUBELET_CONFIG)" > $KUBELET_CONFIG
`,
    },
    stops: ['general/user-data.sh:3 no-effect', 'general/user-data.sh:4 no-effect'],
  },
  {
    name: 'jq on the file that nodeadm writes',
    files: {
      'general/user-data.sh': `#!/bin/bash
CONFIG=/etc/kubernetes/kubelet/config.json
jq '.imageGCHighThresholdPercent=75 | .imageGCLowThresholdPercent=65' $CONFIG > /tmp/c.json && mv /tmp/c.json $CONFIG
`,
    },
    stops: [],
  },
  {
    name: 'a drop-in by a script',
    files: {
      'general/user-data.sh': `#!/bin/bash
cat > /etc/kubernetes/kubelet/config.json.d/50-disk.conf <<END
${kubeletKind}${goodGc('')}END
`,
    },
    stops: [],
  },
  {
    name: 'a drop-in by a script with a name that is not read',
    files: {
      'general/user-data.sh': `#!/bin/bash
cat > /etc/kubernetes/kubelet/config.json.d/50-disk.yaml <<END
${kubeletKind}${goodGc('')}END
`,
    },
    stops: ['general/user-data.sh:5 no-effect', 'general/user-data.sh:6 no-effect'],
  },
  {
    name: 'a drop-in by a script without its kind',
    files: {
      'general/user-data.sh': `#!/bin/bash
tee /etc/kubernetes/kubelet/config.json.d/50-disk.conf <<END
${goodGc('')}END
`,
    },
    stops: ['general/user-data.sh:3 refused'],
  },
  {
    name: 'a drop-in by a script with high below low',
    files: {
      'general/user-data.sh': `#!/bin/bash
# imageGCHighThresholdPercent: we lower it, see the runbook
cat > /etc/kubernetes/kubelet/config.json.d/50-disk.conf <<END
${kubeletKind}imageGCHighThresholdPercent: 60
END
`,
    },
    stops: ['general/user-data.sh:6 refused'],
  },
  {
    name: 'arguments of bootstrap.sh in the second part',
    files: {
      'terraform/templates/general-userdata.tftpl': mime(
        ['application/node.eks.aws', nodeConfig(goodGc('      '))],
        [
          'text/x-shellscript; charset="us-ascii"',
          `#!/bin/bash\n/etc/eks/bootstrap.sh \${cluster_name} --kubelet-extra-args '--max-pods=50'`,
        ],
      ),
    },
    stops: ['terraform/templates/general-userdata.tftpl:19 no-effect'],
  },
  {
    name: 'a part in base64 with high below low',
    files: {
      'general/user-data.mime': mime(
        ['text/x-shellscript', '#!/bin/bash\necho ready'],
        [
          'application/node.eks.aws',
          base64(nodeConfig(badGc('      '))),
          'Content-Transfer-Encoding: base64',
        ],
      ),
    },
    stops: ['general/user-data.mime:13 refused'],
  },
  {
    name: 'a NodeConfig in a part of cloud-init',
    files: { 'general/user-data.mime': mime(['text/cloud-config', nodeConfig(goodGc('      '))]) },
    stops: ['general/user-data.mime:12 no-effect', 'general/user-data.mime:13 no-effect'],
  },
  {
    name: "variables of Amazon Linux 2's unit",
    files: {
      'general/cloud-init.yaml': `#cloud-config
write_files:
- path: /etc/sysconfig/kubelet
  content: |
    KUBELET_EXTRA_ARGS=--max-pods=20
`,
    },
    stops: ['general/cloud-init.yaml:5 no-effect'],
  },
  {
    name: 'a drop-in of the unit',
    files: {
      'general/cloud-init.yaml': `#cloud-config
write_files:
- path: /etc/systemd/system/kubelet.service.d/20-disk.conf
  content: |
    [Service]
    Environment="KUBELET_EXTRA_ARGS=--image-gc-high-threshold=75 --image-gc-low-threshold=65"
`,
    },
    stops: ['general/cloud-init.yaml:6 no-effect'],
  },
  {
    name: 'a written file in base64 with high below low',
    files: {
      'general/cloud-init.yaml': `#cloud-config
package_update: true
write_files:
- path: /etc/kubernetes/kubelet/config.json.d/50-disk.conf
  encoding: b64
  content: ${base64(`${kubeletKind}${badGc('')}`)}
`,
    },
    stops: ['general/cloud-init.yaml:6 refused'],
  },
  {
    name: "a written file for kubeadm's kubelet",
    files: {
      'general/cloud-init.yaml': `#cloud-config
write_files:
- path: /var/lib/kubelet/config.yaml
  content: |
    ${kubeletKind.replace('\n', '\n    ').trimEnd()}
    imageGCHighThresholdPercent: 75
`,
    },
    stops: ['general/cloud-init.yaml:7 no-effect'],
  },
  {
    name: 'a template of Terraform with placeholders',
    files: {
      'modules/general/userdata.yaml.tpl': nodeConfig(goodGc('      ')).replace(
        'spec:',
        `spec:\n  cluster:\n    name: \${cluster_name}\n    apiServerEndpoint: \${cluster_endpoint}`,
      ),
    },
    stops: [],
  },
  {
    name: 'a template of Terraform with conditions',
    files: {
      'modules/general/userdata.yaml.tpl': `${nodeConfig('')}%{ if low_disk ~}\n${badGc('      ')}%{ endif ~}\n`,
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'user data in base64',
    files: { 'general/user-data.b64': `${base64(nodeConfig(badGc('      ')))}\n` },
    stops: ['general/user-data.b64:1 refused'],
  },
  {
    name: 'user data in gzip and base64',
    files: { 'general/user-data.b64': `${gzip64(nodeConfig(goodGc('      ')))}\n` },
    stops: [],
  },
  {
    name: 'a key that stands twice',
    files: {
      'general/nodeconfig.yaml': nodeConfig(
        `${goodGc('      ')}      imageGCHighThresholdPercent: 60\n`,
      ),
    },
    stops: ['general/nodeconfig.yaml:8 refused'],
  },
  {
    name: 'a whole map by a flag of NodeConfig',
    files: {
      'general/nodeconfig.yaml': nodeConfig('      maxPods: 29\n').replace(
        '    config:',
        '    flags:\n    - --node-labels=team=data\n    - --eviction-hard=memory.available<200Mi\n    config:',
      ),
    },
    stops: ['general/nodeconfig.yaml:7 threshold-lost'],
  },
  {
    name: 'lines that end as on Windows',
    files: {
      'general/nodeconfig.yaml': nodeConfig(
        '      evictionHard:\n        nodefs.available: 10GiB\n',
      ).replaceAll('\n', '\r\n'),
    },
    stops: ['general/nodeconfig.yaml:7 refused'],
  },
  {
    name: 'two configurations of one file',
    files: {
      'general/nodeconfig.yaml': `---\n# the team's own\n${nodeConfig(goodGc('      '))}---\n${nodeConfig("      evictionHard:\n        nodefs.available: '10'\n")}...\n`,
    },
    stops: ['general/nodeconfig.yaml:17 worse'],
  },
]

const onAl2: PullRequest[] = [
  {
    name: 'thresholds in bytes by a flag',
    files: {
      'legacy/user-data.sh': `#!/bin/bash
/etc/eks/bootstrap.sh prod --kubelet-extra-args '--eviction-hard=memory.available<100Mi,nodefs.available<10,nodefs.inodesFree<5%'
`,
    },
    stops: ['legacy/user-data.sh:2 worse'],
  },
  {
    name: 'arguments over several lines',
    files: {
      'legacy/user-data.sh': `#!/bin/bash
set -ex
# --image-gc-high-threshold is low on purpose
/etc/eks/bootstrap.sh prod \\
  --b64-cluster-ca $B64_CLUSTER_CA \\
  --kubelet-extra-args '--image-gc-high-threshold=50 --image-gc-low-threshold=60' \\
  --dns-cluster-ip 172.20.0.10
`,
    },
    stops: ['legacy/user-data.sh:6 refused'],
  },
  {
    name: 'jq on its own file',
    files: {
      'legacy/user-data.sh': `#!/bin/bash
KUBELET_CONFIG=/etc/kubernetes/kubelet/kubelet-config.json
echo "$(jq ".imageGCHighThresholdPercent=75 | .imageGCLowThresholdPercent=65" $KUBELET_CONFIG)" > $KUBELET_CONFIG
/etc/eks/bootstrap.sh prod
`,
    },
    stops: [],
  },
  {
    name: "jq on Amazon Linux 2023's file",
    files: {
      'legacy/user-data.sh': `#!/bin/bash
jq '.imageGCHighThresholdPercent=75' /etc/kubernetes/kubelet/config.json > /tmp/c && mv /tmp/c /etc/kubernetes/kubelet/config.json
/etc/eks/bootstrap.sh prod
`,
    },
    stops: ['legacy/user-data.sh:2 no-effect'],
  },
  {
    name: "a drop-in of Amazon Linux 2023's folder",
    files: {
      'legacy/user-data.sh': `#!/bin/bash
mkdir -p /etc/kubernetes/kubelet/config.json.d
cat <<END > /etc/kubernetes/kubelet/config.json.d/50-disk.conf
${kubeletKind}imageGCHighThresholdPercent: 82
END
/etc/eks/bootstrap.sh prod
`,
    },
    stops: ['legacy/user-data.sh:6 no-effect'],
  },
]

const onBottlerocket: PullRequest[] = [
  {
    name: 'dotted keys',
    files: {
      'bottlerocket/vault.toml': `settings.kubernetes.cluster-name = "prod"
settings.kubernetes.image-gc-high-threshold-percent = "75"
settings.kubernetes.image-gc-low-threshold-percent = "65"
`,
    },
    stops: [],
  },
  {
    name: 'one threshold of the map',
    files: {
      'bottlerocket/vault.toml': `[settings.kubernetes]
max-pods = 29

[settings.kubernetes.eviction-hard]
"nodefs.available" = "10%"
`,
    },
    stops: ['bottlerocket/vault.toml:4 threshold-lost'],
  },
  {
    name: 'a threshold that is a number',
    files: {
      'bottlerocket/vault.toml': `[settings.kubernetes.eviction-hard]
"memory.available" = "100Mi"
"nodefs.available" = 10
"nodefs.inodesFree" = "5%"
"imagefs.available" = "15%"
`,
    },
    stops: ['bottlerocket/vault.toml:3 refused'],
  },
  {
    name: 'a number in quotes',
    files: { 'bottlerocket/vault.toml': '[settings.kubernetes]\nmax-pods = "50"\n' },
    stops: ['bottlerocket/vault.toml:2 refused'],
  },
  {
    name: 'labels only',
    files: { 'bottlerocket/vault.toml': '[settings.kubernetes.node-labels]\n"team" = "data"\n' },
    stops: [],
  },
  {
    name: 'a key that stands twice in TOML',
    files: {
      'bottlerocket/vault.toml':
        '[settings.kubernetes]\ncluster-name = "prod"\nmax-pods = 29\nmax-pods = 50\n',
    },
    stops: ['bottlerocket/vault.toml:4 unparsed'],
  },
  {
    name: 'a comment with the name of the setting',
    files: {
      'bottlerocket/vault.toml': `# image-gc-high-threshold-percent = "85" was the old value
[settings.host-containers.admin]
enabled = true

[settings.kubernetes]
image-gc-high-threshold-percent = "60"
image-gc-low-threshold-percent = "70"
`,
    },
    stops: ['bottlerocket/vault.toml:6 refused'],
  },
  {
    name: 'names of KubeletConfiguration',
    files: {
      'bottlerocket/vault.toml': '[settings.kubernetes]\nimageGCHighThresholdPercent = 75\n',
    },
    stops: ['bottlerocket/vault.toml:2 refused'],
  },
]

const ofEksctl: PullRequest[] = [
  {
    name: 'a threshold of one nodegroup',
    files: {
      'clusters/prod.yaml': eksctl(`nodeGroups:
- name: batch
  instanceType: m6i.xlarge
  kubeletExtraConfig:
    evictionHard:
      memory.available: 200Mi
`),
    },
    stops: [],
  },
  {
    name: 'a merge key',
    files: {
      'clusters/prod.yaml': eksctl(`x-disk: &disk
  imageGCHighThresholdPercent: 60
  imageGCLowThresholdPercent: 70
nodeGroups:
- name: batch
  kubeletExtraConfig:
    <<: *disk
    maxPods: 29
`),
    },
    stops: ['clusters/prod.yaml:7 refused'],
  },
  {
    name: 'an alias',
    files: {
      'clusters/prod.yaml': eksctl(`x-disk: &disk
  evictionHard: {nodefs.available: "10"}
nodeGroups:
- name: other
  kubeletExtraConfig: *disk
- name: batch
  kubeletExtraConfig: *disk
`),
    },
    stops: ['clusters/prod.yaml:7 worse'],
  },
  {
    name: 'bootstrap.sh in an overriding command',
    files: {
      'clusters/prod.yaml': eksctl(`nodeGroups:
- name: batch
  amiFamily: AmazonLinux2023
  overrideBootstrapCommand: |
    #!/bin/bash
    source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh
    /etc/eks/bootstrap.sh prod --kubelet-extra-args '--max-pods=50'
`),
    },
    stops: ['clusters/prod.yaml:12 no-effect'],
  },
  {
    name: 'a command before the start that writes an old file',
    files: {
      'clusters/prod.yaml': eksctl(`managedNodeGroups:
- name: batch
  preBootstrapCommands:
  - echo hello
  - |
    jq '.imageGCHighThresholdPercent=75' /etc/kubernetes/kubelet/kubelet-config.json > /tmp/k
    mv /tmp/k /etc/kubernetes/kubelet/kubelet-config.json
`),
    },
    stops: ['clusters/prod.yaml:11 no-effect'],
  },
  {
    name: "names of KubeletConfiguration in Bottlerocket's settings",
    files: {
      'clusters/prod.yaml': eksctl(`managedNodeGroups:
- name: vault
  amiFamily: Bottlerocket
  bottlerocket:
    settings:
      kubernetes:
        imageGCHighThresholdPercent: 75
`),
    },
    stops: ['clusters/prod.yaml:12 refused'],
  },
]

const renderedByHelm = (metal: string) => `---
# Source: karpenter-resources/templates/nodepool.yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: spot
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: spot}
      expireAfter: 720h
---
# Source: karpenter-resources/templates/nodeclass.yaml
${nodeClass('spot', `  amiSelectorTerms: [{alias: al2023@latest}]\n  kubelet:\n${goodGc('    ')}`)}---
# Source: karpenter-resources/templates/nodeclass.yaml
${nodeClass('metal', `  amiSelectorTerms: [{alias: bottlerocket@latest}]\n  kubelet:\n${metal}`)}`

const ofKarpenter: PullRequest[] = [
  {
    name: 'a bad class among rendered documents',
    files: { 'rendered/karpenter.yaml': renderedByHelm(badGc('    ')) },
    stops: ['rendered/karpenter.yaml:34 refused'],
  },
  {
    name: 'rendered documents',
    files: { 'rendered/karpenter.yaml': renderedByHelm(goodGc('    ')) },
    stops: [],
  },
  {
    name: 'a list of objects',
    files: {
      'rendered/karpenter.yaml': `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: x}
- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata:
    name: spot
  spec:
    kubelet:
${badGc('      ')}`,
    },
    stops: ['rendered/karpenter.yaml:13 refused'],
  },
  {
    name: 'a soft threshold without grace period',
    files: {
      'karpenter/spot.yaml': nodeClass(
        'spot',
        '  kubelet:\n    evictionSoft:\n      nodefs.available: 15%\n',
      ),
    },
    stops: ['karpenter/spot.yaml:9 refused'],
  },
  {
    name: 'a threshold that YAML reads as a number',
    files: {
      'karpenter/spot.yaml': nodeClass(
        'spot',
        '  kubelet:\n    evictionHard:\n      nodefs.available: 10\n',
      ),
    },
    stops: ['karpenter/spot.yaml:9 refused'],
  },
  {
    name: 'a percentage above 100',
    files: {
      'karpenter/spot.yaml': nodeClass(
        'spot',
        '  kubelet:\n    imageGCHighThresholdPercent: 101\n    imageGCLowThresholdPercent: 65\n',
      ),
    },
    stops: ['karpenter/spot.yaml:8 refused'],
  },
  {
    name: 'a disruption budget',
    files: {
      'karpenter/pools.yaml': `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    budgets: [{nodes: 10%}]
`,
    },
    stops: [],
  },
  {
    name: 'an absolute threshold on all nodes of a class',
    files: {
      'karpenter/spot.yaml': nodeClass(
        'spot',
        '  amiSelectorTerms: [{alias: al2023@v20251108}]\n  kubelet:\n    evictionHard:\n      memory.available: 100Mi\n      nodefs.available: 60Gi\n      nodefs.inodesFree: 5%\n',
      ),
    },
    stops: ['karpenter/spot.yaml:11 eviction', 'karpenter/spot.yaml:11 worse'],
  },
]

const ofKustomize: PullRequest[] = [
  {
    name: 'operations in a kustomization',
    files: {
      'overlays/prod/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../base]
patches:
- target: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: spot}
  patch: |-
    - op: replace
      path: /spec/kubelet/imageGCHighThresholdPercent
      value: 60
    - op: add
      path: /spec/kubelet/imageGCLowThresholdPercent
      value: 70
`,
    },
    stops: ['overlays/prod/kustomization.yaml:8 refused'],
  },
  {
    name: 'good operations in a kustomization',
    files: {
      'overlays/prod/kustomization.yaml': `kind: Kustomization
patches:
- target: {kind: EC2NodeClass, name: spot}
  patch: |-
    - {op: replace, path: /spec/kubelet/imageGCHighThresholdPercent, value: 75}
    - {op: add, path: /spec/kubelet/imageGCLowThresholdPercent, value: 65}
`,
    },
    stops: [],
  },
  {
    name: 'a partial object in a kustomization',
    files: {
      'overlays/prod/kustomization.yaml': `kind: Kustomization
patches:
- patch: |-
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata:
      name: spot
    spec:
      kubelet:
        evictionHard:
          nodefs.available: "10"
`,
    },
    stops: ['overlays/prod/kustomization.yaml:11 worse'],
  },
  ...(
    [
      ['name: spot', []],
      ['name: sp.*', []],
      ['name: "spot|ot.er"', []],
      ['name: metal', ['10 threshold-lost']],
      ['labelSelector: team=data', ['10 threshold-lost']],
      ['name: "(spot|metal)"', ['10 threshold-lost']],
      ['name: "[a-z]+"', ['10 threshold-lost']],
    ] as const
  ).map(
    ([selector, more]): PullRequest => ({
      name: `a patch whose target is ${selector}`,
      files: {
        'overlays/prod/kustomization.yaml': `kind: Kustomization
patches:
- target: {kind: EC2NodeClass, ${selector}}
  patch: |-
    kind: EC2NodeClass
    metadata:
      name: any
    spec:
      kubelet:
        evictionHard:
          memory.available: 100Mi
          nodefs.available: 60Gi
          nodefs.inodesFree: 5%
`,
      },
      stops: [...more, '12 eviction', '12 worse'].map(
        stop => `overlays/prod/kustomization.yaml:${stop}`,
      ),
    }),
  ),
  {
    name: 'a patch without kind and name',
    files: {
      'overlays/prod/kustomization.yaml': `kind: Kustomization
patches:
- target: {group: karpenter.k8s.aws, version: v1, kind: EC2NodeClass, name: spot}
  patch: |-
    spec:
      kubelet:
        imageGCHighThresholdPercent: 60
        imageGCLowThresholdPercent: 70
`,
    },
    stops: ['overlays/prod/kustomization.yaml:7 refused'],
  },
  {
    name: 'a partial object in a file',
    files: {
      'overlays/prod/patch.yaml': nodeClass(
        'spot',
        '  kubelet:\n    evictionHard:\n      nodefs.available: "10"\n',
      ),
    },
    stops: ['overlays/prod/patch.yaml:9 worse'],
  },
  {
    name: 'operations in a file',
    files: {
      'overlays/spot/patch.yaml': `- op: test
  path: /metadata/labels/team~1owner
  value: data
- op: replace
  path: /spec/kubelet/evictionHard/nodefs.available
  value: "10"
`,
    },
    stops: ['overlays/spot/patch.yaml:5 worse'],
  },
  {
    name: 'a kustomization without settings of a kubelet',
    files: {
      'apps/kustomization.yaml': `kind: Kustomization
resources: [deployment.yaml]
configMapGenerator:
- name: x
  literals: [A=B]
patches:
- target: {kind: Deployment, name: api}
  patch: '[{"op": "replace", "path": "/spec/replicas", "value": 3}]'
`,
    },
    stops: [],
  },
]

const kubeletFile = (rest: string) =>
  `${kubeletKind}evictionHard:\n  memory.available: 100Mi\n  nodefs.available: 10%\n  nodefs.inodesFree: 5%\ncgroupDriver: systemd\nkubeReserved: {cpu: 90m, memory: 574Mi, ephemeral-storage: 1Gi}\nserializeImagePulls: false\n${rest}clusterDNS: [10.96.0.10]\nclusterDomain: cluster.local\nmaxPods: 29\nauthentication: {x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}\n`

const ofKubelet: PullRequest[] = [
  {
    name: 'words that YAML 1.1 reads as booleans',
    files: { 'general/kubelet.yaml': kubeletFile('failSwapOn: yes\nseccompDefault: off\n') },
    stops: [],
  },
  {
    name: 'a duration without unit',
    files: { 'general/kubelet.yaml': kubeletFile('evictionPressureTransitionPeriod: 300\n') },
    stops: ['general/kubelet.yaml:10 refused'],
  },
  {
    name: 'one line of JSON',
    files: {
      'general/kubelet.json':
        '{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1","imageGCHighThresholdPercent":80,"imageGCLowThresholdPercent":80}',
    },
    stops: ['general/kubelet.json:1 refused'],
  },
  {
    name: 'ages in the wrong order',
    files: {
      'general/kubelet.yaml': kubeletFile('imageMinimumGCAge: 24h\nimageMaximumGCAge: 12h\n'),
    },
    stops: ['general/kubelet.yaml:10 refused'],
  },
]

const withBase: PullRequest[] = [
  {
    name: 'a refused file that stays refused',
    base: {
      'general/nodeconfig.yaml': nodeConfig(
        '      imageGCHighThresholdPercent: 70\n      imageGCLowThresholdPercent: 80\n',
      ),
    },
    files: {
      'general/nodeconfig.yaml': nodeConfig(
        '      imageGCHighThresholdPercent: 75\n      imageGCLowThresholdPercent: 80\n',
      ),
    },
    stops: [],
  },
  {
    name: 'a second mistake in a refused file',
    base: { 'general/nodeconfig.yaml': nodeConfig('      imageGCHighThresholdPercent: 70\n') },
    files: {
      'general/nodeconfig.yaml': nodeConfig(
        '      imageGCHighThresholdPercent: 70\n      containerLogMaxFiles: 1\n',
      ),
    },
    stops: ['general/nodeconfig.yaml:7 refused'],
  },
  {
    name: 'a drop-in that is deleted',
    base: {
      'general/kubelet.conf.d/50-disk.conf': `${kubeletKind}evictionHard:\n  imagefs.available: 10%\n`,
    },
    files: {},
    stops: ['general/kubelet.conf.d/50-disk.conf:1 threshold-lost'],
  },
  {
    name: 'an unknown key that stays',
    base: { 'general/nodeconfig.yaml': nodeConfig('      imageGCTreshold: 70\n') },
    files: {
      'general/nodeconfig.yaml': nodeConfig('      imageGCTreshold: 70\n      maxPods: 30\n'),
    },
    stops: [],
  },
  {
    name: 'a threshold that is removed',
    base: {
      'general/nodeconfig.yaml': nodeConfig(
        '      evictionHard:\n        nodefs.available: 10%\n        imagefs.available: 10%\n',
      ),
    },
    files: {
      'general/nodeconfig.yaml': nodeConfig('      evictionHard:\n        nodefs.available: 10%\n'),
    },
    stops: ['general/nodeconfig.yaml:6 threshold-lost'],
  },
  {
    name: 'a mistake that moves to another line',
    base: { 'general/nodeconfig.yaml': nodeConfig('      imageGCTreshold: 70\n') },
    files: { 'general/nodeconfig.yaml': `# new\n${nodeConfig('      imageGCTreshold: 70\n')}` },
    stops: [],
  },
]

const tfModule = (group: string, attribute: string) => `module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 21.0"

  eks_managed_node_groups = {
    ${group} = {
      ami_type       = "AL2023_x86_64_STANDARD"
      instance_types = ["m7i.2xlarge"]
      ${attribute}
    }
  }
}
`

const preNodeadm = (config: string) => `cloudinit_pre_nodeadm = [{
        content_type = "application/node.eks.aws"
        content      = <<-EOT
          ---
          apiVersion: node.eks.aws/v1alpha1
          kind: NodeConfig
          spec:
            kubelet:
              config:
${config}        EOT
      }]`

const ofTerraform: PullRequest[] = [
  {
    name: 'a NodeConfig in a heredoc with a threshold in bytes',
    files: {
      'live/general/eks.tf': tfModule(
        'general',
        preNodeadm(
          `                evictionHard:\n                  nodefs.available: "10"\n                maxPods: \${var.max_pods}\n`,
        ),
      ),
    },
    stops: ['live/general/eks.tf:19 worse'],
  },
  {
    name: 'a good NodeConfig in a heredoc',
    files: { 'live/general/eks.tf': tfModule('general', preNodeadm(goodGc('                '))) },
    stops: [],
  },
  {
    name: 'user data of Amazon Linux 2 in a heredoc',
    files: {
      'live/general/launch-template.tf': `resource "aws_launch_template" "general" {
  name_prefix = "general-"
  user_data = base64encode(<<-EOF
    #!/bin/bash
    set -ex
    /etc/eks/bootstrap.sh \${var.cluster_name} \\
      --kubelet-extra-args '--max-pods=50'
  EOF
  )
}
`,
    },
    stops: ['live/general/launch-template.tf:7 no-effect'],
  },
  {
    name: "Bottlerocket's settings in a heredoc",
    files: {
      'live/vault.tf': `locals {
  vault_user_data = <<-TOML
    [settings.host-containers.admin]
    enabled = true

    [settings.kubernetes]
    image-gc-high-threshold-percent = "50"
    image-gc-low-threshold-percent = "60"
  TOML
}
`,
    },
    stops: ['live/vault.tf:7 refused'],
  },
  {
    name: 'a manifest in a heredoc',
    files: {
      'karpenter.tf': `resource "kubectl_manifest" "spot" {
  yaml_body = <<-YAML
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata:
      name: spot
    spec:
      role: \${module.karpenter.node_iam_role_name}
      kubelet:
        imageGCHighThresholdPercent: 100
  YAML
}
`,
    },
    stops: ['karpenter.tf:10 worse'],
  },
  {
    name: 'heredocs of two groups in one file',
    files: {
      'eks.tf': `${tfModule('general', preNodeadm(goodGc('                ')))}${tfModule('small', preNodeadm('                evictionHard: {nodefs.available: 15Gi}\n'))}`,
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a policy in a heredoc',
    files: {
      'iam.tf': `resource "aws_iam_policy" "node" {
  policy = <<EOF
{
  "Version": "2012-10-17",
  "Statement": [{"Effect": "Allow", "Action": "ecr:*", "Resource": "*"}]
}
EOF
}
`,
    },
    stops: [],
  },
]

const stack = (userData: string) => `AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  ClusterName: {Type: String}
Resources:
  Template:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        UserData:
${userData}
  Nodes:
    Type: AWS::EKS::Nodegroup
    Properties:
      ClusterName: !Ref ClusterName
      NodegroupName: general
      LaunchTemplate:
        Id: !Ref Template
        Version: !GetAtt Template.LatestVersionNumber
`

const inStack = (userData: string) => userData.trimEnd().replace(/^(?=.)/gm, '            ')

const ofCloudFormation: PullRequest[] = [
  {
    name: 'user data by Sub with high below low',
    files: {
      'stacks/nodes.yaml': stack(
        `          Fn::Base64: !Sub |\n${inStack(mime(['application/node.eks.aws', nodeConfig(badGc('      '))]))}`,
      ),
    },
    stops: ['stacks/nodes.yaml:22 refused'],
  },
  {
    name: 'good user data by Sub in its long form',
    files: {
      'stacks/nodes.yaml': stack(
        `          Fn::Base64:\n            Fn::Sub:\n            - |\n  ${inStack(`#!/bin/bash\ncat > /etc/kubernetes/kubelet/config.json.d/50-disk.conf <<END\n${kubeletKind}${goodGc('')}END\n`).replaceAll('\n', '\n  ')}\n            - {A: b}`,
      ),
    },
    stops: [],
  },
  {
    name: 'user data of a parameter',
    files: { 'stacks/nodes.yaml': stack('          !Ref NodeUserDataParameter1') },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a template that a program made',
    files: {
      'cdk.out/legacy.template.json': `{
 "Resources": {
  "LegacyTemplate9A7B": {
   "Type": "AWS::EC2::LaunchTemplate",
   "Properties": {
    "LaunchTemplateData": {
     "UserData": {
      "Fn::Base64": {
       "Fn::Join": ["", [
        "#!/bin/bash\\n/etc/eks/bootstrap.sh ",
        {"Ref": "Cluster"},
        " --kubelet-extra-args '--image-gc-high-threshold=50 --image-gc-low-threshold=60'"
       ]]
      }
     }
    }
   }
  }
 }
}
`,
    },
    stops: ['cdk.out/legacy.template.json:9 refused'],
  },
]

const inValues = (kubelet: string) => `replicas: 2
controller:
  resources: {requests: {cpu: 1}}
extraObjects:
- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata:
    name: spot
  spec:
    amiSelectorTerms: [{alias: al2023@latest}]
    kubelet:
${kubelet}`

const ofHelm: PullRequest[] = [
  {
    name: 'values with a node class whose soft threshold has no grace period',
    files: {
      'charts/karpenter/values-prod.yaml': inValues(
        '      evictionSoft:\n        nodefs.available: 15%\n',
      ),
    },
    stops: ['charts/karpenter/values-prod.yaml:13 refused'],
  },
  {
    name: 'values with a good node class',
    files: { 'charts/karpenter/values-prod.yaml': inValues(goodGc('      ')) },
    stops: [],
  },
  {
    name: 'a release whose values have a node class as a text',
    files: {
      'flux/karpenter.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: karpenter}
spec:
  values:
    manifests:
    - |
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata:
        name: spot
      spec:
        kubelet:
          kubeReserved:
            memory: 40Gi
`,
    },
    stops: ['flux/karpenter.yaml:15 refused'],
  },
]

const ofNodeadm: PullRequest[] = [
  {
    name: 'a later part that takes half of the disk',
    files: {
      'general/user-data.mime': mime(
        ['application/node.eks.aws', nodeConfig('      containerLogMaxSize: 20Mi\n')],
        [
          'application/node.eks.aws',
          nodeConfig('      evictionHard:\n        nodefs.available: 60Gi\n'),
        ],
      ),
    },
    stops: ['general/user-data.mime:23 eviction', 'general/user-data.mime:23 worse'],
  },
  {
    name: 'an agent, a RAID and image GC',
    files: {
      'general/user-data.mime': mime(
        ['text/x-shellscript; charset="us-ascii"', '#!/bin/bash\ndnf install -y amazon-ssm-agent'],
        [
          'application/node.eks.aws',
          nodeConfig(goodGc('      ')).replace(
            'spec:',
            'spec:\n  instance:\n    localStorage:\n      strategy: RAID0',
          ),
        ],
      ),
    },
    stops: [],
  },
  {
    name: 'a drop-in by cloud-init that switches image GC off',
    files: {
      'general/cloud-init.yaml': `#cloud-config
write_files:
- path: /etc/kubernetes/kubelet/config.json.d/99-team.conf
  permissions: '0644'
  content: |
    apiVersion: kubelet.config.k8s.io/v1beta1
    kind: KubeletConfiguration
    imageGCHighThresholdPercent: 100
`,
    },
    stops: ['general/cloud-init.yaml:8 worse'],
  },
  {
    name: "a NodeConfig in eksctl's overriding command",
    files: {
      'clusters/prod.yaml': eksctl(`managedNodeGroups:
- name: general
  ami: ami-0123456789abcdef0
  amiFamily: AmazonLinux2023
  overrideBootstrapCommand: |
    apiVersion: node.eks.aws/v1alpha1
    kind: NodeConfig
    spec:
      kubelet:
        config:
          containerLogMaxFiles: 1
`),
    },
    stops: ['clusters/prod.yaml:16 refused'],
  },
  {
    name: 'settings of Bottlerocket beside those of its kubelet',
    files: {
      'bottlerocket/vault.toml': `[settings.kernel.sysctl]
"user.max_user_namespaces" = "16384"

[settings.kubernetes]
cluster-name = "prod"
image-gc-high-threshold-percent = "75"
image-gc-low-threshold-percent = "65"

[settings.kubernetes.node-taints]
dedicated = ["vault:NoSchedule"]

[settings.kubernetes.eviction-hard]
"memory.available" = "200Mi"
"nodefs.available" = "10%"
"nodefs.inodesFree" = "5%"
"imagefs.available" = "15%"
`,
    },
    stops: [],
  },
]

const ofKustomizePaths: PullRequest[] = [
  {
    name: 'tags of a node class',
    files: {
      'overlays/prod/kustomization.yaml': `kind: Kustomization
patches:
- target: {kind: EC2NodeClass}
  patch: |-
    - op: add
      path: /spec/tags/team
      value: data
`,
    },
    stops: [],
  },
]

const ofPlatforms: PullRequest[] = [
  {
    name: 'nodegroups of which a managed one has extra configuration',
    files: {
      'clusters/prod.yaml': eksctl(`nodeGroups:
- name: batch
  kubeletExtraConfig:
    imageGCHighThresholdPercent: 75
    imageGCLowThresholdPercent: 65
managedNodeGroups:
- name: general
  kubeletExtraConfig:
    imageGCHighThresholdPercent: 75
`),
    },
    stops: ['clusters/prod.yaml:13 refused'],
  },
  {
    name: 'nodegroups of which the second evicts at once',
    files: {
      'clusters/prod.yaml': eksctl(`nodeGroups:
- name: web
  kubeletExtraConfig: {maxPods: 40}
- name: batch
  kubeletExtraConfig:
    evictionHard:
      memory.available: 100Mi
      nodefs.available: 60Gi
      nodefs.inodesFree: 5%
`),
    },
    stops: ['clusters/prod.yaml:13 eviction', 'clusters/prod.yaml:13 worse'],
  },
  {
    name: 'good nodegroups',
    files: {
      'clusters/prod.yaml': eksctl(`nodeGroups:
- name: batch
  volumeSize: 100
  kubeletExtraConfig:
    imageGCHighThresholdPercent: 75
    imageGCLowThresholdPercent: 65
- name: ng2
  kubeletExtraConfig:
    maxPods: 40
managedNodeGroups:
- name: general
  instanceTypes: [m6i.xlarge, m6a.xlarge]
  labels: {team: data}
`),
    },
    stops: [],
  },
  {
    name: 'a class with a percentage that its API refuses',
    files: {
      'karpenter/classes.yaml': nodeClass(
        'spot',
        '  amiSelectorTerms: [{alias: al2023@latest}]\n  kubelet:\n    imageGCHighThresholdPercent: 101\n    imageGCLowThresholdPercent: 65\n',
      ),
    },
    stops: ['karpenter/classes.yaml:9 refused'],
  },
  {
    name: 'a class of Bottlerocket whose user data has high below low',
    files: {
      'karpenter/classes.yaml': nodeClass(
        'metal',
        '  amiSelectorTerms: [{alias: bottlerocket@latest}]\n  userData: |\n    [settings.kubernetes]\n    image-gc-high-threshold-percent = "60"\n    image-gc-low-threshold-percent = "70"\n',
      ),
    },
    stops: ['karpenter/classes.yaml:10 refused'],
  },
  {
    name: 'a good class of v1 with soft thresholds',
    files: {
      'karpenter/classes.yaml': nodeClass(
        'spot',
        `  amiSelectorTerms:
  - alias: al2023@v20251120
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  blockDeviceMappings:
  - deviceName: /dev/xvda
    rootVolume: true
    ebs: {volumeSize: 100Gi, volumeType: gp3}
  kubelet:
    maxPods: 29
    evictionHard: {memory.available: 5%, nodefs.available: 10%, nodefs.inodesFree: 5%}
    evictionSoft: {nodefs.available: 15%}
    evictionSoftGracePeriod: {nodefs.available: 2m}
    imageGCHighThresholdPercent: 75
    imageGCLowThresholdPercent: 65
`,
      ),
    },
    stops: [],
  },
  {
    name: 'a module whose NodeConfig has a threshold in bytes',
    files: {
      'general/eks.tf': `module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 21.0"
  eks_managed_node_groups = {
    general = {
      ami_type = "AL2023_x86_64_STANDARD"
      cloudinit_pre_nodeadm = [{
        content_type = "application/node.eks.aws"
        content      = <<-EOT
          ---
          apiVersion: node.eks.aws/v1alpha1
          kind: NodeConfig
          spec:
            kubelet:
              config:
                evictionHard:
                  nodefs.available: "10"
        EOT
      }]
    }
  }
}
`,
    },
    stops: ['general/eks.tf:17 worse'],
  },
  {
    name: 'a launch template that starts Amazon Linux 2023 as Amazon Linux 2',
    files: {
      'general/lt.tf': `resource "aws_launch_template" "general" {
  user_data = base64encode(<<-EOF
    #!/bin/bash
    /etc/eks/bootstrap.sh prod --kubelet-extra-args '--max-pods=50'
  EOF
  )
}
`,
    },
    stops: ['general/lt.tf:4 no-effect'],
  },
  {
    name: 'a module without user data',
    files: {
      'infra/eks.tf': `module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    general = { instance_types = ["m7i.xlarge"], max_size = 12 } # node group
  }
}
`,
    },
    stops: [],
  },
  {
    name: 'a launch template in MIME with placeholders',
    files: {
      'general/lt.tf': `locals {
  user_data = <<-EOT
    MIME-Version: 1.0
    Content-Type: multipart/mixed; boundary="BOUNDARY"

    --BOUNDARY
    Content-Type: application/node.eks.aws

    apiVersion: node.eks.aws/v1alpha1
    kind: NodeConfig
    spec:
      cluster:
        name: \${var.cluster}
        apiServerEndpoint: \${var.endpoint}
      kubelet:
        config:
          imageGCHighThresholdPercent: 75
          imageGCLowThresholdPercent: 65
    --BOUNDARY--
  EOT
}
`,
    },
    stops: [],
  },
  {
    name: 'a template that CDK synthesized',
    files: {
      'cdk.out/general.template.json': `{
 "Resources": {
  "LT": {
   "Type": "AWS::EC2::LaunchTemplate",
   "Properties": {
    "LaunchTemplateData": {
     "UserData": {"Fn::Base64": ${JSON.stringify(
       mime(['application/node.eks.aws', nodeConfig(badGc('      '))]),
     )}}
    }
   }
  }
 }
}
`,
    },
    stops: ['cdk.out/general.template.json:7 refused'],
  },
  {
    name: 'a program of CDK',
    files: {
      'lib/nodes.ts': `import * as ec2 from 'aws-cdk-lib/aws-ec2'
const userData = ec2.UserData.custom(\`apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig\`)
new ec2.LaunchTemplate(this, 'lt', { userData })
`,
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'extra objects of a chart with high below low',
    files: {
      'charts/karpenter/values-prod.yaml': `karpenter:
  enabled: true
extraObjects:
- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata: {name: spot}
  spec:
    amiSelectorTerms: [{alias: al2023@latest}]
    kubelet:
      imageGCHighThresholdPercent: 60
      imageGCLowThresholdPercent: 70
`,
    },
    stops: ['charts/karpenter/values-prod.yaml:10 refused'],
  },
  {
    name: 'good extra objects of a chart',
    files: {
      'charts/karpenter/values-prod.yaml': `settings:
  clusterName: prod
extraObjects:
- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata: {name: spot}
  spec:
    amiSelectorTerms: [{alias: al2023@latest}]
    kubelet:
${goodGc('      ')}`,
    },
    stops: [],
  },
  {
    name: 'a second NodeConfig that lowers only the high threshold',
    files: {
      'general/user-data.mime': mime(
        ['application/node.eks.aws', nodeConfig(goodGc('      '))],
        ['application/node.eks.aws', nodeConfig('      imageGCHighThresholdPercent: 60\n')],
      ),
    },
    stops: ['general/user-data.mime:23 refused'],
  },
  {
    name: 'a script and a good NodeConfig',
    files: {
      'general/user-data.mime': mime(
        ['text/x-shellscript; charset="us-ascii"', '#!/bin/bash\nyum install -y amazon-ssm-agent'],
        ['application/node.eks.aws', nodeConfig(goodGc('      '))],
      ),
    },
    stops: [],
  },
  {
    name: 'comments in TOML, and a percentage above 100',
    files: {
      'bottlerocket/vault.toml': `# vault nodes
[settings.kubernetes] # the kubelet
max-pods = 60 # was 29
# eviction
[settings.kubernetes.eviction-hard]
"memory.available" = "15%"   # of 32 GiB
"nodefs.available" = "110%" # more than all
`,
    },
    stops: ['bottlerocket/vault.toml:7 refused'],
  },
  {
    name: 'comments in TOML, and percentages as numbers',
    files: {
      'bottlerocket/vault.toml': `# image-gc-high-threshold-percent = "99"
[settings.kubernetes]
image-gc-high-threshold-percent = 75 # a number since 1.14
image-gc-low-threshold-percent = 65
[settings.host-containers.admin]
enabled = true # for on-call
`,
    },
    stops: [],
  },
  {
    name: 'a drop-in beside that of nodeadm with high below low',
    files: { 'general/config.json.d/50-disk.conf': `${kubeletKind}${badGc('')}` },
    stops: ['general/config.json.d/50-disk.conf:3 refused'],
  },
  {
    name: 'a good drop-in beside that of nodeadm',
    files: { 'general/config.json.d/50-disk.conf': `${kubeletKind}${goodGc('')}` },
    stops: [],
  },
  {
    name: 'a pool of v1 with kubelet settings among documents',
    files: {
      'karpenter/all.yaml': `---
# namespace
apiVersion: v1
kind: Namespace
metadata: {name: karpenter}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: spot}
      kubelet:
        maxPods: 20
---
${nodeClass('spot', `  amiSelectorTerms: [{alias: al2023@latest}]\n  kubelet:\n${goodGc('    ')}`)}`,
    },
    stops: ['karpenter/all.yaml:14 refused'],
  },
  {
    name: 'a renamed file that loses a threshold',
    base: {
      'general/kubelet-v1.yaml': `${kubeletKind}evictionHard:\n  memory.available: 100Mi\n  nodefs.available: 10%\n  nodefs.inodesFree: 5%\n`,
    },
    files: {
      'general/kubelet.yaml': `${kubeletKind}evictionHard:\n  nodefs.available: 10%\n  nodefs.inodesFree: 5%\n`,
    },
    stops: ['general/kubelet.yaml:3 threshold-lost'],
  },
  {
    name: 'a renamed file',
    base: { 'general/kubelet-v1.yaml': `${kubeletKind}${goodGc('')}` },
    files: { 'general/kubelet.yaml': `${kubeletKind}${goodGc('')}` },
    stops: [],
  },
  {
    name: 'a deleted drop-in without which the alert comes before image GC',
    base: { 'general/kubelet.conf.d/10-disk.conf': `${kubeletKind}${goodGc('')}` },
    files: {},
    stops: ['general/kubelet.conf.d/10-disk.conf:1 worse'],
  },
  {
    name: 'a deleted class with the values of the kubelet',
    base: {
      'karpenter/spot.yaml': nodeClass(
        'spot',
        '  kubelet:\n    imageGCHighThresholdPercent: 85\n    imageGCLowThresholdPercent: 80\n',
      ),
    },
    files: {},
    stops: [],
  },
  {
    name: 'other order and comments',
    base: { 'general/kubelet.yaml': `${kubeletKind}${goodGc('')}maxPods: 29\n` },
    files: {
      'general/kubelet.yaml': `# disk\n${kubeletKind}maxPods: 29 # as before\nimageGCLowThresholdPercent: 65\nimageGCHighThresholdPercent: 75\n`,
    },
    stops: [],
  },
  {
    name: 'packages of cloud-init',
    files: {
      'general/user-data.yaml':
        '#cloud-config\npackages: [jq]\nruncmd:\n- systemctl enable --now amazon-ssm-agent\n',
    },
    stops: [],
  },
]

const ofPatchFiles: PullRequest[] = [
  {
    name: 'operations in a file that a kustomization names for a class',
    files: {
      'overlays/kustomization.yaml':
        'patches:\n- path: p.yaml\n  target: {kind: EC2NodeClass, name: spot}\n',
      'overlays/p.yaml':
        '- op: add\n  path: /spec/kubelet/evictionHard/nodefs.available\n  value: "60%"\n',
    },
    stops: ['overlays/p.yaml:2 eviction', 'overlays/p.yaml:2 worse'],
  },
  {
    name: 'an object with another name in a file that a kustomization names for all classes',
    files: {
      'overlays/kustomization.yaml':
        'kind: Kustomization\npatches:\n- path: ./q.yaml\n  target: {kind: EC2NodeClass}\n',
      'overlays/q.yaml': nodeClass('any', `  kubelet:\n${badGc('    ')}`),
    },
    stops: ['overlays/q.yaml:8 refused'],
  },
  {
    name: 'good operations of the old list in a file',
    files: {
      'overlays/kustomization.yaml':
        'patchesJson6902:\n- path: p.json\n  target: {kind: EC2NodeClass, name: spot, group: karpenter.k8s.aws, version: v1}\n',
      'overlays/p.json':
        '[{"op": "add", "path": "/spec/kubelet", "value": {"imageGCHighThresholdPercent": 75, "imageGCLowThresholdPercent": 65}}]',
    },
    stops: [],
  },
  ...['{name: spot}', '{group: karpenter.k8s.aws}', '{kind: EC2NodeClass|NodePool}'].map(
    (target): PullRequest => ({
      name: `operations for the target ${target}`,
      files: {
        'overlays/kustomization.yaml': `patches:\n- path: p.yaml\n  target: ${target}\n`,
        'overlays/p.yaml': '- op: add\n  path: /spec/kubelet\n  value: {maxPods: 40}\n',
      },
      stops: [],
      isUnread: true,
    }),
  ),
  {
    name: 'a patch of a kustomization with a prefix of names',
    files: {
      'overlays/kustomization.yaml':
        'namePrefix: prod-\npatches:\n- path: p.yaml\n  target: {kind: EC2NodeClass, name: spot}\n',
      'overlays/p.yaml': '- op: add\n  path: /spec/kubelet\n  value: {maxPods: 40}\n',
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'operations for a target of another kind',
    files: {
      'overlays/kustomization.yaml': 'patches:\n- path: p.yaml\n  target: {kind: Deployment}\n',
      'overlays/p.yaml': '- op: add\n  path: /spec/kubelet\n  value: {maxPods: 40}\n',
    },
    stops: [],
  },
  {
    name: 'operations for what labels select',
    files: {
      'overlays/kustomization.yaml':
        'patches:\n- path: p.yaml\n  target: {kind: EC2NodeClass, labelSelector: team=a}\n',
      'overlays/p.yaml': '- op: add\n  path: /spec/kubelet\n  value: {maxPods: 40}\n',
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'operations in a file that nothing names',
    files: {
      'overlays/p.yaml':
        '- op: add\n  path: /spec/kubelet/evictionHard/nodefs.available\n  value: "60%"\n',
    },
    stops: [],
    isUnread: true,
  },
]

const application = (values: string) =>
  `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: nodes}\nspec:\n  sources:\n  - helm:\n      values: |\n${values.replace(/^(?=.)/gm, '        ')}`

const ofUnclear: PullRequest[] = [
  {
    name: 'values of an Application as a text, with classes in a list',
    files: {
      'app.yaml': application(
        `extra:\n- ${nodeClass('spot', `  kubelet:\n${badGc('    ')}`).replaceAll('\n', '\n  ')}\n`,
      ),
    },
    stops: ['app.yaml:16 refused'],
  },
  {
    name: 'values of an Application as a text, with settings of a chart',
    files: { 'app.yaml': application(`nodes:\n  spot:\n${goodGc('    ')}`) },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a class whose name is an expression',
    files: { 'flux.yaml': nodeClass(`\${CLUSTER}-default`, `  kubelet:\n${goodGc('    ')}`) },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a class whose name is an expression, with a refusal',
    files: { 'flux.yaml': nodeClass(`\${CLUSTER}-default`, `  kubelet:\n${badGc('    ')}`) },
    stops: ['flux.yaml:8 refused'],
  },
  {
    name: 'a class whose name is an expression, and that sets nothing',
    files: { 'flux.yaml': nodeClass(`\${CLUSTER}-default`, '  tags: {team: "a"}\n') },
    stops: [],
  },
  {
    name: 'a class that no node of the snapshot has',
    files: { 'new.yaml': nodeClass('gpu', `  kubelet:\n${goodGc('    ')}`) },
    stops: [],
  },
  {
    name: "a template of Terraform for Bottlerocket's settings",
    files: {
      'userdata.toml.tpl': `[settings.kubernetes]\nimage-gc-high-threshold-percent = \${high}\nimage-gc-low-threshold-percent = 60\n`,
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a text with an expression where Bottlerocket takes a number',
    files: { 'vault.toml': `[settings.kubernetes]\nmax-pods = "\${max}"\n` },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a template of Jinja',
    files: {
      'general/nodeconfig.yaml': `{% if gc %}\n${nodeConfig(badGc('      '))}{% endif %}\n`,
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'broken YAML with an expression on another line',
    files: {
      'general/nodeconfig.yaml': `# \${cluster}\n${nodeConfig('      maxPods: 20\n    - broken\n')}`,
    },
    stops: ['general/nodeconfig.yaml:8 unparsed'],
  },
]

const moduleOfTerraform = (attribute: string) => `module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    general = {
      min_size  = 1
      disk_size = 200
      ${attribute}
    }
  }
}
`

const ofRepositories: PullRequest[] = [
  {
    name: 'disk_size where the module makes a launch template',
    files: { 'general.tf': moduleOfTerraform('') },
    stops: ['general.tf:6 no-effect'],
  },
  {
    name: 'disk_size where the module makes none',
    files: { 'general.tf': moduleOfTerraform('use_custom_launch_template = false') },
    stops: [],
  },
  {
    name: 'a part after the boundary that ends the message',
    files: {
      'general/user-data.mime': mime([
        'application/node.eks.aws',
        nodeConfig(goodGc('      ')),
      ]).replace('"//"\n\n--//', '"//"\n\n--//\nContent-Type: text/cloud-config\n\n{}\n--//--'),
    },
    stops: ['general/user-data.mime:16 no-effect', 'general/user-data.mime:17 no-effect'],
  },
  {
    name: 'arguments of the kubelet that are one expression',
    files: {
      'legacy/user-data.sh':
        '#!/bin/bash\n/etc/eks/bootstrap.sh $NAME --kubelet-extra-args "$KUBELET_ARGS" --dns-cluster-ip $IP\n',
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a script of another kind called bootstrap.sh, and a log',
    files: {
      'ci/deploy.sh':
        '#!/bin/bash\n./scripts/bootstrap.sh $ENV\n/etc/eks/bootstrap.sh my 2>&1 | tee $LOG\n',
    },
    stops: [],
  },
  {
    name: 'disk_size of the module before it had its own switch',
    files: { 'general.tf': moduleOfTerraform('create_launch_template = false') },
    stops: [],
  },
  {
    name: 'TOML of another program',
    files: { 'netdata.toml': '[kubelet]\nmax-pods = 110\n' },
    stops: [],
  },
  {
    name: 'a script after the boundary that ends the message',
    files: {
      'general/user-data.mime': `${mime(['text/cloud-config', '{}'])}Content-Type: text/x-shellscript\n\n#!/bin/bash\ncat > /etc/kubernetes/kubelet/config.json.d/50-disk.conf <<END\n${kubeletKind}${goodGc('')}END\n`,
    },
    stops: ['general/user-data.mime:15 no-effect', 'general/user-data.mime:16 no-effect'],
  },
  {
    name: 'a refusal beside a document that is not rendered',
    files: {
      'karpenter/classes.yaml': `${nodeClass('spot', `  kubelet:\n${badGc('    ')}`)}---\n${nodeClass('other', `  tags: {a: \${x}: b}\n`)}`,
    },
    stops: ['karpenter/classes.yaml:8 refused'],
  },
  {
    name: 'a name of a cluster that is an expression',
    files: {
      'legacy/user-data.sh': '#!/bin/bash\n/etc/eks/bootstrap.sh $NAME --dns-cluster-ip $IP\n',
    },
    stops: [],
  },
  {
    name: 'the configuration of a NodeConfig that is one expression',
    files: {
      'general/user-data.tftpl': mime([
        'application/node.eks.aws',
        nodeConfig(`      \${indent(6, config)}\n`),
      ]),
    },
    stops: [],
    isUnread: true,
  },
  {
    name: 'settings of the kubelet in a class of v1beta1',
    files: {
      'old.yaml': nodeClass('old', '  amiFamily: AL2\n  kubelet:\n    maxPods: 20\n').replace(
        'aws/v1',
        'aws/v1beta1',
      ),
    },
    stops: ['old.yaml:8 refused'],
  },
  {
    name: 'a NodeConfig that a script gives to nodeadm',
    files: {
      'general/user-data.sh': `#!/bin/bash\ncat <<EOF > /tmp/nodeadm.yaml\n${nodeConfig(badGc('      '))}EOF\nnodeadm init -c file:///tmp/nodeadm.yaml\n`,
    },
    stops: ['general/user-data.sh:8 refused'],
  },
]

const ofLines: PullRequest[] = [
  {
    name: 'a pair of which the second half changes',
    base: { 'spot.yaml': nodeClass('spot', `  kubelet:\n${goodGc('    ')}`) },
    files: { 'spot.yaml': nodeClass('spot', `  kubelet:\n${goodGc('    ').replace('65', '80')}`) },
    stops: ['spot.yaml:9 refused'],
  },
  {
    name: "a pair of the kubelet's of which the second half changes",
    base: { 'general/nodeconfig.yaml': nodeConfig('      imageMinimumGCAge: 2h\n') },
    files: {
      'general/nodeconfig.yaml': nodeConfig(
        '      imageMinimumGCAge: 2h\n      imageMaximumGCAge: 1h\n',
      ),
    },
    stops: ['general/nodeconfig.yaml:7 refused'],
  },
  {
    name: 'soft thresholds by an alias',
    files: {
      'general/nodeconfig.yaml': nodeConfig(
        '      evictionHard: &t\n        nodefs.available: 10%\n      evictionSoft: *t\n',
      ),
    },
    stops: ['general/nodeconfig.yaml:8 refused'],
  },
]

const ofMistakes: PullRequest[] = [
  {
    name: 'kubelet beside spec in a NodeConfig',
    files: {
      'general/nodeconfig.yaml': `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nkubelet:\n  config:\n${goodGc('    ')}`,
    },
    stops: ['general/nodeconfig.yaml:3 no-effect'],
  },
  {
    name: 'a flag without hyphens in a NodeConfig',
    files: {
      'general/nodeconfig.yaml':
        'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    flags:\n    - --node-labels\n    - a=b\n    - image-gc-high-threshold=75\n',
    },
    stops: ['general/nodeconfig.yaml:8 refused'],
  },
  {
    name: "a table of Bottlerocket's settings without settings",
    files: { 'vault.toml': '[kubernetes]\nmax-pods = 20\n' },
    stops: ['vault.toml:2 refused'],
  },
  {
    name: "a field of the kubelet as Bottlerocket's setting",
    files: { 'vault.toml': '[settings.kubernetes]\nregistry-pull-qps = 10\n' },
    stops: ['vault.toml:2 refused'],
  },
  {
    name: 'a setting that Bottlerocket may have later',
    files: { 'vault.toml': '[settings.kubernetes]\nmax-pods = 20\nfoo = 1\n' },
    stops: [],
    isUnread: true,
  },
  {
    name: 'a setting of Bottlerocket that is no field',
    files: {
      'vault.toml': '[settings.kubernetes]\nstatic-pods-enabled = true\nfail-cgroup-v1 = true\n',
    },
    stops: [],
  },
  {
    name: 'YAML in a file of TOML',
    files: { 'vault.toml': 'settings:\n  kubernetes:\n    max-pods: 20\n' },
    stops: ['vault.toml:1 unparsed'],
  },
  {
    name: 'a boundary that no line begins with',
    files: {
      'general/user-data.mime': mime([
        'application/node.eks.aws',
        nodeConfig(goodGc('      ')),
      ]).replace('boundary="//"', 'boundary="A"'),
    },
    stops: ['general/user-data.mime:1 unparsed'],
  },
  {
    name: 'a NodeConfig as a part that cloud-init runs',
    files: { 'general/user-data.mime': mime(['text/x-shellscript', nodeConfig(goodGc('      '))]) },
    stops: ['general/user-data.mime:12 no-effect', 'general/user-data.mime:13 no-effect'],
  },
  {
    name: 'thresholds that are null, which the kubelet removes',
    files: {
      'general/nodeconfig.yaml': nodeConfig(
        '      evictionHard:\n        nodefs.available: null\n',
      ),
    },
    stops: ['general/nodeconfig.yaml:7 threshold-lost'],
  },
  {
    name: 'an empty map of thresholds, which removes none',
    files: { 'general/nodeconfig.yaml': nodeConfig('      evictionHard: {}\n') },
    stops: ['general/nodeconfig.yaml:6 no-effect'],
  },
  {
    name: 'an empty map that nothing has before',
    files: { 'general/nodeconfig.yaml': nodeConfig('      evictionSoft: {}\n') },
    stops: [],
  },
  {
    name: 'a NodeConfig for a sample cluster, and a group that is given',
    files: {
      'nodeconfig.yaml': nodeConfig(badGc('      ')).replace(
        'spec:\n',
        'spec:\n  cluster:\n    name: my-cluster\n',
      ),
    },
    group: 'general',
    stops: ['nodeconfig.yaml:8 refused'],
  },
  {
    name: 'a NodeConfig for a sample cluster, and a path that names a group',
    files: {
      'general/nodeconfig.yaml': nodeConfig(badGc('      ')).replace(
        'spec:\n',
        'spec:\n  cluster:\n    name: my-cluster\n',
      ),
    },
    stops: ['general/nodeconfig.yaml:8 refused'],
  },
  {
    name: 'a NodeConfig for another cluster',
    files: {
      'nodeconfig.yaml': nodeConfig('      maxPods: 20\n').replace(
        'spec:\n',
        'spec:\n  cluster:\n    name: staging\n',
      ),
    },
    stops: [],
    isUnread: true,
  },
]

export const pullRequests: readonly PullRequest[] = [
  onAl2023,
  onAl2,
  onBottlerocket,
  ofEksctl,
  ofKarpenter,
  ofKustomize,
  ofKubelet,
  withBase,
  ofTerraform,
  ofCloudFormation,
  ofHelm,
  ofNodeadm,
  ofKustomizePaths,
  ofPlatforms,
  ofPatchFiles,
  ofUnclear,
  ofRepositories,
  ofLines,
  ofMistakes,
  valuesOfKubelets,
  ofFlags,
  ofPublicPlatforms,
  ofSilence,
].flat()
