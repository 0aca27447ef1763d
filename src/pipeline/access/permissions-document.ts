/** The permissions of a mode, ready to apply: Kubernetes manifests, IAM policies, EKS access entries; and `docs/permissions.md`, which is all of them. */
import { Document, isScalar, visit } from 'yaml'
import { s3KmsReadPermissions, s3ReadPermissions } from '#clients/s3.ts'
import { sfnPermissions } from '#clients/sfn.ts'
import { type Account, type IamPolicy, type IamStatement, iamStatements, outputGrants } from '#facts/aws/iam.ts'
import type { InspectOutput } from '#facts/aws/inspect-output.ts'
import {
  logPermissions,
  networkPermissions,
  redrivePermissions,
  schedulePermissions,
  stateMachinePermissions,
  tracePermissions,
} from '#facts/aws/service-permissions.ts'
import { clusterRole, type ServiceAccount } from '#facts/kubernetes/rbac.ts'
import type { Policy } from '#model/policy.ts'
import { type ReadMode, readModes } from '#model/read-mode.ts'
import {
  agentStatements,
  applyKubernetesRights,
  applyRights,
  awsRights,
  hasOutput,
  type IdentityName,
  identityNames,
  kubernetesRights,
  type NeededRight,
  readerStatements,
  remediatorStatements,
} from './permissions.ts'

export type { ServiceAccount }

/** Who is let into a cluster, and whose clusters they are. */
export interface Applied extends Account {
  /** The IAM role of each identity. */
  roles: Readonly<Record<IdentityName, string>>
  /** Where agents put long answers; null: nowhere. */
  output: InspectOutput | null
}

/** Placeholders, as the documents have them. */
export const exampleApplied: Applied = {
  partition: 'aws',
  account: '111122223333',
  clusters: null,
  roles: { reader: 'arn:aws:iam::111122223333:role/highwater', kubelet: 'arn:aws:iam::111122223333:role/highwater-kubelet' },
  output: null,
}
const exampleOutput: InspectOutput = { bucket: 'highwater-answers', prefix: 'nodes/' }

/** Where kubelets see the reader's own token, one role is both. */
const hasSeenRole = ({ reader, kubelet }: Applied['roles']) => reader !== kubelet

const identitiesOf = (mode: ReadMode): readonly IdentityName[] => (mode === 'kubelet' ? ['reader', 'kubelet'] : ['reader'])

interface Granted {
  /** What it asks for beyond the default. */
  policy?: Policy
  /** Of the cluster itself, whose pods read it; null: the groups of access entries. */
  account?: ServiceAccount | null
  /** Whoever applies plans, too. */
  isRemediating?: boolean
}

/** ClusterRoles and bindings, for `kubectl apply -f -`. */
export const manifests = (mode: ReadMode, { policy, account = null, isRemediating = false }: Granted = {}): string =>
  identitiesOf(mode)
    .flatMap(identity =>
      roleManifests(
        identity,
        [...kubernetesRights(mode, identity, policy), ...(isRemediating && identity === 'reader' ? applyKubernetesRights() : [])].map(
          ({ right }) => right,
        ),
        identity === 'reader' ? account : null,
      ),
    )
    .join('---\n')

/** Of one identity, with just these rights. */
export const roleManifests = (identity: IdentityName, rights: readonly string[], account: ServiceAccount | null = null): string[] =>
  rolesOf(identityNames[identity], rights, account)

/** Of a group of that name, or of a service account. */
export const rolesOf = (name: string, rights: readonly string[], account: ServiceAccount | null = null): string[] =>
  clusterRole(name, rights, account).map(object => yamlOf(object))

/** Lists of plain words on one line. */
function yamlOf(object: object): string {
  const document = new Document(object)
  visit(document, {
    Seq: (_, list) => {
      list.flow = list.items.every(item => isScalar(item))
    },
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

/** What the reader may do in AWS. @param isRemediating whoever applies plans: it may send the documents that change a node, too */
export const iamPolicy = (mode: ReadMode, applied: Applied, isRemediating = false): IamPolicy => {
  const statements = isRemediating ? remediatorStatements : readerStatements
  const isTaking = mode === 'kubelet' && hasSeenRole(applied.roles)
  return policyOf(statements(mode, applied, isTaking ? { role: { Resource: applied.roles.kubelet } } : {}, applied.output))
}

const policyOf = (Statement: readonly IamStatement[]): IamPolicy => ({ Version: '2012-10-17', Statement })

/** How an IAM role becomes a member of the groups that the ClusterRoles are bound to. */
export const accessEntryCommand = (identities: readonly IdentityName[], roleArn: string, cluster: string) =>
  `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${roleArn} --kubernetes-groups ${groupsOf(identities).join(' ')}`

const groupsOf = (identities: readonly IdentityName[]) => identities.map(identity => identityNames[identity])

/** An access entry is that of a role, and a cluster has no second one of it. */
const principalsOf = (mode: ReadMode, { roles }: Applied): { identities: readonly IdentityName[]; roleArn: string }[] => {
  const identities = identitiesOf(mode)
  if (!hasSeenRole(roles)) return [{ identities, roleArn: roles.reader }]
  return identities.map(identity => ({ identities: [identity], roleArn: roles[identity] }))
}

/** What lets the roles into each of the clusters, as a script: an access entry, and in the cluster the roles. Run again, it adds what is missing and takes nothing away. */
export function accessScript(mode: ReadMode, applied: Applied, policy?: Policy): string {
  const steps = namedClusters(applied).flatMap(cluster => [
    `# ${cluster}`,
    ...identitiesOf(mode).map(identity => `let_in ${cluster} ${applied.roles[identity]} ${identityNames[identity]}`),
    `aws eks update-kubeconfig --name ${cluster} --alias ${cluster} --kubeconfig "$kubeconfig"`,
    `kubectl --kubeconfig "$kubeconfig" --context ${cluster} apply -f - <<'YAML'`,
    manifests(mode, { policy }).trimEnd(),
    'YAML',
    '',
  ])
  return ['set -euf', 'kubeconfig=$(mktemp)', `trap 'rm -f "$kubeconfig"' EXIT`, '', letIn, '', ...steps].join('\n')
}

/** An entry that is there keeps its other groups, for update-access-entry replaces all. An empty list is printed as None or as nothing. */
const letIn = `# CLUSTER ROLE GROUP: makes the access entry, or adds the group to the one that is there
let_in() {
  if groups=$(aws eks describe-access-entry --cluster-name "$1" --principal-arn "$2" --query 'accessEntry.kubernetesGroups' --output text 2>/dev/null); then
    groups=$(printf '%s' "$groups" | tr '\\t' ' ')
    if [ "$groups" = None ]; then groups=; fi
    case " $groups " in
      *" $3 "*) ;;
      *) aws eks update-access-entry --cluster-name "$1" --principal-arn "$2" --kubernetes-groups $groups "$3" ;;
    esac
  else
    aws eks create-access-entry --cluster-name "$1" --principal-arn "$2" --kubernetes-groups "$3"
  fi
}`

/** The same access entries as a CloudFormation template, for clusters of the role's own account. The roles in the cluster come by kubectl. */
export const accessTemplate = (mode: ReadMode, applied: Applied): object => ({
  AWSTemplateFormatVersion: '2010-09-09',
  Description: `Lets highwater into clusters (mode ${mode}), once they have the ClusterRole that highwater permissions --format yaml prints`,
  Resources: Object.fromEntries(
    namedClusters(applied).flatMap((cluster, index) =>
      principalsOf(mode, applied).flatMap(({ identities, roleArn }) =>
        Object.entries(accessEntryTemplate(identities, roleArn, cluster)).map(([name, entry]) => [`${name}${index + 1}`, entry]),
      ),
    ),
  ),
})

const namedClusters = ({ clusters }: Applied) => (clusters ?? []).filter(cluster => !cluster.includes('*'))

const accessEntryTemplate = (identities: readonly IdentityName[], roleArn: string, cluster: string) => ({
  [`Highwater${identities[0] === 'kubelet' ? 'Kubelet' : ''}AccessEntry`]: {
    Type: 'AWS::EKS::AccessEntry',
    Properties: { ClusterName: cluster, PrincipalArn: roleArn, KubernetesGroups: groupsOf(identities) },
  },
})

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
    'Written by a test from the permissions that stand beside the calls (`src/clients/`, `src/collect/`): `vitest run test/permissions.test.ts -u` writes it anew. `highwater permissions --mode MODE` prints a mode’s part ready to apply, for your account and clusters; `highwater doctor --mode MODE` tries what is granted, and says what is missing for which reading.',
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
      rows(identity === 'kubelet' ? 'Kubernetes, the identity that kubelets see' : 'Kubernetes', kubernetesRights(mode, identity, policy)),
    ),
    '',
    'Kubernetes (`kubectl apply -f -`):',
    '',
    ...fenced('yaml', manifests(mode, { policy })),
    'AWS, the policy of the role:',
    '',
    ...fenced('json', JSON.stringify(iamPolicy(mode, applied), null, 2)),
    ...(mode === 'kubelet' && hasSeenRole(applied.roles) ? seenRole(applied.roles) : []),
    ...(applied.output !== null && hasOutput(mode) ? agentPolicy(applied.partition, applied.output) : []),
    'Each cluster lets the role in by an access entry:',
    '',
    ...fenced(
      'sh',
      principalsOf(mode, applied)
        .map(({ identities, roleArn }) => accessEntryCommand(identities, roleArn, applied.clusters?.[0] ?? 'CLUSTER'))
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

/** Of a role that this one, and nobody else, may take. */
export const trustIn = (roleArn: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { AWS: roleArn }, Action: 'sts:AssumeRole' }],
})

/** Made once, in the account of whoever reads: clusters of other accounts let it in by its ARN. */
const seenRole = ({ reader, kubelet }: Applied['roles']): string[] => {
  const [path = '/', name = ''] = /^.*:role(\/(?:.*\/)?)([^/]+)$/.exec(kubelet)?.slice(1) ?? []
  return [
    "AWS, the role that kubelets see: it has no policy at all, and whoever reads may take it. The stack makes it with `--param='readsByKubelet=yes'`; elsewhere:",
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
    JSON.stringify(policyOf(iamStatements(s3ReadPermissions, outputGrants(exampleApplied.partition, exampleOutput))), null, 2),
  ),
  ...agentPolicy(exampleApplied.partition, exampleOutput),
]

/** What applying plans needs beside a mode, in Markdown. */
export const remediationSection = (mode: ReadMode, applied: Applied): string[] => [
  '## Remediation',
  '',
  `Whoever applies plans by SSM reads nodes as its mode says, to check what it has done, and sends the documents that change a node. They are in the account only where the stack is deployed with \`--param='remediation=on'\`, which also makes the function that sends them; \`highwater permissions --remediate\` prints this part, \`highwater doctor --remediate\` looks whether the documents are there. In Kubernetes it needs what its mode reads, and to list namespaces, which an audit of cluster garbage does already; \`highwater permissions --remediate --format yaml\` prints the role with it. Plans, approvals and the journal lie in a bucket: \`s3:GetObject\`, \`s3:PutObject\` below \`remediation/\` there, and \`s3:ListBucket\`. Who may write \`remediation/approvals/\` can approve.`,
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

const rows = (where: string, rights: readonly NeededRight[]) => rights.map(({ right, tells }) => `| ${where} | \`${right}\` | ${tells} |`)

const fenced = (language: string, text: string) => [`\`\`\`${language}`, text.trimEnd(), '```', '']

const words = (rights: readonly string[]) => rights.map(right => `\`${right}\``).join(', ')

const everywhere = [
  '## In every mode',
  '',
  '- **A cluster without access entries** (`authenticationMode: CONFIG_MAP`) takes a line in `mapRoles` of `aws-auth` instead, with the same groups.',
  '- **EKS’s own access policies do not fit**: `AmazonEKSViewPolicy` shows no nodes, `AmazonEKSAdminViewPolicy` shows Secrets and gives `nodes/proxy`, too.',
  '- **Other accounts**: a role there with this policy and an access entry, which the role that runs highwater may take with an external id; that one needs `sts:AssumeRole` on it. `highwater permissions --mode MODE --format cloudformation` prints it as a template for a stack or a StackSet, with the SSM documents where the mode sends them. The policy file names role and external id under `accounts`. With `--remediate` a second role there, called as the first with `-remediate` at its end, may also send the documents that change a node; only the role that applies plans may take it, and the policy names it as `remediateRoleArn`.',
  '- **The role that kubelets see** (mode `kubelet`) has no IAM policy at all. It trusts whoever reads nodes, who needs `sts:AssumeRole` on it; with the stack these are `audit`, and with fan-out and remediation `auditShard` and `remediate`. One role serves all accounts: it stands beside whoever reads, and clusters of other accounts let it in by its ARN (source: EKS user guide, creating access entries: type STANDARD).',
  '- **Karpenter and Auto Mode**: the lists of `nodepools`, `ec2nodeclasses` and `nodeclasses` matter only where they are installed.',
  '- **Finalizers of other kinds** (`clusterGarbage.sweep` in the policy): `list` of each resource that it names, `*.GROUP` for all of a group, `*` for all that is served. By default it names none. highwater asks for metadata alone and keeps only what is in deletion, but RBAC knows no such right: whoever may list a kind may read its objects, and with `*` those of Secrets, too. Name what your operators set finalizers on. `highwater permissions --policy FILE` prints the role with these, and what else the policy asks for. Which kinds there are every known identity may ask (`system:discovery`).',
  '- **SSM**: `ssm:SendCommand` is limited to highwater’s two documents that read and to instances that carry the tag `aws:eks:cluster-name`, which EKS sets and nobody else can, or, for hybrid nodes, `EKSClusterARN`. The documents have to be in every account and region that is read this way: deploy the stack there. SSM takes only `*` for the other three calls.',
  '- **Deleting** (`remediation.deletions` in the policy) takes a role of its own, `highwater-deletions`: `highwater permissions --policy FILE` prints it with `get` and `delete` of just the kinds that the policy names. By default it names none, and nothing here deletes.',
  '- **Answers in S3** (`inspectOutput` in the policy): `s3:GetObject` on that bucket and prefix for highwater, `s3:PutObject` for the instances’ roles.',
  '- **Alarms** (`remediation.alarms` in the policy): `cloudwatch:DescribeAlarms` on them, or on `*` where one is a composite alarm, in the accounts and regions that are audited, for whoever changes nodes.',
  '',
  '## The service',
  '',
  `The stack’s own role has the policy above in the stack’s account, and for its reports \`s3:GetObject\` under the bucket’s prefix, \`s3:PutObject\` under \`history/\`, \`runs/\` and \`remediation/plans/\` there, \`s3:ListBucket\` on the bucket, with \`sender\` \`ses:SendEmail\` from that address alone, whichever of the account’s identities it belongs to, and \`ses:GetSuppressedDestination\` (which knows \`*\` only), with \`--param='policySender=ADDRESS'\` likewise from the one that the policy names as \`report.sender\`,, ${words(logPermissions)} on its own log group, and with \`kmsKeyArn\` also \`kms:Decrypt\` and \`kms:GenerateDataKey\` on that key, by way of S3 alone. \`--param='topicArn=ARN'\` adds \`sns:Publish\` on that topic (an encrypted one also wants \`kms:GenerateDataKey\` and \`kms:Decrypt\` on its key: add them). \`--param='readsBySsm=yes'\` adds what modes \`ssm\` and \`both\` need, \`--param='inspectOutputBucket=BUCKET' --param='inspectOutputPrefix=PREFIX/'\` the reading of long answers, \`--param='readsByKubelet=yes'\` makes the role that kubelets see, and lets \`audit\`, \`auditShard\` and \`remediate\` take it (\`--param='kubeletRole=NAME'\` one that you have made). \`--param='remediation=on'\` makes a second function with a role of its own, which has the policy of [Remediation](#remediation), writes \`remediation/\` in the bucket and mails nobody; the audit’s role can neither send those documents nor write an approval. For fleets that are more than one function is to read (\`--param='fanOut=on'\`), \`audit\` has ${words(sfnPermissions)} on the stack’s state machine and its executions, and what that invokes has roles of its own: \`discover\` finds clusters and lists nodes, \`auditShard\` reads them, and both write under \`runs/\` only; \`publish\` compares, mails and writes what \`audit\` does, and reads no cluster. Clusters and other accounts let the roles of all three that read in alike. The state machine’s role has ${words(stateMachinePermissions)}, on these functions, its list of work in the bucket and itself, ${words(redrivePermissions)} on the executions of its clusters, and with \`kmsKeyArn\` ${words(s3KmsReadPermissions)} on that key. Each schedule’s role has ${words(schedulePermissions)}, on its function and on the stack’s queue, for what it could not hand over, and nothing else. With \`subnetIds\` Lambda puts the functions into these subnets by their roles (${words(networkPermissions)}, on network interfaces, subnets and security groups of the account and region, or \`*\` where AWS knows nothing narrower); the same calls are denied to the functions’ own code. \`--param='tracing=on'\` adds ${words(tracePermissions)}, which know \`*\` only. An SES identity with a default configuration set needs \`ses:SendEmail\` on that set, too: add it.`,
  '',
]
