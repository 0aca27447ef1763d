/** `highwater permissions --format shell`: the script that lets the role into clusters, run with programs that only note what they were asked. */
import { execFile } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { kubernetesRights } from '#pipeline/permissions.ts'
import { rolesOf } from '#pipeline/permissions-document.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { lintTemplate } from '#test/packaged.ts'
import { instantiate, ofType, parseTemplate } from '#test/template.ts'

const run = promisify(execFile)
const role = 'arn:aws:iam::111122223333:role/highwater-prod-AuditRole-A1'
const shell = (...more: string[]) => inProcess(['permissions', '--format', 'shell', '--account', '111122223333', ...more])

/** Programs that append what they were called with, and what they read, to a file. */
function programs(): { bin: string; noted: () => string } {
  const bin = temporaryFolder()
  const notes = join(bin, 'notes')
  for (const [name, reads] of [
    ['aws', ''],
    ['kubectl', 'cat >> "$0.stdin"; echo ---- >> "$0.stdin"'],
  ]) {
    writeFileSync(join(bin, name as string), `#!/bin/sh\necho "${name} $*" >> ${notes}\n${reads}\n`)
    chmodSync(join(bin, name as string), 0o755)
  }
  return { bin, noted: () => readFileSync(notes, 'utf8').replace(/\/tmp\/\S+/g, 'FILE') }
}

it('lets the role into each cluster and gives it the mode’s rights there, and touches no kubeconfig of yours', async () => {
  const { stdout } = await shell('--mode', 'kubelet', '--cluster', 'prod', '--cluster', 'stage', '--role-arn', role)
  const { bin, noted } = programs()
  const script = join(temporaryFolder(), 'access.sh')
  writeFileSync(script, stdout)
  await run('sh', [script], { env: { PATH: `${bin}:/usr/bin:/bin` } })
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
