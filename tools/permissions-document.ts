/** The text of `docs/permissions.md`: every grant with its reason. test/pipeline/permissions.test.ts writes the file. */

import { sfnPermissions } from '#clients/aws/sfn.ts'
import { s3KmsPermissions, s3KmsReadPermissions, s3ReadPermissions } from '#clients/store/s3.ts'
import { iamStatements, outputGrants } from '#facts/aws/iam.ts'
import type { InspectOutput } from '#facts/aws/inspect-targets.ts'
import { readModes } from '#model/input/record.ts'
import {
  type Applied,
  agentPolicy,
  awsRights,
  codeBlock,
  modeSection,
  policyOf,
  remediationSection,
  rows,
} from '#pipeline/access/permissions.ts'
import {
  logPermissions,
  networkPermissions,
  redrivePermissions,
  schedulePermissions,
  stateMachinePermissions,
  tracePermissions,
} from './service-permissions.ts'

/** Placeholders for the documents. */
export const exampleApplied: Applied = {
  partition: 'aws',
  account: '111122223333',
  clusters: null,
  roles: {
    reader: 'arn:aws:iam::111122223333:role/highwater',
    kubelet: 'arn:aws:iam::111122223333:role/highwater-kubelet',
  },
  output: null,
}

const exampleOutput: InspectOutput = { bucket: 'highwater-answers', prefix: 'nodes/' }

export const permissionsDocument = (): string =>
  [
    '# Which permissions does highwater need?',
    '',
    'Generated from the permissions beside the calls (`src/clients/`, `src/collect/`) by `npm run docs`. `highwater permissions --mode MODE` prints the part of a mode, ready to apply, for your account and clusters. `highwater doctor --mode MODE` checks the granted rights and reports what is missing.',
    '',
    'Only the rights of [remediation](#remediation) change anything in a cluster or on a node. If a right is missing, the audit still runs, and the report names what it could not read.',
    '',
    ...readModes.flatMap(mode => modeSection(mode, exampleApplied)),
    ...outputSection(),
    ...remediationSection('ssm', exampleApplied),
    ...everywhere,
  ].join('\n')

const outputSection = (): string[] => [
  '## Answers in S3',
  '',
  'SSM keeps 24,000 characters of an answer. Nodes with many images and containers leave out whole parts and name them. With `inspectOutput` in the policy their agents write the whole answer to a bucket in the region of the nodes. `highwater permissions --mode ssm --inspect-output s3://BUCKET/PREFIX` prints the rights. A bucket with its own KMS key needs `kms:Decrypt` for highwater and `kms:GenerateDataKey` for the instances on that key. Set a lifecycle rule that deletes answers after a few days.',
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
  ...codeBlock(
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

const words = (rights: readonly string[]) => rights.map(right => `\`${right}\``).join(', ')

const everywhere = [
  '## In every mode',
  '',
  '- **A cluster without access entries** (`authenticationMode: CONFIG_MAP`) needs a line in `mapRoles` of `aws-auth` instead, with the same groups.',
  '- **EKS’s own access policies do not fit**: `AmazonEKSViewPolicy` does not include nodes; `AmazonEKSAdminViewPolicy` includes Secrets and `nodes/proxy`.',
  '- **Other accounts**: create a role there with this policy and an access entry. The role that runs highwater assumes it with an external id, and needs `sts:AssumeRole` on it. `highwater permissions --mode MODE --format cloudformation` prints it as a template for a stack or a StackSet, with the SSM documents where the mode sends them. The policy file names role and external id under `accounts`. With `--remediate` a second role there, called as the first with `-remediate` at its end, may also send the documents that change a node; only the role that applies plans may assume it, and the policy names it as `remediateRoleArn`.',
  '- **The role that kubelets see** (mode `kubelet`) has no IAM policy at all. It trusts the roles that read nodes, which need `sts:AssumeRole` on it; with the stack these are `audit`, and with fan-out and remediation `auditShard` and `remediate`. One role serves all accounts: it is in the account of the reader, and clusters of other accounts grant access by its ARN (source: EKS user guide, creating access entries: type STANDARD).',
  '- **Karpenter and Auto Mode**: the lists of `nodepools`, `ec2nodeclasses` and `nodeclasses` are needed only if these are installed.',
  '- **SSM**: `ssm:SendCommand` is limited to highwater’s two documents that read and to instances that carry the tag `aws:eks:cluster-name`, which only EKS can set, or, for hybrid nodes, `EKSClusterARN`. The documents have to be in every account and region that is read this way: deploy the stack there. SSM takes only `*` for the other three calls.',
  '- **Answers in S3** (`inspectOutput` in the policy): `s3:GetObject` on that bucket and prefix for highwater, `s3:PutObject` for the instances’ roles.',
  '- **Alarms** (`remediation.alarms` in the policy): `cloudwatch:DescribeAlarms` on them, or on `*` where one is a composite alarm, in the accounts and regions that are audited, for the role that changes nodes.',
  '',
  '## The service',
  '',
  `The stack’s own role has the policy above in the stack’s account, and for its reports \`s3:GetObject\` under the bucket’s prefix, \`s3:PutObject\` on \`index.html\` and under \`latest/\`, \`history/\`, \`runs/\` and \`remediation/plans/\` there, \`s3:ListBucket\` on the bucket, with \`sender\` \`ses:SendEmail\` from that address alone, whichever of the account’s identities it belongs to, and \`ses:GetSuppressedDestination\` (which knows \`*\` only), with \`--param='policySender=ADDRESS'\` likewise from the one that the policy names as \`report.sender\`, ${words(logPermissions)} on its own log group, and with \`kmsKeyArn\` also \`kms:Decrypt\` and \`kms:GenerateDataKey\` on that key, by way of S3 alone. \`--param='topicArn=ARN'\` adds \`sns:Publish\` on that topic (an encrypted one also wants \`kms:GenerateDataKey\` and \`kms:Decrypt\` on its key: add them). \`--param='eventBusArn=ARN'\` adds \`events:PutEvents\` on that bus, for events of source \`highwater\`. \`--param='readsBySsm=yes'\` adds what modes \`ssm\` and \`both\` need, \`--param='inspectOutputBucket=BUCKET' --param='inspectOutputPrefix=PREFIX/'\` the reading of long answers, \`--param='memberRoleArns=ARN,ARN'\` adds \`sts:AssumeRole\` on these roles of other accounts, for \`audit\`, \`discover\`, \`auditShard\` and, with \`-remediate\` at the end too, \`remediate\`. \`--param='readsByKubelet=yes'\` makes the role that kubelets see, and lets \`audit\`, \`auditShard\` and \`remediate\` take it (\`--param='kubeletRole=NAME'\` one that you have made). \`--param='remediation=on'\` makes a second function with a role of its own, which has the policy of [Remediation](#remediation), writes \`remediation/\` in the bucket, has \`kms:GenerateMac\` and \`kms:VerifyMac\` on the stack’s key for runs and \`kms:VerifyMac\` alone on that for approvals, and sends no mail; the audit’s role can neither send those documents nor write an approval. For fleets that are more than one function is to read (\`--param='fanOut=on'\`), \`audit\` has ${words(sfnPermissions)} on the stack’s state machine and its executions, and what that invokes has roles of its own: \`discover\` finds clusters and lists nodes, \`auditShard\` asks EKS where their API server is (\`eks:DescribeCluster\`), reads them, and both write under \`runs/\` only; \`publish\` compares, mails and writes what \`audit\` does, and reads no cluster. Clusters and other accounts let the roles of all three that read in alike. The state machine’s role has ${words(stateMachinePermissions)}, on these functions, its list of work in the bucket and itself, ${words(redrivePermissions)} on the executions of its clusters, and with \`kmsKeyArn\` ${words(s3KmsReadPermissions)} on that key. Each schedule’s role has ${words(schedulePermissions)}, on its function and on the stack’s queue, for what it could not hand over, with \`kmsKeyArn\` ${words(s3KmsPermissions)} on that key by way of SQS, and nothing else. With \`subnetIds\` Lambda puts the functions into these subnets by their roles (${words(networkPermissions)}, on network interfaces, subnets and security groups of the account and region, or \`*\` where AWS knows nothing narrower); the same calls are denied to the functions’ own code. \`--param='tracing=on'\` adds ${words(tracePermissions)}, which know \`*\` only. An SES identity with a default configuration set needs \`ses:SendEmail\` on that set, too: add it.`,
  '',
]
