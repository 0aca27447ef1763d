/** `highwater permissions`: the permissions that a mode needs, ready to apply. */

import { Command, InvalidArgumentError, Option } from 'commander'
import { OperatorError } from '#base/operator-error.ts'
import type { ServiceAccount } from '#facts/kubernetes/rbac.ts'
import {
  accountInArn,
  defaultReadMode,
  partitionInArn,
  type ReadMode,
  readModes,
} from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import { cloudFormationYaml, memberTemplate } from '#pipeline/access/member-template.ts'
import {
  type Applied,
  accessTemplate,
  iamPolicy,
  identityNames,
  manifests,
  modeSection,
  remediationSection,
} from '#pipeline/access/permissions.ts'
import { requireKubeletIdentity } from '#pipeline/audit/fleet.ts'
import { addPolicyOption, patternParser, policyFile, repeatableOption } from './options.ts'
import { jsonText } from './terminal.ts'

interface PermissionsOptions {
  mode: ReadMode
  format: (typeof forms)[number]
  /** Twelve digits. */
  account?: string
  partition?: string
  /** ARN of the role that reads. */
  roleArn?: string
  cluster: string[]
  policy?: string
  inspectOutput: Policy['inspectOutput']
  remediate?: boolean
  serviceAccount: ServiceAccount | null
}

export function permissionsCommand() {
  const command = new Command('permissions')
    .addOption(
      new Option('--mode <mode>', 'how nodes are read').choices(readModes).default(defaultReadMode),
    )
    .addOption(
      new Option(
        '--format <format>',
        'yaml: Kubernetes roles; json: IAM policy; markdown: both, with access entries; cloudformation: the role in another account, for a stack or a StackSet, or with --role-arn the access entries of each --cluster',
      )
        .choices(forms)
        .default('markdown'),
    )
    .addOption(
      new Option('--account <id>', 'the AWS account of the clusters')
        .argParser(patternParser(/^\d{12}$/, 'An AWS account has twelve digits.'))
        .default(undefined, 'that of --role-arn'),
    )
    .addOption(
      new Option('--partition <name>')
        .choices(['aws', 'aws-cn', 'aws-us-gov'])
        .default(undefined, 'that of --role-arn, or aws'),
    )
    .addOption(
      new Option('--role-arn <arn>', 'the role that reads nodes (AuditRoleArn of the stack)')
        .argParser(parseRole)
        .default(undefined, 'highwater in that account'),
    )
    .addOption(
      repeatableOption(
        '--cluster <name>',
        'only this cluster; repeat for more',
        'every one of the account',
        parseCluster,
      ),
    )
    .addOption(
      new Option(
        '--inspect-output <s3://bucket/prefix>',
        "where agents put long answers (the policy's inspectOutput)",
      )
        .argParser(parseOutput)
        .default(null, 'nowhere'),
    )
    .addOption(
      new Option(
        '--service-account <namespace/name>',
        'bind the role to this service account, for pods that read their cluster',
      )
        .argParser(parseServiceAccount)
        .default(null, 'the group highwater, of EKS access entries'),
    )
    .option('--remediate', 'also print what applying plans needs: the documents that change a node')
  return addPolicyOption(command)
    .addHelpText(
      'after',
      `
Examples:
  highwater permissions --mode proxy --format yaml | kubectl apply -f -
  highwater permissions --mode ssm --format cloudformation

Exit codes: 0 printed; 2 bad usage.`,
    )
    .action((options: PermissionsOptions) => {
      process.stdout.write(`${permissionsText(options).trimEnd()}\n`)
    })
}

function permissionsText(options: PermissionsOptions) {
  const { mode, format, cluster, policy, serviceAccount, remediate = false } = options
  const asked = policyFile(policy)
  if (format === 'yaml')
    return manifests(mode, { policy: asked, account: serviceAccount, isRemediating: remediate })
  if (format === 'json') return jsonText(iamPolicy(mode, appliedOf(options, asked), remediate))
  const applied = shownApplied(options, asked)
  const { roleArn: kubeletRoleArn } = asked.kubelet
  if (format === 'cloudformation' && options.roleArn === undefined)
    return cloudFormationYaml(
      memberTemplate({ mode, applied, isRemediating: remediate, kubeletRoleArn }),
    )
  if (format === 'cloudformation') {
    if (cluster.every(name => name.includes('*')))
      throw new OperatorError('Name the clusters: --cluster NAME, once for each')
    return cloudFormationYaml(accessTemplate(mode, appliedOf(options, asked)))
  }
  return [
    ...modeSection(mode, applied, asked),
    ...(remediate ? remediationSection(mode, applied) : []),
  ].join('\n')
}

const forms = ['markdown', 'yaml', 'json', 'cloudformation'] as const

/** Source: EKS API reference, CreateCluster name. */
const parseCluster = patternParser(
  /^[0-9A-Za-z*][A-Za-z0-9_*-]{0,99}$/,
  'It is an EKS cluster name; * matches any characters.',
)

/** Source: IAM user guide, IAM ARNs. */
const parseRole = patternParser(
  /^arn:[a-z-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
  "It is a role's ARN, like arn:aws:iam::111122223333:role/highwater.",
)

/** Source: Kubernetes, object names and IDs: a namespace is a DNS label, a service account a DNS subdomain. */
function parseServiceAccount(text: string): ServiceAccount {
  const [, namespace, name] =
    /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\/([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)$/.exec(
      text,
    ) ?? []
  if (namespace === undefined || name === undefined)
    throw new InvalidArgumentError('It is written NAMESPACE/NAME.')
  return { namespace, name }
}

/** Source: Amazon S3 user guide, general purpose bucket naming rules. */
function parseOutput(text: string): Policy['inspectOutput'] {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^*?]*))?$/.exec(text) ?? []
  if (bucket === undefined)
    throw new InvalidArgumentError('It is written s3://BUCKET or s3://BUCKET/PREFIX.')
  return { bucket, prefix }
}

/* The account and roles in printed permissions. Output that can be applied unchanged contains no guessed names. */

/** @throws OperatorError if the account is unknown, or in mode `kubelet` the identity that kubelets see */
function appliedOf(asked: PermissionsOptions, policy: Policy): Applied {
  if (accountOf(asked) === null)
    throw new OperatorError(
      'The account of the clusters is unknown: set --account, or --role-arn to the role that reads (AuditRoleArn of the stack)',
    )
  requireKubeletIdentity({ ...policy, modes: [{ match: {}, mode: asked.mode }] })
  return shownApplied(asked, policy)
}

/** For people to read. An unknown account is printed as ACCOUNT; mode `kubelet` names a role that might not exist yet. */
function shownApplied(asked: PermissionsOptions, { kubelet }: Policy): Applied {
  const { roleArn, cluster, inspectOutput: output } = asked
  const account = accountOf(asked) ?? 'ACCOUNT'
  const partition = asked.partition ?? (roleArn ? partitionInArn(roleArn) : null) ?? 'aws'
  const reader = roleArn ?? `arn:${partition}:iam::${account}:role/${identityNames.reader}`
  // The role is in the account of the reader. Clusters of other accounts grant access by its ARN.
  const beside = reader.replace(/role\/.*/s, `role/${identityNames.kubelet}`)
  const seen = kubelet.roleArn ?? (kubelet.useOwnToken ? reader : beside)
  return {
    partition,
    account,
    clusters: cluster.length === 0 ? null : cluster,
    roles: { reader, kubelet: seen },
    output,
  }
}

const accountOf = ({ account, roleArn }: PermissionsOptions) =>
  account ?? (roleArn ? accountInArn(roleArn) : null)
