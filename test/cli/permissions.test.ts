/** `highwater permissions --format shell`: the script that lets the role into clusters, run with programs that only note what they were asked. */
import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { kubernetesRights } from '#pipeline/access/permissions.ts'
import { rolesOf } from '#pipeline/access/permissions-document.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { lintTemplate } from '#test/packaged.ts'
import { instantiate, ofType, parseTemplate } from '#test/template.ts'

const run = promisify(execFile)
const role = 'arn:aws:iam::111122223333:role/highwater-prod-AuditRole-A1'
const shell = (...more: string[]) => inProcess(['permissions', '--format', 'shell', '--account', '111122223333', ...more])

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
  const { stdout } = await shell('--mode', 'kubelet', '--cluster', 'prod', '--cluster', 'stage', '--role-arn', role)
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
  const rights = (identity: 'reader' | 'kubelet') => kubernetesRights('kubelet', identity).map(({ right }) => right)
  const expected = [...rolesOf('highwater', rights('reader')), ...rolesOf('highwater-kubelet', rights('kubelet'))].join('---\n')
  const objects = (text: string) => parseAllDocuments(text).map(document => document.toJS())
  expect(objects(applied)).toEqual(objects(expected))
})

it('is run again without harm: for the same role, for another one, and where an entry has groups of its own', async () => {
  const way = ['--mode', 'kubelet', '--cluster', 'prod', '--role-arn']
  const { noted, forget, entry, runs } = programs()
  const { stdout } = await shell(...way, role)
  const changes = () => noted().match(/^aws eks (?!update-kubeconfig).*/gm) ?? []
  await runs(stdout)
  forget()
  await runs(stdout)
  expect(changes()).toEqual([])
  const other = 'arn:aws:iam::111122223333:role/highwater-shards'
  await runs((await shell(...way, other)).stdout)
  expect(changes()).toEqual([`aws eks create-access-entry --cluster-name prod --principal-arn ${other} --kubernetes-groups highwater`])
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

it.each(['json', 'shell', 'markdown', 'cloudformation'])('names the role that kubelets see as the policy does, as %s', async format => {
  const policy = join(temporaryFolder(), 'highwater.yaml')
  const kubelet = 'arn:aws:iam::444455556666:role/seen-by-kubelets'
  writeFileSync(policy, `kubelet: { roleArn: '${kubelet}' }\n`)
  const way = ['permissions', '--format', format, '--mode', 'kubelet', '--cluster', 'prod', '--role-arn', role, '--policy', policy]
  const { code, stdout } = await inProcess(way)
  expect({ code, isNamed: stdout.includes(kubelet), isGuessed: stdout.includes('role/highwater-kubelet') }).toEqual({
    ...{ code: 0, isNamed: true, isGuessed: false },
  })
})

it.each([
  [[], '--cluster'],
  [['--cluster', 'prod-*'], '--cluster'],
  [['--cluster', 'prod; rm -rf /'], 'EKS cluster name'],
  [['--cluster', 'prod', '--role-arn', '$(id)'], "role's ARN"],
])('wants to know which cluster, and takes no name or role that is none: %j', async (more, said) => {
  expect(await shell(...more)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
})

it('prints the same access entries as a template, where the role is there already', async context => {
  const way = ['permissions', '--format', 'cloudformation', '--mode', 'kubelet', '--role-arn', role]
  const { stdout } = await inProcess([...way, '--cluster', 'prod', '--cluster', 'stage'])
  const entry = (ClusterName: string, PrincipalArn: string, group: string) => ({ ClusterName, PrincipalArn, KubernetesGroups: [group] })
  const kubelet = 'arn:aws:iam::111122223333:role/highwater-kubelet'
  expect(ofType(instantiate(parseTemplate(stdout)), 'AWS::EKS::AccessEntry').map(({ Properties }) => Properties)).toEqual(
    ['prod', 'stage'].flatMap(cluster => [entry(cluster, role, 'highwater'), entry(cluster, kubelet, 'highwater-kubelet')]),
  )
  expect(await inProcess(way)).toMatchObject({ code: 2, stderr: expect.stringContaining('--cluster') })
  const file = join(temporaryFolder(), 'access.yaml')
  writeFileSync(file, stdout)
  await lintTemplate(file, context)
}, 120_000)

it('prints what makes the role that kubelets see: nothing but a trust, in whoever reads', async () => {
  const policy = join(temporaryFolder(), 'highwater.yaml')
  writeFileSync(policy, 'kubelet: { roleArn: "arn:aws:iam::111122223333:role/audits/seen" }\n')
  const { stdout } = await inProcess(['permissions', '--mode', 'kubelet', '--role-arn', role, '--policy', policy])
  const [, trust = ''] = /^aws iam create-role --role-name seen --path \/audits\/ --assume-role-policy-document '(.*)'$/m.exec(stdout) ?? []
  expect(JSON.parse(trust)).toEqual({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { AWS: role }, Action: 'sts:AssumeRole' }],
  })
  expect(stdout).not.toContain('put-role-policy')
  for (const mode of ['proxy', 'ssm', 'both'])
    expect((await inProcess(['permissions', '--mode', mode])).stdout).not.toContain('create-role')
})
