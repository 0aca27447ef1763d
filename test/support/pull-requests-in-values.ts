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
