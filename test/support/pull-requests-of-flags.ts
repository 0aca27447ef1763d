/** Flags of a kubelet without their hyphens, and pairs of fields on two lines. */
import type { PullRequest } from './pull-requests.ts'

const mime = (type: string, body: string) =>
  `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: ${type}\n\n${body}\n--B--\n`
const bootstrap = (args: string) =>
  `#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args '${args}'\n`

export const ofFlags: readonly PullRequest[] = [
  {
    name: 'a flag of bootstrap.sh without hyphens',
    files: { 'legacy/user-data.sh': bootstrap('--v=2 max-pods=29') },
    stops: ['legacy/user-data.sh:2 refused'],
  },
  {
    name: 'a flag of bootstrap.sh without hyphens within MIME',
    files: {
      'legacy/user-data.txt': mime('text/x-shellscript', bootstrap('image-gc-high-threshold=80')),
    },
    stops: ['legacy/user-data.txt:8 refused'],
  },
  {
    name: 'a flag without hyphens in the environment of the kubelet',
    files: {
      'legacy/user-data.sh':
        '#!/bin/bash\necho "KUBELET_EXTRA_ARGS=max-pods=29" > /etc/sysconfig/kubelet\n',
    },
    stops: ['legacy/user-data.sh:2 refused'],
  },
  {
    name: 'a flag without hyphens in an overridden command of eksctl',
    files: {
      'cluster.yaml':
        'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: prod, region: us-east-1}\nmanagedNodeGroups:\n- name: legacy\n  overrideBootstrapCommand: |\n    #!/bin/bash\n    /etc/eks/bootstrap.sh prod --kubelet-extra-args "registry-qps=5"\n',
    },
    stops: ['cluster.yaml:8 refused'],
  },
  {
    name: 'a flag with its value as a word of its own',
    files: { 'legacy/user-data.sh': bootstrap('--node-labels max-pods=29 --max-pods 29') },
    stops: [],
  },
]
