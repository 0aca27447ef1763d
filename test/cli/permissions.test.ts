/** `highwater permissions`: which roles, clusters and accounts it names. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { instantiate, ofType, parseTemplate } from '#test/template.ts'

const role = 'arn:aws:iam::111122223333:role/highwater-prod-AuditRole-A1'
const entries = (...more: string[]) =>
  inProcess(['permissions', '--format', 'cloudformation', '--role-arn', role, ...more])

/** A policy by which kubelets see the token of a role, or of the reader itself. */
function seenBy(kubelet: string): string {
  const file = join(temporaryFolder(), 'highwater.yaml')
  writeFileSync(file, `kubelet: ${kubelet}\n`)
  return file
}
const seenRole = 'arn:aws:iam::111122223333:role/highwater-kubelet'
const seen = () => seenBy(`{ roleArn: '${seenRole}' }`)

it.each(['json', 'markdown', 'cloudformation'])(
  'names the role that kubelets see as the policy does, as %s',
  async format => {
    const kubelet = 'arn:aws:iam::444455556666:role/seen-by-kubelets'
    const policy = seenBy(`{ roleArn: '${kubelet}' }`)
    const way = [
      'permissions',
      '--format',
      format,
      '--mode',
      'kubelet',
      '--cluster',
      'prod',
      '--role-arn',
      role,
      '--policy',
      policy,
    ]
    const { code, stdout } = await inProcess(way)
    expect({
      code,
      isNamed: stdout.includes(kubelet),
      isGuessed: stdout.includes('role/highwater-kubelet'),
    }).toEqual({ ...{ code: 0, isNamed: true, isGuessed: false } })
  },
)

it.each([
  [[], '--cluster'],
  [['--cluster', 'prod-*'], '--cluster'],
  [['--cluster', 'prod; rm -rf /'], 'EKS cluster name'],
  [['--cluster', 'prod', '--role-arn', '$(id)'], "role's ARN"],
])(
  'wants to know which cluster, and takes no name or role that is none: %j',
  async (more, said) => {
    expect(await entries(...more)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
  },
)

it('prints the same access entries as a template, where the role is there already', async () => {
  const way = [
    'permissions',
    '--format',
    'cloudformation',
    '--mode',
    'kubelet',
    '--policy',
    seen(),
    '--role-arn',
    role,
  ]
  const { stdout } = await inProcess([...way, '--cluster', 'prod', '--cluster', 'stage'])
  const entry = (ClusterName: string, PrincipalArn: string, group: string) => ({
    ClusterName,
    PrincipalArn,
    KubernetesGroups: [group],
  })
  expect(
    ofType(instantiate(parseTemplate(stdout)), 'AWS::EKS::AccessEntry').map(
      ({ Properties }) => Properties,
    ),
  ).toEqual(
    ['prod', 'stage'].flatMap(cluster => [
      entry(cluster, role, 'highwater'),
      entry(cluster, seenRole, 'highwater-kubelet'),
    ]),
  )
  expect(await inProcess(way)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--cluster'),
  })
})

it('prints what makes the role that kubelets see: nothing but a trust, in whoever reads', async () => {
  const policy = seenBy('{ roleArn: "arn:aws:iam::111122223333:role/audits/seen" }')
  const { stdout } = await inProcess([
    'permissions',
    '--mode',
    'kubelet',
    '--role-arn',
    role,
    '--policy',
    policy,
  ])
  const [, trust = ''] =
    /^aws iam create-role --role-name seen --path \/audits\/ --assume-role-policy-document '(.*)'$/m.exec(
      stdout,
    ) ?? []
  expect(JSON.parse(trust)).toEqual({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { AWS: role }, Action: 'sts:AssumeRole' }],
  })
  expect(stdout).not.toContain('put-role-policy')
  for (const mode of ['proxy', 'ssm', 'both'])
    expect((await inProcess(['permissions', '--mode', mode])).stdout).not.toContain('create-role')
})

describe('whom it is for', () => {
  const elsewhere = 'arn:aws-cn:iam::999922223333:role/audits/r'
  const asked = (...more: string[]) => inProcess(['permissions', ...more])

  it.each(['json', 'cloudformation'])(
    'names no role that kubelets see without the option, ready to apply as %s',
    async format => {
      const { code, stdout, stderr } = await asked(
        '--mode',
        'kubelet',
        '--format',
        format,
        '--role-arn',
        elsewhere,
        '--cluster',
        'c1',
      )
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr.replace(/\s+/g, ' ')).toContain(
        'none is configured. Set kubelet.roleArn in the policy',
      )
    },
  )

  it('shows how to make one beside the role that reads', async () => {
    const { stdout } = await asked('--mode', 'kubelet', '--role-arn', elsewhere)
    expect(stdout).toContain('aws iam create-role --role-name highwater-kubelet ')
    expect(stdout).toContain('--principal-arn arn:aws-cn:iam::999922223333:role/highwater-kubelet ')
  })

  it.each(['json', 'markdown'])(
    'takes account and partition from the role, as %s',
    async format => {
      const { stdout } = await asked('--format', format, '--mode', 'both', '--role-arn', elsewhere)
      expect(stdout).toContain('arn:aws-cn:eks:*:999922223333:cluster/*')
      expect(stdout).not.toMatch(/111122223333|arn:aws:/)
    },
  )

  it('takes the account of the clusters, where that is another one', async () => {
    const { stdout } = await asked(
      '--format',
      'json',
      '--role-arn',
      elsewhere,
      '--account',
      '444455556666',
    )
    expect(stdout).toContain('arn:aws-cn:eks:*:444455556666:cluster/*')
  })

  it('guesses no account', async () => {
    expect(await asked('--format', 'json')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/--account[\s\S]*--role-arn/),
    })
  })

  it('shows a placeholder where the text is not applied as it is', async () => {
    const { code, stdout } = await asked('--mode', 'kubelet')
    expect(code).toBe(0)
    expect(stdout).toContain('arn:aws:eks:*:ACCOUNT:cluster/*')
    expect(stdout).not.toMatch(/\d{12}/)
  })

  it('lets the reader into both groups by one entry, where its own token may be seen, and makes no other role', async () => {
    const own = [
      '--mode',
      'kubelet',
      '--policy',
      seenBy('{ useOwnToken: true }'),
      '--role-arn',
      role,
      '--cluster',
      'prod',
    ]
    const template = await asked('--format', 'cloudformation', ...own)
    expect(
      ofType(instantiate(parseTemplate(template.stdout)), 'AWS::EKS::AccessEntry').map(
        ({ Properties }) => Properties,
      ),
    ).toEqual([
      {
        ClusterName: 'prod',
        PrincipalArn: role,
        KubernetesGroups: ['highwater', 'highwater-kubelet'],
      },
    ])
    expect((await asked('--format', 'json', ...own)).stdout).not.toContain('sts:AssumeRole')
    expect((await asked(...own)).stdout).not.toContain('create-role')
  })
})
