import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { recorded } from '#lab/scenarios/recorded.ts'
import { type ClusterScenario, fixedNodes } from '#lab/scenarios/scenario.ts'
import { nodes as healthyNodes, scenario } from '#lab/test/support.ts'
import { auditorRights, labPrincipal } from '#lab/world.ts'
import { temporaryFolder } from '#test/cli.ts'
import { runCommand } from '#test/in-process.ts'
import { inspectDocuments, inspected } from '#test/inspected.ts'
import { labOf } from '#test/lab-audit.ts'

const healthy = healthyNodes(2)

// They may share the machine with many others.
vi.setConfig({ testTimeout: 60_000 })

const world = (more: Partial<ClusterScenario>) => ({
  ...recorded,
  clusters: recorded.clusters.map(cluster => ({ ...cluster, ...more })),
})

describe('highwater doctor', () => {
  it('finds all well: exit 0', async () => {
    const { environment } = await labOf([recorded])
    const { code, stdout, stderr } = await runCommand(['doctor'], { env: environment })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^recorded \(mode proxy\): all is well\n/)
    expect(stdout).not.toMatch(/missing|failed/)
  })

  it('does not call well what it has not tried: in mode ssm no command is sent', async () => {
    const nodes = fixedNodes(
      Object.fromEntries(healthy.names().map(name => [name, inspected(healthy.node(name)!)])),
    )
    const lab = scenario([{ name: 'c', nodes }], { ssm: { denied: ['ssm:SendCommand'] } })
    const { environment } = await labOf([lab], { documents: inspectDocuments })
    const { code, stdout } = await runCommand(['doctor', '--mode', 'ssm'], { env: environment })
    expect(code).toBe(0)
    expect(stdout).not.toContain('all is well')
    const [head = ''] = stdout.split(/\n {2}\w/)
    expect(head.replace(/\s+/g, ' ')).toMatchSnapshot()
  })

  it('names the right that is missing, what stays unknown, and what to paste: exit 3', async () => {
    const access = { [labPrincipal]: auditorRights.filter(right => right !== 'get nodes/proxy') }
    const { environment } = await labOf([world({ access })])
    const { code, stdout } = await runCommand(['doctor'], { env: environment })
    expect(code).toBe(3)
    const [head = '', roles = ''] = stdout.split(
      /for the\s+members\s+of\s+the\s+group\s+highwater\n/,
    )
    expect(head.replace(/\s+/g, ' ')).toMatch(
      /^recorded \(mode proxy\): not everything can be read missing get nodes\/proxy: not granted to this identity unknown without it: the running configuration of each kubelet/,
    )
    const [role, binding] = parseAllDocuments(roles).map(document => document.toJS())
    expect(role).toMatchObject({
      kind: 'ClusterRole',
      rules: expect.arrayContaining([
        { apiGroups: [''], resources: ['nodes/proxy'], verbs: ['get'] },
      ]),
    })
    expect(binding).toMatchObject({
      kind: 'ClusterRoleBinding',
      subjects: [{ kind: 'Group', name: 'highwater' }],
    })
  })

  it('enters another account as whoever would change nodes there only where that is asked', async () => {
    const reader = 'arn:aws:iam::444455556666:role/highwater'
    const file = join(temporaryFolder(), 'highwater.yaml')
    writeFileSync(
      file,
      `accounts: [{ roleArn: null }, { roleArn: '${reader}', remediateRoleArn: '${reader}-remediate', externalId: agreed-4711 }]\n`,
    )
    const { environment } = await labOf([recorded])
    const asked = async (...more: string[]) =>
      (
        await runCommand(['doctor', '--policy', file, ...more], { env: environment })
      ).stdout.replace(/\s+/g, ' ')
    const reading = await asked()
    expect(reading).not.toContain('-remediate')
    expect(reading).toContain('RoleName=highwater ')
    const changing = await asked('--remediate')
    expect(changing).toContain(`${reader}-remediate, made in account 444455556666`)
    expect(changing).toContain('RemediateRoleArn=')
    expect(changing).toContain('RoleName=highwater ')
  })

  it('prints one document with --format json', async () => {
    const { environment } = await labOf([recorded])
    const { code, stdout } = await runCommand(['doctor', '--format', 'json'], { env: environment })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'highwater.doctor/1',
      clusters: [{ cluster: 'recorded', mode: 'proxy', state: 'ok', fixes: [] }],
    })
  })

  it('reaches nothing: exit 4, with the reason', async () => {
    const { environment } = await labOf([world({ faults: { endpoint: 'closed-port' } })])
    const { code, stdout } = await runCommand(['doctor'], { env: environment })
    expect(code).toBe(4)
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /it cannot be reached failed endpoint: 127\.0\.0\.1:1 refused the connection/,
    )
  })

  it('is asked for nonsense: exit 2', async () => {
    expect((await runCommand(['doctor', '--mode', 'telepathy'])).code).toBe(2)
    const { environment } = await labOf([recorded])
    expect(await runCommand(['doctor', '--cluster', 'none'], { env: environment })).toMatchObject({
      code: 2,
      stdout: '',
    })
  })
})

describe('highwater permissions', () => {
  it('prints a policy for the account and the clusters', async () => {
    const { code, stdout } = await runCommand([
      'permissions',
      '--mode',
      'ssm',
      '--format',
      'json',
      '--account',
      '444455556666',
      '--cluster',
      'prod',
    ])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).Statement).toContainEqual({
      Effect: 'Allow',
      Action: ['ssm:SendCommand'],
      Resource: 'arn:aws:ec2:*:444455556666:instance/*',
      Condition: { StringEquals: { 'ssm:resourceTag/aws:eks:cluster-name': 'prod' } },
    })
  })

  it('prints who may read long answers, and who may write them', { timeout: 30_000 }, async () => {
    const asked = ['permissions', '--mode', 'both', '--inspect-output', 's3://answers/nodes']
    const json = await runCommand([...asked, '--format', 'json', '--account', '111122223333'])
    const markdown = await runCommand(asked)
    const none = await runCommand(asked.slice(0, 3))
    const wrong = await runCommand(['permissions', '--inspect-output', 'answers'])
    expect(JSON.parse(json.stdout).Statement).toContainEqual({
      Effect: 'Allow',
      Action: ['s3:GetObject'],
      Resource: 'arn:aws:s3:::answers/nodes/*',
    })
    expect(markdown.stdout).toMatch(
      /instances' own roles[\s\S]*s3:PutObject[\s\S]*s3:GetEncryptionConfiguration/,
    )
    expect(none.stdout).not.toContain('s3:')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('s3://BUCKET') })
  })

  it('prints roles that kubectl takes, and both in Markdown', async () => {
    const printed = (format: string) =>
      runCommand(['permissions', '--mode', 'kubelet', '--format', format])
    const yaml = await printed('yaml')
    const markdown = await printed('markdown')
    const names = parseAllDocuments(yaml.stdout).map(document => document.toJS().metadata.name)
    expect(names).toEqual(['highwater', 'highwater', 'highwater-kubelet', 'highwater-kubelet'])
    expect(parse(/AWS::EKS::AccessEntry/.exec(markdown.stdout)?.[0] ?? '')).toBe(
      'AWS::EKS::AccessEntry',
    )
  })

  it('takes no account that is none', async () => {
    expect(await runCommand(['permissions', '--account', 'me'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('twelve digits'),
    })
  })
})
