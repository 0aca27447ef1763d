/**
 * What CloudFormation makes of a template: parameters and conditions resolved, what is not there left out. It knows the functions that ours use, and no others.
 * Source: CloudFormation template reference, intrinsic functions, condition functions, pseudo parameters.
 */
import { Pair, parse, Scalar, YAMLMap, type YAMLSeq } from 'yaml'

export interface Resource {
  Type: string
  Condition?: string
  DeletionPolicy?: string
  Metadata?: { checkov?: { skip: { id: string; comment: string }[] } }
  Properties: Record<string, unknown>
}

export interface Template {
  Parameters: Record<
    string,
    { Type: string; Default?: string | number; Description?: string; AllowedValues?: string[] }
  >
  Conditions: Record<string, unknown>
  Resources: Record<string, Resource>
  Outputs: Record<string, { Condition?: string; Description?: string; Value: unknown }>
}

export interface Stack {
  resources: Record<string, Resource>
  outputs: Record<string, unknown>
}

/** All that can be had, set. */
export const wholeParameters = {
  Sender: 'highwater@example.com',
  PolicySender: '*@team.example.com',
  Recipients: 'a@example.com,b@example.com',
  SenderIdentity: 'example.com',
  ReportBaseUrl: 'https://reports.example.com',
  TopicArn: 'arn:aws:sns:eu-west-1:111122223333:reports',
  EventBusArn: 'arn:aws:events:eu-west-1:111122223333:event-bus/findings',
  WebhookSecretArn: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:hook-a1B2c3',
  Prefix: 'eks/',
  KmsKeyArn: 'arn:aws:kms:eu-west-1:111122223333:key/0f1e2d3c',
  AccessLogBucket: 'access-logs',
  ReservedConcurrency: '20',
  ApproverArns: 'arn:aws:iam::111122223333:role/approvers',
  ApplierArns: 'arn:aws:iam::111122223333:role/appliers',
  ObjectLockDays: '30',
  ReadsBySsm: 'yes',
  InspectOutputBucket: 'answers',
  InspectOutputPrefix: 'nodes/',
  ReadsByKubelet: 'yes',
  KubeletRole: 'highwater-kubelet',
  MemberRoleArns:
    'arn:aws:iam::444455556666:role/highwater,arn:aws:iam::555566667777:role/highwater',
  FanOut: 'on',
  Remediation: 'on',
  AlarmEmail: 'ops@example.com',
  AlarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:alarms',
  Tracing: 'on',
  SubnetIds: 'subnet-0a,subnet-0b',
  SecurityGroupIds: 'sg-0a',
}

const pseudo: Readonly<Record<string, unknown>> = {
  'AWS::AccountId': '111122223333',
  'AWS::Partition': 'aws',
  'AWS::Region': 'eu-west-1',
  'AWS::StackName': 'highwater-prod',
  'AWS::NoValue': undefined,
}

/** @param given by name; the others have their defaults. @throws Error for what it does not know, or a reference to what is not there */
export function instantiate(
  template: Template,
  given: Readonly<Record<string, string>> = {},
): Stack {
  for (const name of Object.keys(given))
    if (!template.Parameters[name]) throw new Error(`there is no parameter ${name}`)
  const holds = (name: string): boolean => {
    if (!Object.hasOwn(template.Conditions, name)) throw new Error(`there is no condition ${name}`)
    return value(template.Conditions[name]) === true
  }
  const isThere = ({ Condition }: { Condition?: string }) =>
    Condition === undefined || holds(Condition)
  const parameter = (name: string): unknown => {
    const { Type, Default } = template.Parameters[name] ?? {}
    const text = String(given[name] ?? Default)
    return Type === 'CommaDelimitedList' ? text.split(',') : text
  }
  const reference = (name: string): unknown => {
    if (Object.hasOwn(pseudo, name)) return pseudo[name]
    if (template.Parameters[name]) return parameter(name)
    const [logicalId = ''] = name.split('.')
    const resource = template.Resources[logicalId]
    if (!resource || !isThere(resource)) throw new Error(`${name} is referred to, and is not there`)
    return `<${name}>`
  }
  const functions: Readonly<Record<string, (argument: unknown) => unknown>> = {
    Ref: name => reference(String(name)),
    Condition: name => holds(String(name)),
    'Fn::GetAtt': path => reference([path].flat().join('.')),
    'Fn::Sub': text => String(text).replace(/\$\{([^}]+)\}/g, (_, name) => String(reference(name))),
    'Fn::If': argument => {
      const [name, then, otherwise] = argument as [string, unknown, unknown]
      return value(holds(name) ? then : otherwise)
    },
    'Fn::Equals': argument =>
      new Set((argument as unknown[]).map(each => String(value(each)))).size === 1,
    'Fn::Not': argument => !value((argument as unknown[])[0]),
    'Fn::And': argument => (argument as unknown[]).every(each => value(each) === true),
    'Fn::Or': argument => (argument as unknown[]).some(each => value(each) === true),
    'Fn::Join': argument => {
      const [separator, list] = argument as [string, unknown]
      return (value(list) as unknown[]).join(separator)
    },
    'Fn::Select': argument => {
      const [index, list] = argument as [number, unknown]
      return (value(list) as unknown[])[index]
    },
    'Fn::Split': argument => {
      const [separator, text] = argument as [string, unknown]
      return String(value(text)).split(separator)
    },
  }
  const value = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(value).filter(each => each !== undefined)
    if (typeof node !== 'object' || node === null) return node
    const [[name, argument] = ['', undefined], ...others] = Object.entries(node)
    const evaluate =
      others.length === 0 && Object.hasOwn(functions, name) ? functions[name] : undefined
    if (evaluate) return evaluate(argument)
    if (name.startsWith('Fn::')) throw new Error(`${name} is not known here`)
    return Object.fromEntries(
      Object.entries(node).flatMap(([key, each]) =>
        [[key, value(each)]].filter(([, one]) => one !== undefined),
      ),
    )
  }
  const made = <Part extends { Condition?: string }>(parts: Record<string, Part>) =>
    Object.entries(parts).filter(([, part]) => isThere(part))
  return {
    resources: Object.fromEntries(
      made(template.Resources).map(([name, resource]) => [name, value(resource) as Resource]),
    ),
    outputs: Object.fromEntries(
      made(template.Outputs).map(([name, { Value }]) => [name, value(Value)]),
    ),
  }
}

export const ofType = ({ resources }: Stack, type: string): Resource[] =>
  Object.values(resources).filter(({ Type }) => Type === type)

const scalars = ['Ref', 'Condition', 'Fn::Sub', 'Fn::GetAtt']
const lists = [
  'Fn::If',
  'Fn::Equals',
  'Fn::Not',
  'Fn::And',
  'Fn::Or',
  'Fn::Join',
  'Fn::Select',
  'Fn::Split',
]
const tagOf = (name: string) => `!${name.replace('Fn::', '')}`
const longForm = (name: string, list: YAMLSeq): YAMLMap => {
  const map = new YAMLMap()
  map.items.push(new Pair(new Scalar(name), list))
  return map
}

/** Reads a template in YAML, short forms and all. */
export const parseTemplate = (text: string): Template => ({
  ...{ Parameters: {}, Conditions: {}, Outputs: {} },
  ...parse(text, {
    version: '1.1',
    customTags: [
      ...scalars.map(name => ({ tag: tagOf(name), resolve: (of: string) => ({ [name]: of }) })),
      ...lists.map(name => ({
        tag: tagOf(name),
        collection: 'seq' as const,
        resolve: (list: YAMLMap | YAMLSeq) => longForm(name, list as YAMLSeq),
      })),
    ],
  }),
})
