/** The launch templates that the scenarios' nodegroups name, with user data as people write it. Values with `lab-secret` must never leave EC2. */
import { gzipSync } from 'node:zlib'
import type { LaunchTemplateScenario } from './scenario.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const boundary = '==BOUNDARY=='

const multipart = (parts: { type: string; body: string }[]) =>
  [
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    ...parts.flatMap(({ type, body }) => [`--${boundary}`, `Content-Type: ${type}`, '', body]),
    `--${boundary}--`,
    '',
  ].join('\r\n')

const kubeletFile = '/etc/kubernetes/kubelet/kubelet-config.json'
const script = 'text/x-shellscript; charset="us-ascii"'

/** AL2, before EKS's own part calls bootstrap.sh. */
const al2Tuned = multipart([
  {
    type: script,
    body: `#!/bin/bash
set -euo pipefail
export DD_API_KEY=lab-secret-4f1c
curl -H "Authorization: Bearer lab-secret-77" https://setup.example.com/agent | bash
echo "$(jq '.imageGCHighThresholdPercent=70 | .imageGCLowThresholdPercent=50' ${kubeletFile})" > ${kubeletFile}
`,
  },
])

/** Formats and mounts the disk; of the kubelet it says nothing. */
const dataDisk = multipart([
  {
    type: script,
    body: `#!/bin/bash
mkfs.xfs /dev/nvme1n1 && mount /dev/nvme1n1 /var/lib/containerd
echo lab-secret-luks | cryptsetup open /dev/nvme2n1 scratch -
`,
  },
])

const nodeConfig = (config: string) => `---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
${config}
`

const calmByNodeadm = multipart([
  {
    type: 'application/node.eks.aws',
    body: nodeConfig('      imageGCHighThresholdPercent: 70\n      imageGCLowThresholdPercent: 50'),
  },
])

const arm = multipart([
  {
    type: 'application/node.eks.aws',
    body: nodeConfig('      imageGCHighThresholdPercent: 70\n      imageGCLowThresholdPercent: 50'),
  },
  { type: script, body: '#!/bin/bash\necho lab-secret-token > /etc/agent.key\n' },
])

const bottlerocket = (high: number, low: number) => `[settings.kubernetes]
cluster-name = "fleet"
bootstrap-token = "lab-secret-bootstrap"
image-gc-high-threshold-percent = "${high}"
image-gc-low-threshold-percent = "${low}"

[settings.host-containers.admin]
enabled = false
user-data = "lab-secret-admin"
`

export const incidentTemplates: LaunchTemplateScenario[] = [
  {
    id: 'lt-0a11ab00000000001',
    name: 'al2-tuned',
    versions: [{ number: 1 }, { number: 3 }, { number: 4, userData: base64(al2Tuned) }],
  },
  {
    id: 'lt-0a11ab00000000002',
    name: 'data-disk',
    versions: [{ number: 1, userData: base64(dataDisk) }],
  },
]

export const fleetTemplates: LaunchTemplateScenario[] = [
  {
    id: 'lt-0a11ab00000000011',
    name: 'fleet-arm',
    versions: [{ number: 1 }, { number: 2, userData: base64(arm) }],
  },
  {
    id: 'lt-0a11ab00000000012',
    name: 'fleet-bottlerocket',
    versions: [{ number: 1, userData: gzipSync(bottlerocket(85, 80)).toString('base64') }],
  },
]

/** What each family's nodes of scenario probe are meant to run with. */
export const probeTemplates: LaunchTemplateScenario[] = [
  {
    id: 'lt-0a11ab00000000021',
    name: 'probe-al2',
    versions: [{ number: 1, userData: base64(al2Tuned) }],
  },
  {
    id: 'lt-0a11ab00000000022',
    name: 'probe-al2023',
    versions: [{ number: 1, userData: base64(calmByNodeadm) }],
  },
  {
    id: 'lt-0a11ab00000000023',
    name: 'probe-bottlerocket',
    versions: [{ number: 1, userData: base64(bottlerocket(70, 50)) }],
  },
]
