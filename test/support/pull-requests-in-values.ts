/** Values of Helm and of other tools with settings of a kubelet: what is not read is named. */
import type { PullRequest } from './pull-requests.ts'

const unread = (name: string, file: string, text: string): PullRequest => ({
  ...{ name: `${name}, not read`, files: { [file]: text }, stops: [], isUnread: true },
})
const ignored = (name: string, file: string, text: string): PullRequest => ({
  ...{ name: `${name}, ignored`, files: { [file]: text }, stops: [] },
})

export const valuesOfKubelets: readonly PullRequest[] = [
  unread(
    'an unquoted template below kubelet',
    'values.yaml',
    'kubelet:\n  imageGCHighThresholdPercent: {{ .Values.high }}\n',
  ),
  unread(
    'a quoted template below kubelet',
    'values.yaml',
    'kubelet:\n  imageGCHighThresholdPercent: "{{ .Values.high }}"\n',
  ),
  unread(
    'an unquoted template of maxPods',
    'values.yaml',
    'kubelet:\n  maxPods: {{ .Values.n }}\n',
  ),
  unread(
    'maxPods below kubelet',
    'values.yaml',
    'nodes:\n- kubelet:\n    # all\n    maxPods: 50\n',
  ),
  unread(
    'kubelet in one line',
    'values.yaml',
    'nodes: [{kubelet: {maxPods: 50}}]\nkubelet: {maxPods: 5}\n',
  ),
  unread(
    'a whole kubelet of a template',
    'values.yaml.gotmpl',
    'karpenter:\n  kubelet: {{ toYaml .Values.kubelet | nindent 4 }}\n',
  ),
  unread(
    'kubeletConfiguration of a template',
    'environments/prod/values.yaml',
    'kubeletConfiguration:\n  {{- with .Values.reserved }}\n  systemReserved: {{ toYaml . | nindent 4 }}\n  {{- end }}\n',
  ),
  unread(
    'a kubelet file in a ConfigMap',
    'cm.yaml',
    'apiVersion: v1\nkind: ConfigMap\ndata:\n  kubelet: |\n    apiVersion: kubelet.config.k8s.io/v1beta1\n    kind: KubeletConfiguration\n    imageGCHighThresholdPercent: 50\n',
  ),
  unread(
    'a Provisioner of v1alpha5',
    'p.yaml',
    'apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: burst}\nspec:\n  kubeletConfiguration:\n    maxPods: 50\n',
  ),
  unread(
    'the disk of a NodeClass of Auto Mode',
    'nodeclass.yaml',
    'apiVersion: eks.amazonaws.com/v1\nkind: NodeClass\nmetadata: {name: default}\nspec:\n  ephemeralStorage: {size: 20Gi}\n',
  ),
  unread(
    'user data of Pulumi',
    'Pulumi.yaml',
    'name: nodes\nruntime: yaml\nresources:\n  template:\n    type: aws:ec2:LaunchTemplate\n    properties:\n      userData:\n        fn::toBase64: |\n          #!/bin/bash\n          /etc/eks/bootstrap.sh prod --kubelet-extra-args "--image-gc-high-threshold=50"\n',
  ),
  ...[
    ['a script', 'legacy/s.sh', '#!/bin/bash\n', ''],
    ['a whole script', 'legacy/t.sh', '#!/bin/bash\n', '/etc/eks/bootstrap.sh prod\n'],
  ].map(([what = '', file = '', before = '', after = '']) =>
    unread(
      `an edit by sed of ${what}`,
      file,
      `${before}sed -i 's/"nodefs.available": "10%"/"nodefs.available": "60%"/' /etc/kubernetes/kubelet/kubelet-config.json\n${after}`,
    ),
  ),
  unread(
    'an edit by sed of bootcmd',
    'legacy/ud.yaml',
    '#cloud-config\nbootcmd:\n  - [sed, -i, s/10%/60%/, /etc/kubernetes/kubelet/kubelet-config.json]\n',
  ),
  unread(
    'thresholds that sed deletes',
    'legacy/s.sh',
    `#!/bin/bash\nsed -i '/"evictionHard"/,/}/d' /etc/kubernetes/kubelet/kubelet-config.json\n`,
  ),
  unread(
    'a unit of systemd with flags',
    'legacy/kubelet.service.d/20-args.conf',
    '[Service]\nEnvironment="KUBELET_EXTRA_ARGS=--image-gc-high-threshold=50"\n',
  ),
  ignored(
    'the schema of node classes',
    'crds/nodeclass.yaml',
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {schema: {evictionHard: {type: object}}}\n',
  ),
  ignored(
    'a comment on a threshold',
    'deploy.yaml',
    'apiVersion: apps/v1\nkind: Deployment\n# evictionHard of these nodes is 10%\nmetadata: {name: a}\n',
  ),
  ignored(
    'a unit of systemd of another program',
    'agent.conf',
    '[Service]\nExecStart=/usr/bin/agent --kubelet\n',
  ),
  ignored(
    'the service of a kubelet in kube-prometheus-stack',
    'values.yaml',
    'kubelet:\n  enabled: true\n  namespace: kube-system\n  serviceMonitor:\n    interval: "30s"\n    maxPods: 1\n',
  ),
  ignored(
    'a template of another chart that mentions the kubelet',
    'templates/servicemonitor.yaml',
    'apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  kubelet:\n    maxPods: {{ .Values.n }}\n',
  ),
  ignored(
    'a kubelet that is a comment',
    'values.yaml',
    '# kubelet:\n#   maxPods: 5\nreplicas: {{ .n }}\n',
  ),
  ignored('an empty kubelet', 'values.yaml', 'kubelet: {}\nother:\n  maxPods: 5\n'),
]
