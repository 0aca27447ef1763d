/** `highwater permissions --format shell`: the script that lets the role into clusters, run with programs that only note what they were asked. */
import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { rolesOf } from '#pipeline/access/grants.ts'
import { kubernetesRights } from '#pipeline/access/permissions.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { lintTemplate } from '#test/packaged.ts'
import { instantiate, ofType, parseTemplate } from '#test/template.ts'

const run = promisify(execFile)
const role = 'arn:aws:iam::111122223333:role/highwater-prod-AuditRole-A1'
const shell = (...more: string[]) =>
  inProcess(['permissions', '--format', 'shell', '--account', '111122223333', ...more])

/** A policy by which kubelets see the token of a role, or of the reader itself. */
function seenBy(kubelet: string): string {
  const file = join(temporaryFolder(), 'highwater.yaml')
  writeFileSync(file, `kubelet: ${kubelet}\n`)
  return file
}
const seenRole = 'arn:aws:iam::111122223333:role/highwater-kubelet'
const seen = () => seenBy(`{ roleArn: '${seenRole}' }`)

/** Of access entries as EKS has them: one is made once, told of when it is there, and replaced whole. */
const eks = `
entry="$0.entry-$4-$(basename "$6")"
case "$2" in
  create-access-entry) if [ -e "$entry" ]; then echo ResourceInUseException >&2; exit 254; fi ;;
  describe-access-entry) if [ -e "$entry" ]; then cat "$entry"; exit; else echo ResourceNotFoundException >&2; exit 254; fi ;;
  update-access-entry) [ -e "$entry" ] || exit 254 ;;
  *) exit ;;
esac
shift 7
echo "$*" | tr ' ' '\\t' > "$entry"`

/** Programs that append what they were called with, and what they read, to a file. */
function programs() {
  const bin = temporaryFolder()
  const notes = join(bin, 'notes')
  for (const [name, reads] of [
    ['aws', eks],
    ['kubectl', 'cat >> "$0.stdin"; echo ---- >> "$0.stdin"'],
  ]) {
    writeFileSync(join(bin, name as string), `#!/bin/sh\necho "${name} $*" >> ${notes}\n${reads}\n`)
    chmodSync(join(bin, name as string), 0o755)
  }
  return {
    bin,
    /** Without what only asks. */
    noted: () =>
      readFileSync(notes, 'utf8')
        .replace(/\/tmp\/\S+/g, 'FILE')
        .replace(/^aws eks describe-.*\n/gm, ''),
    forget: () => writeFileSync(notes, ''),
    entry: (cluster: string, name: string) => join(bin, `aws.entry-${cluster}-${name}`),
    async runs(text: string) {
      const script = join(temporaryFolder(), 'access.sh')
      writeFileSync(script, text)
      await run('sh', [script], { env: { PATH: `${bin}:/usr/bin:/bin` } })
    },
  }
}

it('lets the role into each cluster and gives it the mode’s rights there, and touches no kubeconfig of yours', async () => {
  const { stdout } = await shell(
    '--mode',
    'kubelet',
    '--policy',
    seen(),
    '--cluster',
    'prod',
    '--cluster',
    'stage',
    '--role-arn',
    role,
  )
  const { bin, noted, runs } = programs()
  await runs(stdout)
  const of = (cluster: string) => [
    `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${role} --kubernetes-groups highwater`,
    `aws eks create-access-entry --cluster-name ${cluster} --principal-arn arn:aws:iam::111122223333:role/highwater-kubelet --kubernetes-groups highwater-kubelet`,
    `aws eks update-kubeconfig --name ${cluster} --alias ${cluster} --kubeconfig FILE`,
    `kubectl --kubeconfig FILE --context ${cluster} apply -f -`,
  ]
  expect(noted().trim().split('\n')).toEqual([...of('prod'), ...of('stage')])
  const [applied = ''] = readFileSync(join(bin, 'kubectl.stdin'), 'utf8').split('----\n')
  const rights = (identity: 'reader' | 'kubelet') =>
    kubernetesRights('kubelet', identity).map(({ right }) => right)
  const expected = [
    ...rolesOf('highwater', rights('reader')),
    ...rolesOf('highwater-kubelet', rights('kubelet')),
  ].join('---\n')
  const objects = (text: string) => parseAllDocuments(text).map(document => document.toJS())
  expect(objects(applied)).toEqual(objects(expected))
})

it('is run again without harm: for the same role, for another one, and where an entry has groups of its own', async () => {
  const way = ['--mode', 'kubelet', '--policy', seen(), '--cluster', 'prod', '--role-arn']
  const { noted, forget, entry, runs } = programs()
  const { stdout } = await shell(...way, role)
  const changes = () => noted().match(/^aws eks (?!update-kubeconfig).*/gm) ?? []
  await runs(stdout)
  forget()
  await runs(stdout)
  expect(changes()).toEqual([])
  const other = 'arn:aws:iam::111122223333:role/highwater-shards'
  await runs((await shell(...way, other)).stdout)
  expect(changes()).toEqual([
    `aws eks create-access-entry --cluster-name prod --principal-arn ${other} --kubernetes-groups highwater`,
  ])
  for (const [groups, kept] of [
    ['viewers\tauditors', 'viewers auditors '],
    ['highwater-kubelet', 'highwater-kubelet '],
    ['None', ''],
    ['', ''],
  ] as const) {
    writeFileSync(entry('prod', 'highwater-shards'), `${groups}\n`)
    forget()
    await runs((await shell(...way, other)).stdout)
    expect(changes()).toEqual([
      `aws eks update-access-entry --cluster-name prod --principal-arn ${other} --kubernetes-groups ${kept}highwater`,
    ])
  }
})

it.each(['json', 'shell', 'markdown', 'cloudformation'])(
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
    expect(await shell(...more)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
  },
)

it('prints the same access entries as a template, where the role is there already', async context => {
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
  const file = join(temporaryFolder(), 'access.yaml')
  writeFileSync(file, stdout)
  await lintTemplate(file, context)
}, 120_000)

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

  it.each(['json', 'shell', 'cloudformation'])(
    'names no role that kubelets see where nobody did, ready to apply as %s',
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
        'nobody said whose. Set kubelet.roleArn in the policy',
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

  it.each([['json'], ['shell', '--cluster', 'c1']])('guesses no account: %j', async (...more) => {
    expect(await asked('--format', ...more)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/--account[\s\S]*--role-arn/),
    })
  })

  it('shows a word in its place where nobody applies it as it is', async () => {
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
    const { entry, runs } = programs()
    await runs((await asked('--format', 'shell', ...own)).stdout)
    expect(readFileSync(entry('prod', 'highwater-prod-AuditRole-A1'), 'utf8').trim()).toBe(
      'highwater\thighwater-kubelet',
    )
    expect((await asked('--format', 'json', ...own)).stdout).not.toContain('sts:AssumeRole')
    expect((await asked(...own)).stdout).not.toContain('create-role')
  })
})
