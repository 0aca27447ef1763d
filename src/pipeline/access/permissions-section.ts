import type { InspectOutput } from '#facts/aws/inspect-output.ts'
import type { ReadMode } from '#model/input/read-mode.ts'
import type { Policy } from '#model/policy.ts'
import {
  type Applied,
  accessEntries,
  accessEntryCommand,
  hasSeenRole,
  iamPolicy,
  identitiesOf,
  manifests,
  policyOf,
  principalsOf,
  trustIn,
  yamlOf,
} from './grants.ts'
import {
  agentStatements,
  applyKubernetesRights,
  applyRights,
  awsRights,
  hasOutput,
  kubernetesRights,
  type NeededRight,
} from './permissions.ts'

const modeDescriptions: Readonly<Record<ReadMode, string>> = {
  proxy:
    'The default. The API server forwards requests to the kubelet. `get nodes/proxy` permits every request to a kubelet, including a shell in every container of the node: grant it only to a role that only highwater uses, or choose another mode.',
  ssm: 'A fixed, read-only script runs on the node as an SSM document. The cluster grants only lists of plain objects. The instance needs an SSM agent, and `AmazonSSMManagedInstanceCore` in its role.',
  both: 'Modes `proxy` and `ssm` together.',
  kubelet:
    'highwater calls the kubelet on its own port (10250), from inside the VPC. The nodes’ security group must permit that, and the cluster must have issued the kubelet’s certificate (`serverTLSBootstrap`, as EKS’s AMIs set it), because it is always verified. Two narrow rights are enough on kubelets of 1.33 and later; older ones need `get nodes/proxy` instead of `get nodes/configz`. Every kubelet sees the token, and the owner of a node could use it until it expires. Therefore it belongs to a separate role (`kubelet.roleArn` in the policy) without other rights.',
}

/** The rights of a mode, in Markdown. @param policy decides which objects are read */
export function modeSection(mode: ReadMode, applied: Applied, policy?: Policy): string[] {
  return [
    `## Mode ${mode}`,
    '',
    modeDescriptions[mode],
    '',
    '| where | right | what stays unknown without it |',
    '| --- | --- | --- |',
    ...rows('AWS', awsRights(mode, applied.output)),
    ...identitiesOf(mode).flatMap(identity =>
      rows(
        identity === 'kubelet' ? 'Kubernetes, the identity that kubelets see' : 'Kubernetes',
        kubernetesRights(mode, identity, policy),
      ),
    ),
    '',
    'Kubernetes (`kubectl apply -f -`):',
    '',
    ...fenced('yaml', manifests(mode, { policy })),
    'AWS, the policy of the role:',
    '',
    ...fenced('json', JSON.stringify(iamPolicy(mode, applied), null, 2)),
    ...(mode === 'kubelet' && hasSeenRole(applied.roles) ? seenRole(applied.roles) : []),
    ...(applied.output !== null && hasOutput(mode)
      ? agentPolicy(applied.partition, applied.output)
      : []),
    'Each cluster grants access to the role by an access entry:',
    '',
    ...fenced(
      'sh',
      principalsOf(mode, applied)
        .map(({ identities, roleArn }) =>
          accessEntryCommand(identities, roleArn, applied.clusters?.[0] ?? 'CLUSTER'),
        )
        .join('\n'),
    ),
    'or, in CloudFormation:',
    '',
    ...fenced('yaml', yamlOf(accessEntries(mode, applied, applied.clusters?.[0] ?? 'CLUSTER'))),
  ]
}

/** The role that kubelets see. It is made once, in the reader's account; clusters of other accounts grant access by its ARN. */
const seenRole = ({ reader, kubelet }: Applied['roles']) => {
  const resource = kubelet.slice(kubelet.lastIndexOf(':role/') + ':role'.length)
  const path = resource.slice(0, resource.lastIndexOf('/') + 1)
  const name = resource.slice(path.length)
  return [
    "AWS, the role that kubelets see: it has no policy, and the roles that read nodes may assume it. The stack creates it with `--param='readsByKubelet=yes'`; elsewhere:",
    '',
    ...fenced(
      'sh',
      `aws iam create-role --role-name ${name}${path === '/' ? '' : ` --path ${path}`} --assume-role-policy-document '${JSON.stringify(trustIn(reader))}'`,
    ),
  ]
}

/** Policy of the instances whose agents write long answers to the bucket. */
export const agentPolicy = (partition: string, output: InspectOutput): string[] => [
  "AWS, the policy of the instances' own roles, whose agents write to the bucket:",
  '',
  ...fenced('json', JSON.stringify(policyOf(agentStatements(partition, output)), null, 2)),
]

/** The rights to apply plans, in addition to those of a mode, in Markdown. */
export const remediationSection = (mode: ReadMode, applied: Applied): string[] => [
  '## Remediation',
  '',
  `The role that applies plans by SSM reads nodes in its mode, to verify changes, and sends the documents that change a node. These documents exist only if the stack is deployed with \`--param='remediation=on'\`, which also creates the function that sends them. \`highwater permissions --remediate\` prints this part; \`highwater doctor --remediate\` checks the documents. In Kubernetes it needs the rights of its mode, and the right of the table below; \`highwater permissions --remediate --format yaml\` prints the role with both. Plans, approvals and the journal are in a bucket: \`s3:GetObject\`, \`s3:PutObject\` below \`remediation/\` there, \`s3:ListBucket\` and \`s3:ListBucketVersions\`. Writing an approval also needs \`kms:GenerateMac\` on the approval key.`,
  '',
  '| where | right | what for |',
  '| --- | --- | --- |',
  ...rows('AWS', applyRights()),
  ...rows('Kubernetes', applyKubernetesRights()),
  '',
  `AWS, the policy of the role, with mode ${mode}:`,
  '',
  ...fenced('json', JSON.stringify(iamPolicy(mode, applied, true), null, 2)),
]

export const rows = (where: string, rights: readonly NeededRight[]) =>
  rights.map(({ right, purpose }) => `| ${where} | \`${right}\` | ${purpose} |`)

export const fenced = (language: string, text: string) => [
  `\`\`\`${language}`,
  text.trimEnd(),
  '```',
  '',
]
