/**
 * CloudFormation template (stack or StackSet) for an account whose clusters are audited from another account. The fixed
 * part is `templates/member-account.yaml`; the statements of its roles, the SSM documents and the access entries follow from the mode.
 */
import {
  Document,
  isScalar,
  isSeq,
  type Node,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { readAsset } from '#asset.ts'
import { parseYaml, TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { everyDocument, type IamStatement, readingDocuments } from '#facts/aws/iam.ts'
import { promisedSources, type ReadMode, remediateSuffix } from '#model/input/record.ts'
import {
  applyDocuments,
  contentOf,
  documents,
  type Document as NodeDocument,
} from '#remediate/scripts/documents.ts'
import { type Applied, accessEntry, namedClusters, roleStatements } from './permissions.ts'

export interface MemberOptions {
  mode: ReadMode
  /** Clusters that grant access to the roles, and the bucket for long answers. The account is the stack's own. */
  applied: Pick<Applied, 'clusters' | 'output'>
  isRemediating: boolean
  /** The role whose token kubelets see in mode `kubelet`; null: not known yet. */
  kubeletRoleArn: string | null
}

interface Role {
  Properties: {
    AssumeRolePolicyDocument: {
      Statement: { Condition: { ArnEquals: { 'aws:PrincipalArn': unknown[] } } }[]
    }
    Policies: { PolicyDocument: { Statement: unknown[] } }[]
  }
}

interface MemberTemplate {
  Description: string
  Parameters: Record<string, object>
  Conditions: Record<string, unknown>
  Resources: { Role: Role; RemediateRole?: Role; [name: string]: unknown }
  Outputs: Record<string, unknown>
}

const file = 'templates/member-account.yaml'

/** Returns the template as an object with CloudFormation's long forms. */
export function memberTemplate(options: MemberOptions): object {
  const { mode, applied, isRemediating, kubeletRoleArn } = options
  const template = parseYaml(readAsset(file), new TextBudget(textLimits.template)) as MemberTemplate
  const account = {
    partition: `$\{AWS::Partition}`,
    account: `$\{AWS::AccountId}`,
    clusters: applied.clusters,
  }
  const clusters = namedClusters(applied)
  template.Description += ` (mode ${mode})`
  const { Role, RemediateRole } = template.Resources
  fillStatements(Role, roleStatements(mode, account, applied.output))
  if (isRemediating && RemediateRole) {
    template.Description += ', and change their nodes by approved plans'
    fillStatements(RemediateRole, roleStatements(mode, account, applied.output, true))
    // The caller that applies plans assumes RemediateRole here, so Role does not trust that caller.
    for (const { Condition } of Role.Properties.AssumeRolePolicyDocument.Statement)
      Condition.ArnEquals['aws:PrincipalArn'].pop()
  } else {
    delete template.Resources.RemediateRole
    delete template.Conditions.MakesRemediateRole
    delete template.Outputs.RemediateRoleArn
  }
  const sent = documentsOf(options)
  if (sent.length === 0) {
    delete template.Parameters.Documents
    delete template.Conditions.MakesDocuments
  }
  if (mode !== 'kubelet' || clusters.length === 0) delete template.Parameters.KubeletRoleArn
  else if (kubeletRoleArn !== null)
    Object.assign(template.Parameters.KubeletRoleArn ?? {}, { Default: kubeletRoleArn })
  Object.assign(
    template.Resources,
    Object.fromEntries(clusters.flatMap(entriesOf(options))),
    Object.fromEntries(sent.map(documentResource)),
  )
  return template
}

function fillStatements(role: Role, statements: readonly IamStatement[]) {
  for (const { PolicyDocument } of role.Properties.Policies)
    PolicyDocument.Statement = statements.map(wrapReferences)
}

/** A mode that reads hosts needs the documents that read; remediation needs all documents. */
function documentsOf({ mode, isRemediating }: MemberOptions) {
  const reading = promisedSources[mode].includes('host') ? readingDocuments : []
  const names = isRemediating ? everyDocument : reading
  return [...documents, ...applyDocuments].filter(({ name }) => names.includes(name))
}

/** Content is text, so that the deployed document has exactly the bytes whose hash the sender pins. */
const documentResource = (document: NodeDocument) => [
  document.resource,
  {
    Type: 'AWS::SSM::Document',
    Condition: 'MakesDocuments',
    Metadata: {
      'cfn-lint': {
        config: { ignore_checks: ['E3051'] },
        reason:
          'Content is text, so that its hash can be pinned. E3051 reads only documents that are objects.',
      },
    },
    Properties: {
      Name: document.name,
      DocumentType: 'Command',
      DocumentFormat: 'JSON',
      UpdateMethod: 'NewVersion',
      Content: contentOf(document),
    },
  },
]

/** All documents as an account has them after a deployment, for the lab. */
export const deployedDocuments = () =>
  [...documents, ...applyDocuments].map(document => ({
    name: document.name,
    content: contentOf(document),
  }))

const entriesOf = (options: MemberOptions) => (cluster: string, index: number) => {
  const entries: [string, object][] = [
    [`AccessEntry${index + 1}`, accessEntry(['reader'], roleArnOf('MakesRole', 'Role'), cluster)],
  ]
  if (options.isRemediating) {
    const roleArn = roleArnOf('MakesRemediateRole', 'RemediateRole', remediateSuffix)
    const entry = accessEntry(['reader'], roleArn, cluster)
    entries.push([`RemediateAccessEntry${index + 1}`, { Condition: 'HasRemediateRole', ...entry }])
  }
  if (options.mode === 'kubelet') {
    const entry = accessEntry(['kubelet'], { Ref: 'KubeletRoleArn' }, cluster)
    entries.push([`KubeletAccessEntry${index + 1}`, entry])
  }
  return entries
}

/** If the stack of another region has the role, the ARN is built from the role's name. */
const roleArnOf = (condition: string, resource: string, suffix = '') => ({
  'Fn::If': [
    condition,
    { 'Fn::GetAtt': [resource, 'Arn'] },
    { 'Fn::Sub': `arn:$\{AWS::Partition}:iam::$\{AWS::AccountId}:role/$\{RoleName}${suffix}` },
  ],
})

/* CloudFormation templates as YAML with short forms (`!Ref`). Source: CloudFormation user guide, intrinsic functions. */

/** @param template with the long forms, `{ 'Fn::Sub': … }` */
export function cloudFormationYaml(template: object) {
  // CloudFormation reads YAML 1.1: on, off, yes and no need quotes.
  const document = new Document(template, { version: '1.1', aliasDuplicateObjects: false })
  visit(document, { Map: (_, map) => shortForm(map) })
  visit(document, {
    Seq: (_, list) => {
      list.flow = isShort(list)
    },
  })
  return document.toString({ lineWidth: 160, flowCollectionPadding: true, directives: false })
}

/** Wraps texts with references such as `${AWS::Region}` in Fn::Sub, so that CloudFormation resolves them. */
function wrapReferences(node: unknown): unknown {
  if (typeof node === 'string') return node.includes('${') ? { 'Fn::Sub': node } : node
  if (Array.isArray(node)) return node.map(wrapReferences)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, wrapReferences(value)]),
  )
}

/** `{ Fn::Sub: text }` → `!Sub text` */
function shortForm(map: YAMLMap): Node | undefined {
  const [pair, ...others] = map.items
  const name = isScalar(pair?.key) ? String(pair.key.value) : ''
  const isCondition = name === 'Condition' && isScalar(pair?.value)
  if (others.length > 0 || !(name === 'Ref' || name.startsWith('Fn::') || isCondition))
    return undefined
  const value = pair?.value
  const parts = isSeq(value) ? value.items : []
  // The short form of GetAtt joins its path with dots.
  const isPath = name === 'Fn::GetAtt' && parts.every(part => isScalar(part))
  const short = isPath
    ? new Scalar(parts.map(part => isScalar(part) && part.value).join('.'))
    : value
  if (!isScalar(short) && !isSeq(short)) return undefined
  short.tag = `!${name.replace('Fn::', '')}`
  return short
}

const mostInFlow = 8
const isShort = (list: YAMLSeq): boolean =>
  list.items.length <= mostInFlow &&
  list.items.every(item => isScalar(item) || (isSeq(item) && isShort(item)))
