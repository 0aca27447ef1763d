/** What `highwater permissions --format cloudformation` prints: a role in another account that may do what the mode needs, and nothing else. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import type { IamStatement } from '#facts/aws/iam.ts'
import { inspectDocumentHashes } from '#facts/aws/inspect-documents.ts'
import { type ReadMode, readModes } from '#model/read-mode.ts'
import { cloudFormationYaml } from '#pipeline/cloudformation-yaml.ts'
import { memberTemplate } from '#pipeline/member-template.ts'
import { readerStatements, remediatorStatements } from '#pipeline/permissions.ts'
import { hashOf } from '#remediate/scripts/documents.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { lintTemplate } from '#test/packaged.ts'
import { instantiate, ofType, parseTemplate, type Stack } from '#test/template.ts'

const account = { partition: 'aws', account: '111122223333', clusters: null }
const output = { bucket: 'answers', prefix: 'nodes/' }
const given = {
  AuditRoleArn: 'arn:aws:iam::444455556666:role/highwater-prod-AuditRole-A1',
  ExternalId: 'agreed-4711',
  RoleRegion: 'eu-west-1',
}
const printed = (mode: ReadMode, { isRemediating = false, clusters = null as string[] | null } = {}) =>
  parseTemplate(cloudFormationYaml(memberTemplate({ mode, applied: { clusters, output }, isRemediating })))
const roleOf = (stack: Stack) =>
  stack.resources.Role?.Properties as {
    AssumeRolePolicyDocument: { Statement: unknown[] }
    Policies: { PolicyDocument: { Statement: IamStatement[] } }[]
  }
const granted = (stack: Stack) => roleOf(stack).Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
const hashes = (stack: Stack) =>
  Object.fromEntries(ofType(stack, 'AWS::SSM::Document').map(({ Properties: { Name, Content } }) => [Name, hashOf(String(Content))]))

describe('the role in another account', () => {
  it.each(readModes)('may do what mode %s needs, and nothing else', mode => {
    expect(granted(instantiate(printed(mode), given))).toEqual(readerStatements(mode, account, {}, output))
    const remediating = instantiate(printed(mode, { isRemediating: true }), given)
    expect(granted(remediating)).toEqual(remediatorStatements(mode, account, {}, output))
  })

  it('is taken by the named roles alone, and only with the external id', () => {
    const trust = (more: Record<string, string> = {}) =>
      roleOf(instantiate(printed('proxy'), { ...given, ...more })).AssumeRolePolicyDocument
    const statement = (principals: string[]) => ({
      Effect: 'Allow',
      Principal: { AWS: '444455556666' },
      Action: 'sts:AssumeRole',
      Condition: { StringEquals: { 'sts:ExternalId': 'agreed-4711' }, ArnEquals: { 'aws:PrincipalArn': principals } },
    })
    expect(trust().Statement).toEqual([statement([given.AuditRoleArn])])
    const RemediateRoleArn = 'arn:aws:iam::444455556666:role/highwater-prod-RemediateRole-B2'
    expect(trust({ RemediateRoleArn }).Statement).toEqual([statement([given.AuditRoleArn, RemediateRoleArn])])
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
    const entries = (stack: Stack) => ofType(stack, 'AWS::EKS::AccessEntry').map(({ Properties }) => Properties)
    const entry = (PrincipalArn: string) => [{ ClusterName: 'prod', PrincipalArn, KubernetesGroups: ['highwater'] }]
    expect(entries(instantiate(template, given))).toEqual(entry('<Role.Arn>'))
    expect(entries(instantiate(template, { ...given, RoleRegion: 'us-east-1' }))).toEqual(entry('arn:aws:iam::111122223333:role/highwater'))
  })
})

it('passes cfn-lint', { timeout: 120_000 }, async context => {
  for (const more of [[], ['--mode', 'both', '--remediate', '--cluster', 'prod']]) {
    const { stdout, code } = await inProcess(['permissions', '--format', 'cloudformation', ...more])
    expect(code).toBe(0)
    const file = join(temporaryFolder(), 'member.yaml')
    writeFileSync(file, stdout)
    await lintTemplate(file, context)
  }
})
