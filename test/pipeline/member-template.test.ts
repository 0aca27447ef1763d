/** What `highwater permissions --format cloudformation` prints: a role in another account that may do what the mode needs, and nothing else. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import type { IamStatement } from '#facts/aws/iam.ts'
import { inspectDocumentHashes } from '#facts/aws/inspect-targets.ts'
import { type ReadMode, readModes } from '#model/input/record.ts'
import { cloudFormationYaml, memberTemplate } from '#pipeline/access/member-template.ts'
import { roleStatements } from '#pipeline/access/permissions.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { instantiate, ofType, parseTemplate, type Stack } from '#test/template.ts'

const account = { partition: 'aws', account: '111122223333', clusters: null }
const output = { bucket: 'answers', prefix: 'nodes/' }
const given = {
  AuditRoleArn: 'arn:aws:iam::444455556666:role/highwater-prod-AuditRole-A1',
  ExternalId: 'agreed-4711',
  RoleRegion: 'eu-west-1',
}
const printed = (
  mode: ReadMode,
  { isRemediating = false, clusters = null as string[] | null } = {},
) =>
  parseTemplate(
    cloudFormationYaml(
      memberTemplate({ mode, applied: { clusters, output }, isRemediating, kubeletRoleArn: null }),
    ),
  )
const roleOf = (stack: Stack, name = 'Role') =>
  stack.resources[name]?.Properties as {
    AssumeRolePolicyDocument: { Statement: unknown[] }
    Policies: { PolicyDocument: { Statement: IamStatement[] } }[]
  }
const granted = (stack: Stack, name = 'Role') =>
  roleOf(stack, name).Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
const hashes = (stack: Stack) =>
  Object.fromEntries(
    ofType(stack, 'AWS::SSM::Document').map(({ Properties: { Name, Content } }) => [
      Name,
      sha256(String(Content)),
    ]),
  )

it('lets the role that kubelets see into the clusters, too, where the mode shows it to them: it stands in the account of the stack', async () => {
  const of = (mode: ReadMode) => printed(mode, { clusters: ['prod', 'stage'] })
  for (const mode of readModes.filter(one => one !== 'kubelet'))
    expect(of(mode).Parameters).not.toHaveProperty('KubeletRoleArn')
  expect(printed('kubelet').Parameters).not.toHaveProperty('KubeletRoleArn')
  const KubeletRoleArn = 'arn:aws:iam::444455556666:role/highwater-prod-SeenByKubeletsRole-C3'
  const entries = ofType(
    instantiate(of('kubelet'), { ...given, KubeletRoleArn }),
    'AWS::EKS::AccessEntry',
  )
  expect(
    entries
      .filter(({ Properties }) => Properties.PrincipalArn === KubeletRoleArn)
      .map(({ Properties }) => Properties),
  ).toEqual(
    ['prod', 'stage'].map(ClusterName => ({
      ClusterName,
      PrincipalArn: KubeletRoleArn,
      KubernetesGroups: ['highwater-kubelet'],
    })),
  )
  const policy = join(temporaryFolder(), 'highwater.yaml')
  writeFileSync(policy, `kubelet: { roleArn: '${KubeletRoleArn}' }\n`)
  const { stdout } = await inProcess([
    ...[
      'permissions',
      '--mode',
      'kubelet',
      '--format',
      'cloudformation',
      '--cluster',
      'prod',
      '--policy',
      policy,
    ],
  ])
  expect(parseTemplate(stdout).Parameters.KubeletRoleArn?.Default).toBe(KubeletRoleArn)
})

describe('the role in another account', () => {
  it.each(readModes)('may do what mode %s needs, and nothing else', mode => {
    expect(granted(instantiate(printed(mode), given))).toEqual(
      roleStatements(mode, account, output),
    )
  })

  const RemediateRoleArn = 'arn:aws:iam::444455556666:role/highwater-prod-RemediateRole-B2'

  it.each(readModes)(
    'changes no node: where that is wanted a second one does, which whoever audits cannot take; mode %s',
    mode => {
      const template = printed(mode, { isRemediating: true, clusters: ['prod'] })
      const stack = instantiate(template, {
        ...given,
        RemediateRoleArn,
        DiscoverRoleArn: 'arn:aws:iam::444455556666:role/d',
      })
      expect(granted(stack)).toEqual(
        roleStatements(mode, { ...account, clusters: ['prod'] }, output),
      )
      expect(granted(stack, 'RemediateRole')).toEqual(
        roleStatements(mode, { ...account, clusters: ['prod'] }, output, true),
      )
      const takenBy = (name: string) => JSON.stringify(roleOf(stack, name).AssumeRolePolicyDocument)
      expect(takenBy('Role')).not.toContain(RemediateRoleArn)
      expect(roleOf(stack, 'RemediateRole').AssumeRolePolicyDocument.Statement).toMatchObject([
        {
          Condition: {
            StringEquals: { 'sts:ExternalId': 'agreed-4711' },
            ArnEquals: { 'aws:PrincipalArn': [RemediateRoleArn] },
          },
        },
      ])
      expect(stack.resources.RemediateRole?.Properties.RoleName).toBe('highwater-remediate')
      expect(stack.outputs.RemediateRoleArn).toBe('<RemediateRole.Arn>')
      const entries = (of: Stack) =>
        ofType(of, 'AWS::EKS::AccessEntry').map(({ Properties }) => Properties.PrincipalArn)
      expect(entries(stack)).toContain('<RemediateRole.Arn>')
      const elsewhere = instantiate(template, {
        ...given,
        RemediateRoleArn,
        RoleRegion: 'us-east-1',
      })
      expect(entries(elsewhere)).toContain('arn:aws:iam::111122223333:role/highwater-remediate')
      expect(JSON.stringify(instantiate(template, given))).not.toMatch(/RemediateRole|-remediate/)
    },
  )

  it('is taken by the named roles alone, and only with the external id', () => {
    const trust = (more: Record<string, string> = {}) =>
      roleOf(instantiate(printed('proxy'), { ...given, ...more })).AssumeRolePolicyDocument
    const statement = (principals: string[]) => ({
      Effect: 'Allow',
      Principal: { AWS: '444455556666' },
      Action: 'sts:AssumeRole',
      Condition: {
        StringEquals: { 'sts:ExternalId': 'agreed-4711' },
        ArnEquals: { 'aws:PrincipalArn': principals },
      },
    })
    expect(trust().Statement).toEqual([statement([given.AuditRoleArn])])
    const more = Object.fromEntries(
      ['Discover', 'AuditShard', 'Remediate'].map(name => [
        `${name}RoleArn`,
        `arn:aws:iam::444455556666:role/highwater-prod-${name}Role-B2`,
      ]),
    )
    expect(trust(more).Statement).toEqual([statement([given.AuditRoleArn, ...Object.values(more)])])
    for (const [name, arn] of Object.entries(more))
      expect(trust({ [name]: arn }).Statement).toEqual([statement([given.AuditRoleArn, arn])])
  })

  it('is asked for by the roles of the stack that may take it, under the names of its outputs', () => {
    const read = (file: string) =>
      parseTemplate(readFileSync(`src/handlers/stack/${file}.yml`, 'utf8'))
    const outputs = Object.values(read('roles').Resources)
      .filter(({ Properties }) => JSON.stringify(Properties).includes('"MemberRoleArns"'))
      .flatMap(({ Properties: { Roles, RoleName } }) => [Roles ?? RoleName].flat())
      .map(role => `${(role as { Ref: string }).Ref}Arn`)
    expect(
      Object.keys(printed('proxy').Parameters).filter(name => name.endsWith('RoleArn')),
    ).toEqual(outputs)
    expect(Object.keys(read('reports').Outputs)).toEqual(expect.arrayContaining(outputs))
    const section =
      readFileSync('docs/deploy.md', 'utf8')
        .split(/^## /m)
        .find(part => part.startsWith('Many accounts')) ?? ''
    for (const name of outputs) expect(section).toContain(name)
    const [overrides = ''] = /--parameter-overrides .*/.exec(section) ?? []
    const named = [
      ...section.matchAll(/ParameterKey=(\w+)/g),
      ...overrides.matchAll(/(\w+)=/g),
    ].map(([, name]) => name)
    expect(named).toEqual(expect.arrayContaining([...outputs.slice(0, 3), 'ExternalId']))
    for (const name of named) expect(Object.keys(printed('ssm').Parameters)).toContain(name)
  })

  it('cannot be made without an external id: there is no default', () => {
    expect(printed('proxy').Parameters.ExternalId).not.toHaveProperty('Default')
  })

  it('is made once for all regions; the documents in each, where the mode sends them', () => {
    const elsewhere = { ...given, RoleRegion: 'us-east-1' }
    expect(Object.keys(instantiate(printed('proxy'), elsewhere).resources)).toEqual([])
    expect(hashes(instantiate(printed('ssm'), elsewhere))).toEqual(inspectDocumentHashes)
    expect(hashes(instantiate(printed('proxy'), given))).toEqual({})
    expect(hashes(instantiate(printed('both', { isRemediating: true }), given))).toEqual({
      ...inspectDocumentHashes,
      ...applyDocumentHashes,
    })
    expect(hashes(instantiate(printed('ssm'), { ...given, Documents: 'no' }))).toEqual({})
  })

  it('is let into the clusters that are named', () => {
    const template = printed('proxy', { clusters: ['prod', 'stage-*'] })
    const entries = (stack: Stack) =>
      ofType(stack, 'AWS::EKS::AccessEntry').map(({ Properties }) => Properties)
    const entry = (PrincipalArn: string) => [
      { ClusterName: 'prod', PrincipalArn, KubernetesGroups: ['highwater'] },
    ]
    expect(entries(instantiate(template, given))).toEqual(entry('<Role.Arn>'))
    expect(entries(instantiate(template, { ...given, RoleRegion: 'us-east-1' }))).toEqual(
      entry('arn:aws:iam::111122223333:role/highwater'),
    )
  })
})
