/** Pull requests as public repositories of platforms have them: modules of Terraform, charts, overlays, CDK, Crossplane, ACK. Written before their first run. */
import type { PullRequest } from './pull-requests.ts'

interface Change extends Pick<PullRequest, 'group'> {
  file: string
  text: string
  /** Where it stops: a part of the line, with the kinds. */
  stops?: [part: string, ...kinds: string[]][]
  /** Files that are not changed for the worse. */
  beside?: Record<string, string>
}

function changed(
  name: string,
  { file, text, stops = [], beside = {}, ...more }: Change,
): PullRequest {
  const lineOf = (part: string) => text.split('\n').findIndex(line => line.includes(part)) + 1
  return {
    ...{ name, files: { [file]: text, ...beside }, ...more },
    stops: stops.flatMap(([part, ...kinds]) =>
      kinds.map(kind => `${file}:${lineOf(part)} ${kind}`),
    ),
  }
}

const unread = (name: string, change: Change): PullRequest => ({
  ...changed(name, change),
  isUnread: true,
})

const badConfig = (indent: string) =>
  `${indent}apiVersion: node.eks.aws/v1alpha1\n${indent}kind: NodeConfig\n${indent}spec:\n${indent}  kubelet:\n${indent}    config:\n${indent}      imageGCHighThresholdPercent: 60\n${indent}      imageGCLowThresholdPercent: 70\n`
const goodConfig = (indent: string) =>
  badConfig(indent).replace('Percent: 60', 'Percent: 75').replace('Percent: 70', 'Percent: 65')
const base64 = (text: string) => Buffer.from(text).toString('base64')

const module = (group: string) => `module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 21.0"

  name               = local.name
  kubernetes_version = "1.33"
  vpc_id             = module.vpc.vpc_id
  subnet_ids         = module.vpc.private_subnets

  eks_managed_node_groups = {
    general = {
      instance_types = ["m6i.2xlarge"]
      min_size       = 2
      max_size       = 5
${group}    }
  }

  tags = local.tags
}
`
const preNodeadm = (config: string) => `
      ami_type = "AL2023_x86_64_STANDARD"
      cloudinit_pre_nodeadm = [{
        content_type = "application/node.eks.aws"
        content      = <<-EOT
          ---
${config}        EOT
      }]
`

const ofTerraform: PullRequest[] = [
  changed('cloudinit_pre_nodeadm of a module with high below low', {
    ...{ file: 'infra/eks.tf', text: module(preNodeadm(badConfig('          '))) },
    stops: [['imageGCHigh', 'refused']],
  }),
  changed('cloudinit_pre_nodeadm of a module', {
    ...{ file: 'infra/eks.tf', text: module(preNodeadm(goodConfig('          '))) },
  }),
  unread('a path to a template of user data', {
    ...{
      file: 'infra/eks.tf',
      text: module(`      user_data_template_path = "\${path.module}/al2023.tpl"\n`),
    },
  }),
  unread('flags of bootstrap.sh in a text of HCL', {
    file: 'infra/eks.tf',
    text: module(`      bootstrap_extra_args = "--kubelet-extra-args '--max-pods=50'"\n`),
  }),
  changed('settings of Bottlerocket in a module with high below low', {
    file: 'infra/eks.tf',
    text: module(`      ami_type = "BOTTLEROCKET_x86_64"
      bootstrap_extra_args = <<-EOT
        [settings.host-containers.admin]
        enabled = false

        [settings.kubernetes]
        image-gc-high-threshold-percent = 60
        image-gc-low-threshold-percent = 70
      EOT
`),
    stops: [['image-gc-high', 'refused']],
  }),
  changed('a template of Bottlerocket with an expression as text', {
    file: 'templates/bottlerocket.toml.tftpl',
    text: `[settings.kubernetes]\ncluster-name = "\${cluster_name}"\napi-server = "\${endpoint}"\ncluster-certificate = "\${ca}"\n\n[settings.kubernetes.eviction-hard]\n"nodefs.available" = "15%"\n`,
    // Its other thresholds are gone, as the map is written whole.
    stops: [['[settings.kubernetes.eviction-hard]', 'threshold-lost']],
  }),
  unread('a template of Bottlerocket with an expression as a number', {
    file: 'templates/bottlerocket.toml.tftpl',
    text: `[settings.kubernetes]\ncluster-name = "\${cluster_name}"\nmax-pods = \${max_pods}\n`,
  }),
  changed('a template of Bottlerocket with a number as text', {
    file: 'templates/bottlerocket.toml.tftpl',
    text: `[settings.kubernetes]\ncluster-name = "\${cluster_name}"\nmax-pods = "110"\n`,
    stops: [['max-pods', 'refused']],
  }),
  changed('a smaller disk of a nodegroup', {
    file: 'infra/nodes.tf',
    text: 'resource "aws_eks_node_group" "general" {\n  cluster_name    = "prod"\n  node_group_name = "general"\n  node_role_arn   = aws_iam_role.nodes.arn\n  subnet_ids      = var.subnet_ids\n  disk_size       = 20\n\n  scaling_config {\n    desired_size = 3\n    max_size     = 5\n    min_size     = 1\n  }\n}\n',
    stops: [['disk_size', 'eviction', 'worse']],
  }),
  changed('a smaller disk of the same group in another cluster of the file', {
    file: 'infra/nodes.tf',
    text: 'resource "aws_eks_node_group" "general" {\n  cluster_name    = "prod"\n  node_group_name = "general"\n  disk_size       = 200\n}\n\nresource "aws_eks_node_group" "other" {\n  cluster_name    = aws_eks_cluster.other.name\n  node_group_name = "apps"\n  disk_size       = 30\n}\n',
  }),
  unread('user data of a template of Terraform', {
    file: 'infra/lt.tf',
    text: `resource "aws_launch_template" "general" {\n  name_prefix = "general-"\n  user_data   = base64encode(templatefile("\${path.module}/user-data.sh.tftpl", { max_pods = 50 }))\n}\n`,
  }),
  changed('flags of a group in terragrunt', {
    ...{ file: 'live/prod/eks/terragrunt.hcl', group: 'legacy' },
    text: 'inputs = {\n  self_managed_node_groups = {\n    legacy = {\n      pre_bootstrap_user_data = <<-EOF\n        export KUBELET_EXTRA_ARGS="--image-gc-high-threshold=60 --image-gc-low-threshold=70"\n      EOF\n    }\n  }\n}\n',
    stops: [['KUBELET_EXTRA_ARGS', 'refused']],
  }),
  unread('flags of a kubelet in tfvars', {
    file: 'live/prod.tfvars',
    text: 'node_groups = {\n  general = {\n    instance_type      = "m6i.large"\n    kubelet_extra_args = "--max-pods=20"\n  }\n}\n',
  }),
  changed('sizes of a group in tfvars', {
    file: 'live/prod.tfvars',
    text: 'node_groups = {\n  general = {\n    instance_type = "m6i.large"\n    min_size      = 3\n  }\n}\nenable_karpenter = true\n',
  }),
]

const nodeClass = (kubelet: string) =>
  `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: spot\nspec:\n  amiSelectorTerms:\n  - alias: al2023@latest\n  role: KarpenterNodeRole-prod\n  subnetSelectorTerms:\n  - tags:\n      karpenter.sh/discovery: prod\n  securityGroupSelectorTerms:\n  - tags:\n      karpenter.sh/discovery: prod\n  kubelet:\n${kubelet}`

const ofKarpenter: PullRequest[] = [
  unread('a chart that ranges over node classes', {
    file: 'charts/karpenter-resources/templates/nodeclass.yaml',
    text: '{{- range $name, $class := .Values.classes }}\n---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: {{ $name }}\nspec:\n  role: {{ $class.role }}\n  kubelet:\n    {{- toYaml $class.kubelet | nindent 4 }}\n{{- end }}\n',
  }),
  changed('a chart with a NodePool of v1', {
    file: 'charts/karpenter-resources/templates/nodepool.yaml',
    text: 'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: {{ .Values.name }}\nspec:\n  template:\n    spec:\n      nodeClassRef:\n        group: karpenter.k8s.aws\n        kind: EC2NodeClass\n        name: {{ .Values.class }}\n      expireAfter: 720h\n  disruption:\n    consolidationPolicy: WhenEmptyOrUnderutilized\n    consolidateAfter: 1m\n',
  }),
  unread('values of a chart with kubelets of node classes', {
    file: 'charts/karpenter-resources/values.yaml',
    text: 'ec2NodeClasses:\n- name: spot\n  amiFamily: AL2023\n  kubelet:\n    maxPods: 58\n    evictionHard:\n      nodefs.available: 15%\nnodePools:\n- name: spot\n  weight: 10\n',
  }),
  changed('one threshold more in a node class', {
    ...{
      file: 'karpenter/spot.yaml',
      text: nodeClass('    evictionHard:\n      memory.available: 5%\n'),
    },
  }),
  changed('a node class that reserves more than its machines have', {
    ...{
      file: 'karpenter/spot.yaml',
      text: nodeClass('    systemReserved:\n      memory: 64Gi\n'),
    },
    stops: [['memory: 64Gi', 'refused']],
  }),
  changed('a soft threshold of a node class that acts after the hard one', {
    file: 'karpenter/spot.yaml',
    text: nodeClass(
      '    evictionHard:\n      memory.available: 1Gi\n    evictionSoft:\n      memory.available: 500Mi\n    evictionSoftGracePeriod:\n      memory.available: 1m\n',
    ),
    // Either of both ends it.
    stops: [['memory.available: 1Gi', 'worse']],
  }),
  changed('an overlay that patches a node class from a file', {
    file: 'overlays/prod/nodeclass-patch.yaml',
    text: 'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: spot\nspec:\n  kubelet:\n    imageGCHighThresholdPercent: 60\n    imageGCLowThresholdPercent: 70\n',
    stops: [['imageGCHigh', 'refused']],
    beside: {
      'overlays/prod/kustomization.yaml':
        'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../../base\npatches:\n- path: nodeclass-patch.yaml\n',
    },
  }),
  changed('a component that replaces a field of every node class', {
    file: 'components/tight-disk/kustomization.yaml',
    text: 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target:\n    group: karpenter.k8s.aws\n    kind: EC2NodeClass\n  patch: |-\n    - op: add\n      path: /spec/kubelet\n      value:\n        imageGCHighThresholdPercent: 60\n        imageGCLowThresholdPercent: 70\n',
    stops: [['imageGCHigh', 'refused']],
  }),
  unread('a HelmRelease of Flux with values of a kubelet', {
    file: 'clusters/prod/karpenter.yaml',
    text: 'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: karpenter-resources\n  namespace: karpenter\nspec:\n  interval: 10m\n  chart:\n    spec:\n      chart: karpenter-resources\n  values:\n    nodeClass:\n      kubelet:\n        maxPods: 58\n',
  }),
  unread('an ApplicationSet with a kubelet of a template', {
    file: 'argocd/karpenter.yaml',
    text: "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata:\n  name: karpenter\nspec:\n  template:\n    spec:\n      source:\n        helm:\n          valuesObject:\n            kubelet:\n              maxPods: '{{maxPods}}'\n",
  }),
]

const cdk = (userData: string) =>
  `{
 "Resources": {
  "GeneralTemplate4F2A": {
   "Type": "AWS::EC2::LaunchTemplate",
   "Properties": {
    "LaunchTemplateData": {
     "UserData": ${userData}
    }
   }
  },
  "ClusterNodegroupGeneral1B2C": {
   "Type": "AWS::EKS::Nodegroup",
   "Properties": {
    "ClusterName": { "Ref": "Cluster9EE0221C" },
    "NodegroupName": "general",
    "LaunchTemplate": { "Id": { "Ref": "GeneralTemplate4F2A" } }
   }
  }
 }
}
`
const join = (text: string) =>
  `{ "Fn::Base64": { "Fn::Join": ["", [${JSON.stringify(text)}, { "Ref": "Cluster9EE0221C" }, "\\n--//--"]] } }`
const mime = (text: string) =>
  `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//\nContent-Type: application/node.eks.aws\n\n${text}  cluster:\n    name: `

const ofCdk: PullRequest[] = [
  changed('a template of CDK with high below low', {
    ...{ file: 'cdk.out/Prod.template.json', text: cdk(join(mime(badConfig('')))) },
    stops: [['"UserData"', 'refused']],
  }),
  changed('a template of CDK', {
    ...{ file: 'cdk.out/Prod.template.json', text: cdk(join(mime(goodConfig('')))) },
  }),
  unread('a program of CDK with flags of a kubelet', {
    file: 'lib/cluster-stack.ts',
    text: "import * as eks from 'aws-cdk-lib/aws-eks'\ncluster.addAutoScalingGroupCapacity('nodes', {\n  bootstrapOptions: { kubeletExtraArgs: '--max-pods=50' },\n})\n",
  }),
  changed('context of CDK', {
    file: 'cdk.json',
    text: '{\n  "app": "npx ts-node --prefer-ts-exts bin/app.ts",\n  "context": { "@aws-cdk/core:newStyleStackSynthesis": true, "kubeletVersion": "1.33" }\n}\n',
  }),
  unread('a nodegroup of a stack whose name is an expression', {
    file: 'stacks/nodes.yaml',
    text: `Resources:\n  General:\n    Type: AWS::EKS::Nodegroup\n    Properties:\n      ClusterName: prod\n      NodegroupName: !Sub "\${Environment}-general"\n      DiskSize: 10\n      NodeRole: !GetAtt Role.Arn\n`,
  }),
]

const ofControllers: PullRequest[] = [
  changed('a smaller disk of a NodeGroup of Crossplane', {
    file: 'crossplane/nodegroup.yaml',
    text: 'apiVersion: eks.aws.upbound.io/v1beta1\nkind: NodeGroup\nmetadata:\n  name: general\nspec:\n  forProvider:\n    region: us-east-1\n    clusterNameRef:\n      name: prod\n    diskSize: 20\n    scalingConfig:\n    - minSize: 1\n',
    stops: [['diskSize', 'eviction', 'worse']],
  }),
  changed('a NodeGroup of Crossplane with its name as annotation', {
    file: 'crossplane/nodegroup.yaml',
    text: 'apiVersion: eks.aws.upbound.io/v1beta1\nkind: NodeGroup\nmetadata:\n  name: prod-general-x7k2p\n  annotations:\n    crossplane.io/external-name: general\nspec:\n  forProvider:\n    region: us-east-1\n    clusterName: prod\n    diskSize: 20\n',
    stops: [['diskSize', 'eviction', 'worse']],
  }),
  changed('user data of a LaunchTemplate of Crossplane', {
    file: 'crossplane/template.yaml',
    text: `apiVersion: ec2.aws.upbound.io/v1beta1\nkind: LaunchTemplate\nmetadata:\n  name: general\nspec:\n  forProvider:\n    region: us-east-1\n    name: general\n    userData: ${base64(badConfig(''))}\n`,
    stops: [['userData', 'refused']],
  }),
  changed('a smaller disk of a Nodegroup of ACK', {
    file: 'ack/nodegroup.yaml',
    text: 'apiVersion: eks.services.k8s.aws/v1alpha1\nkind: Nodegroup\nmetadata:\n  name: prod-general\nspec:\n  name: general\n  clusterName: prod\n  diskSize: 20\n  nodeRole: arn:aws:iam::111122223333:role/nodes\n',
    stops: [['diskSize', 'eviction', 'worse']],
  }),
  changed('a larger disk of a Nodegroup of ACK', {
    file: 'ack/nodegroup.yaml',
    text: 'apiVersion: eks.services.k8s.aws/v1alpha1\nkind: Nodegroup\nmetadata:\n  name: prod-general\nspec:\n  name: general\n  clusterRef:\n    from:\n      name: prod\n  diskSize: 200\n',
  }),
  unread('user data and a volume of a LaunchTemplate of ACK, whose group it does not name', {
    file: 'ack/template.yaml',
    text: `apiVersion: ec2.services.k8s.aws/v1alpha1\nkind: LaunchTemplate\nmetadata:\n  name: general\nspec:\n  name: general\n  data:\n    userData: ${base64(goodConfig(''))}\n    blockDeviceMappings:\n    - deviceName: /dev/xvda\n      ebs:\n        volumeSize: 200\n`,
  }),
  unread('flags of a kubelet of Cluster API', {
    file: 'capi/config.yaml',
    text: 'apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: EKSConfigTemplate\nmetadata:\n  name: general\nspec:\n  template:\n    spec:\n      kubeletExtraArgs:\n        max-pods: "20"\n',
  }),
]

const ofScripts: PullRequest[] = [
  changed('an overridden command of eksctl with a NodeConfig', {
    file: 'eksctl/prod.yaml',
    text: `apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata:\n  name: prod\n  region: us-east-1\nmanagedNodeGroups:\n- name: general\n  amiFamily: AmazonLinux2023\n  overrideBootstrapCommand: |\n${badConfig('    ')}`,
    stops: [['imageGCHigh', 'refused']],
  }),
  changed('thresholds of a nodegroup of eksctl', {
    file: 'eksctl/prod.yaml',
    text: 'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata:\n  name: prod\n  region: us-east-1\nnodeGroups:\n- name: batch\n  kubeletExtraConfig:\n    evictionHard:\n      memory.available: 300Mi\n      nodefs.available: 12%\n',
  }),
  changed('addons of eksctl', {
    file: 'eksctl/prod.yaml',
    text: 'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata:\n  name: prod\n  region: us-east-1\naddons:\n- name: vpc-cni\n- name: coredns\niam:\n  withOIDC: true\n',
  }),
  unread("a template of Ansible for a kubelet's file", {
    file: 'ansible/roles/eks-node/templates/kubelet-config.json.j2',
    text: '{\n  "kind": "KubeletConfiguration",\n  "apiVersion": "kubelet.config.k8s.io/v1beta1",\n  "maxPods": {{ max_pods }},\n  "evictionHard": { "nodefs.available": "{{ nodefs }}" }\n}\n',
  }),
  changed("a well-known edit of Amazon Linux 2's file by sed", {
    file: 'legacy/user-data.sh',
    text: `#!/bin/bash\nset -ex\nsed -i '/"apiVersion*"/a \\ \\ "registryPullQPS": 20,' /etc/kubernetes/kubelet/kubelet-config.json\n/etc/eks/bootstrap.sh prod\n`,
  }),
  changed("jq on Amazon Linux 2's file in a node class", {
    file: 'karpenter/old.yaml',
    text: `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: old\nspec:\n  amiFamily: AL2\n  userData: |\n    #!/bin/bash\n    CFG=/etc/kubernetes/kubelet/kubelet-config.json\n    echo "$(jq '.imageGCHighThresholdPercent=70' $CFG)" > $CFG\n`,
    stops: [['imageGCHigh', 'refused']],
  }),
  changed('a NodeConfig among the files of a chart', {
    ...{ file: 'charts/nodes/files/nodeconfig.yaml', text: goodConfig('') },
  }),
  changed('two NodeConfigs in one file, the second with high below low', {
    ...{
      file: 'nodes/nodeconfigs.yaml',
      text: `${goodConfig('').replace(/ {2}kubelet[\s\S]*/, '  cluster: {name: prod}\n')}---\n${badConfig('')}`,
    },
    stops: [['imageGCHigh', 'refused']],
  }),
  changed('a workflow that waits for kubelets', {
    file: '.github/workflows/nodes.yml',
    text: `name: nodes\non: push\njobs:\n  wait:\n    runs-on: ubuntu-latest\n    steps:\n    - run: kubectl get nodes -o jsonpath="{.items[*].status.nodeInfo.kubeletVersion}"\n      env:\n        kubelet: \${{ vars.kubelet }}\n`,
  }),
  changed('alerts on kubelets', {
    file: 'monitoring/rules.yaml',
    text: 'groups:\n- name: kubelet\n  rules:\n  - alert: KubeletTooManyPods\n    expr: kubelet_running_pods > 0.95 * kube_node_status_capacity{resource="pods"}\n    annotations:\n      description: Kubelet {{ $labels.node }} runs {{ $value }} pods\n',
  }),
  changed('a page of documentation with a configuration', {
    file: 'docs/kubelet.md',
    text: '# Kubelet\n\n```yaml\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nimageGCHighThresholdPercent: 60\nimageGCLowThresholdPercent: 70\n```\n',
  }),
]

export const ofPublicPlatforms: readonly PullRequest[] = [
  ...ofTerraform,
  ...ofKarpenter,
  ...ofCdk,
  ...ofControllers,
  ...ofScripts,
]
