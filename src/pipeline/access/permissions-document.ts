/** `docs/permissions.md`, and what one mode needs as the command prints it: every grant with its reason, in Markdown. */
import { s3KmsReadPermissions, s3ReadPermissions } from '#clients/s3.ts'
import { sfnPermissions } from '#clients/sfn.ts'
import { iamStatements, outputGrants } from '#facts/aws/iam.ts'
import type { InspectOutput } from '#facts/aws/inspect-output.ts'
import {
  logPermissions,
  networkPermissions,
  redrivePermissions,
  schedulePermissions,
  stateMachinePermissions,
  tracePermissions,
} from '#facts/aws/service-permissions.ts'
import type { Policy } from '#model/policy.ts'
import { type ReadMode, readModes } from '#model/read-mode.ts'
import {
  type Applied,
  accessEntryCommand,
  accessEntryTemplate,
  exampleApplied,
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

const exampleOutput: InspectOutput = { bucket: 'highwater-answers', prefix: 'nodes/' }

const modeTells: Readonly<Record<ReadMode, string>> = {
  proxy:
    'The default. The kubelet is asked through the API server. `get nodes/proxy` reaches the whole of a kubelet, and with it a shell in every container of the node: give it to a role that only highwater uses, or choose another mode.',
  ssm: 'A fixed, read-only script runs on the node as an SSM document. The cluster grants no more than lists of plain objects. On the instance: an SSM agent, and `AmazonSSMManagedInstanceCore` in its role.',
  both: 'Modes `proxy` and `ssm` together.',
  kubelet:
    'The kubelet is asked on its own port (10250), from inside the VPC: the nodes’ security group has to let the caller in there, and the kubelet’s certificate has to be one that the cluster issued (`serverTLSBootstrap`, as EKS’s AMIs set it), for it is always verified. Two narrow rights are enough, on kubelets of 1.33 and newer; an older one asks for `get nodes/proxy` instead of `get nodes/configz`. Every kubelet sees the token, and who owns the node could use it until it expires: so it is that of a role of its own (`kubelet.roleArn` in the policy), which may do nothing else.',
}

/** The text of `docs/permissions.md`. */
export const permissionsDocument = (): string =>
  [
    '# Permissions',
    '',
    'Written by a test from the permissions that stand beside the calls (`src/clients/`, `src/collect/`): `npm run docs` writes it anew. `highwater permissions --mode MODE` prints a mode’s part ready to apply, for your account and clusters; `highwater doctor --mode MODE` tries what is granted, and says what is missing for which reading.',
    '',
    'None of it but [what applies plans](#remediation) changes anything in a cluster or on a node. Where a right is missing, the audit still runs, and the report says what it could therefore not read.',
    '',
    ...readModes.flatMap(mode => modeSection(mode, exampleApplied)),
    ...outputSection(),
    ...remediationSection('ssm', exampleApplied),
    ...everywhere,
  ].join('\n')

/** What one mode needs, in Markdown. @param policy what it asks to be read; by default what is read unless someone says otherwise */
export function modeSection(mode: ReadMode, applied: Applied, policy?: Policy): string[] {
  return [
    `## Mode ${mode}`,
    '',
    modeTells[mode],
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
    'Each cluster lets the role in by an access entry:',
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
    ...fenced(
      'yaml',
      yamlOf(
        Object.assign(
          {},
          ...principalsOf(mode, applied).map(({ identities, roleArn }) =>
            accessEntryTemplate(identities, roleArn, applied.clusters?.[0] ?? 'CLUSTER'),
          ),
        ),
      ),
    ),
  ]
}

/** Made once, in the account of the reader. Clusters of other accounts grant access by its ARN. */
const seenRole = ({ reader, kubelet }: Applied['roles']): string[] => {
  const resource = kubelet.slice(kubelet.lastIndexOf(':role/') + ':role'.length)
  const path = resource.slice(0, resource.lastIndexOf('/') + 1)
  const name = resource.slice(path.length)
  return [
    "AWS, the role that kubelets see: it has no policy at all, and the roles that read nodes may assume it. The stack makes it with `--param='readsByKubelet=yes'`; elsewhere:",
    '',
    ...fenced(
      'sh',
      `aws iam create-role --role-name ${name}${path === '/' ? '' : ` --path ${path}`} --assume-role-policy-document '${JSON.stringify(trustIn(reader))}'`,
    ),
  ]
}

/** Of those who write what is longer than SSM keeps. */
const agentPolicy = (partition: string, output: InspectOutput): string[] => [
  "AWS, the policy of the instances' own roles, whose agents write there:",
  '',
  ...fenced('json', JSON.stringify(policyOf(agentStatements(partition, output)), null, 2)),
]

const outputSection = (): string[] => [
  '## Answers in S3',
  '',
  'SSM keeps 24,000 characters of an answer. Nodes with more images and containers than fit leave out whole parts, each named; with `inspectOutput` in the policy their agents put the whole answer into a bucket, in the region of the nodes. `highwater permissions --mode ssm --inspect-output s3://BUCKET/PREFIX` prints it with the rest. A bucket with a KMS key of its own needs `kms:Decrypt` for highwater and `kms:GenerateDataKey` for the instances on that key. Let a lifecycle rule delete what is older than a few days.',
  '',
  '| where | right | what stays unknown without it |',
  '| --- | --- | --- |',
  ...rows(
    'AWS',
    awsRights('ssm', exampleOutput).filter(({ right }) => s3ReadPermissions.includes(right)),
  ),
  '',
  'AWS, beside the policy of the role that reads:',
  '',
  ...fenced(
    'json',
    JSON.stringify(
      policyOf(
        iamStatements(s3ReadPermissions, outputGrants(exampleApplied.partition, exampleOutput)),
      ),
      null,
      2,
    ),
  ),
  ...agentPolicy(exampleApplied.partition, exampleOutput),
]

/** What applying plans needs beside a mode, in Markdown. */
export const remediationSection = (mode: ReadMode, applied: Applied): string[] => [
  '## Remediation',
  '',
  `The role that applies plans by SSM reads nodes as its mode says, to check what it has done, and sends the documents that change a node. They are in the account only where the stack is deployed with \`--param='remediation=on'\`, which also makes the function that sends them; \`highwater permissions --remediate\` prints this part, \`highwater doctor --remediate\` looks whether the documents are there. In Kubernetes it needs what its mode reads, and to list namespaces; \`highwater permissions --remediate --format yaml\` prints the role with it. Plans, approvals and the journal lie in a bucket: \`s3:GetObject\`, \`s3:PutObject\` below \`remediation/\` there, \`s3:ListBucket\` and \`s3:ListBucketVersions\`. Who may write \`remediation/approvals/\` can approve.`,
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

const rows = (where: string, rights: readonly NeededRight[]) =>
  rights.map(({ right, tells }) => `| ${where} | \`${right}\` | ${tells} |`)

const fenced = (language: string, text: string) => [`\`\`\`${language}`, text.trimEnd(), '```', '']

const words = (rights: readonly string[]) => rights.map(right => `\`${right}\``).join(', ')

const everywhere = [
  '## In every mode',
  '',
  '- **A cluster without access entries** (`authenticationMode: CONFIG_MAP`) takes a line in `mapRoles` of `aws-auth` instead, with the same groups.',
  '- **EKS’s own access policies do not fit**: `AmazonEKSViewPolicy` shows no nodes, `AmazonEKSAdminViewPolicy` shows Secrets and gives `nodes/proxy`, too.',
  '- **Other accounts**: a role there with this policy and an access entry, which the role that runs highwater may take with an external id; that one needs `sts:AssumeRole` on it. `highwater permissions --mode MODE --format cloudformation` prints it as a template for a stack or a StackSet, with the SSM documents where the mode sends them. The policy file names role and external id under `accounts`. With `--remediate` a second role there, called as the first with `-remediate` at its end, may also send the documents that change a node; only the role that applies plans may take it, and the policy names it as `remediateRoleArn`.',
  '- **The role that kubelets see** (mode `kubelet`) has no IAM policy at all. It trusts the roles that read nodes, which need `sts:AssumeRole` on it; with the stack these are `audit`, and with fan-out and remediation `auditShard` and `remediate`. One role serves all accounts: it is in the account of the reader, and clusters of other accounts grant access by its ARN (source: EKS user guide, creating access entries: type STANDARD).',
  '- **Karpenter and Auto Mode**: the lists of `nodepools`, `ec2nodeclasses` and `nodeclasses` matter only where they are installed.',
  '- **SSM**: `ssm:SendCommand` is limited to highwater’s two documents that read and to instances that carry the tag `aws:eks:cluster-name`, which only EKS can set, or, for hybrid nodes, `EKSClusterARN`. The documents have to be in every account and region that is read this way: deploy the stack there. SSM takes only `*` for the other three calls.',
  '- **Deleting** (`remediation.deletions` in the policy) takes a role of its own, `highwater-deletions`: `highwater permissions --policy FILE` prints it with `get` and `delete` of just the kinds that the policy names. By default it names none, and nothing here deletes.',
  '- **Answers in S3** (`inspectOutput` in the policy): `s3:GetObject` on that bucket and prefix for highwater, `s3:PutObject` for the instances’ roles.',
  '- **Alarms** (`remediation.alarms` in the policy): `cloudwatch:DescribeAlarms` on them, or on `*` where one is a composite alarm, in the accounts and regions that are audited, for the role that changes nodes.',
  '',
  '## The service',
  '',
  `The stack’s own role has the policy above in the stack’s account, and for its reports \`s3:GetObject\` under the bucket’s prefix, \`s3:PutObject\` under \`history/\`, \`runs/\` and \`remediation/plans/\` there, \`s3:ListBucket\` on the bucket, with \`sender\` \`ses:SendEmail\` from that address alone, whichever of the account’s identities it belongs to, and \`ses:GetSuppressedDestination\` (which knows \`*\` only), with \`--param='policySender=ADDRESS'\` likewise from the one that the policy names as \`report.sender\`, ${words(logPermissions)} on its own log group, and with \`kmsKeyArn\` also \`kms:Decrypt\` and \`kms:GenerateDataKey\` on that key, by way of S3 alone. \`--param='topicArn=ARN'\` adds \`sns:Publish\` on that topic (an encrypted one also wants \`kms:GenerateDataKey\` and \`kms:Decrypt\` on its key: add them). \`--param='readsBySsm=yes'\` adds what modes \`ssm\` and \`both\` need, \`--param='inspectOutputBucket=BUCKET' --param='inspectOutputPrefix=PREFIX/'\` the reading of long answers, \`--param='memberRoleArns=ARN,ARN'\` adds \`sts:AssumeRole\` on these roles of other accounts, for \`audit\`, \`discover\`, \`auditShard\` and, with \`-remediate\` at the end too, \`remediate\`. \`--param='readsByKubelet=yes'\` makes the role that kubelets see, and lets \`audit\`, \`auditShard\` and \`remediate\` take it (\`--param='kubeletRole=NAME'\` one that you have made). \`--param='remediation=on'\` makes a second function with a role of its own, which has the policy of [Remediation](#remediation), writes \`remediation/\` in the bucket, has \`kms:GenerateMac\` and \`kms:VerifyMac\` on the stack’s key for runs and \`kms:VerifyMac\` alone on that for approvals, and sends no mail; the audit’s role can neither send those documents nor write an approval. For fleets that are more than one function is to read (\`--param='fanOut=on'\`), \`audit\` has ${words(sfnPermissions)} on the stack’s state machine and its executions, and what that invokes has roles of its own: \`discover\` finds clusters and lists nodes, \`auditShard\` asks EKS where their API server is (\`eks:DescribeCluster\`), reads them, and both write under \`runs/\` only; \`publish\` compares, mails and writes what \`audit\` does, and reads no cluster. Clusters and other accounts let the roles of all three that read in alike. The state machine’s role has ${words(stateMachinePermissions)}, on these functions, its list of work in the bucket and itself, ${words(redrivePermissions)} on the executions of its clusters, and with \`kmsKeyArn\` ${words(s3KmsReadPermissions)} on that key. Each schedule’s role has ${words(schedulePermissions)}, on its function and on the stack’s queue, for what it could not hand over, and nothing else. With \`subnetIds\` Lambda puts the functions into these subnets by their roles (${words(networkPermissions)}, on network interfaces, subnets and security groups of the account and region, or \`*\` where AWS knows nothing narrower); the same calls are denied to the functions’ own code. \`--param='tracing=on'\` adds ${words(tracePermissions)}, which know \`*\` only. An SES identity with a default configuration set needs \`ses:SendEmail\` on that set, too: add it.`,
  '',
]
