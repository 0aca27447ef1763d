import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { DeclaredNode } from '#judge/drift/drift.ts'
import { diskSourceOf } from '#judge/fixes/disk-source.ts'
import { stepsOf } from '#judge/fixes/steps.ts'
import type { ClusterContext } from '#judge/subject/node-subject.ts'
import type { StepAction } from '#model/finding.ts'

const node = {
  owner: 'karpenter' as const,
  group: 'workers',
  amiFamily: 'AL2023' as const,
  kubeletVersion: 'v1.34.2',
  template: { id: null, version: null },
  nodeClass: { name: 'default', hash: null, hashVersion: null },
}

const context = (more: Partial<ClusterContext> = {}): ClusterContext => ({
  ...{ eks: null, nodegroups: null, launchTemplates: null, objects: () => null },
  ...{ why: () => '', failed: () => null, ...more },
})

const ofClass = (deviceName: string) =>
  context({
    objects: (() => [
      {
        metadata: { name: 'default' },
        spec: {
          blockDeviceMappings: [
            { deviceName: '/dev/xvdc', ebs: { volumeSize: '9Gi' } },
            { deviceName, ebs: { volumeSize: '20Gi' } },
          ],
        },
      },
    ]) as ClusterContext['objects'],
  })

it.each([
  { of: 'a device that it maps', read: ofClass('/dev/xvda'), index: 1 },
  { of: 'another device', read: ofClass('/dev/xvdb'), index: undefined },
  { of: 'no class that was read', read: context(), index: undefined },
])('is the EC2NodeClass, with its mapping: $of', ({ read, index }) => {
  const source = diskSourceOf(node, '/dev/xvda', read)
  expect(source?.name).toBe('EC2NodeClass default')
  expect(source?.mapping?.index).toBe(index)
})

it.each([
  [
    { name: 'nodes', version: '3' },
    'a new version of launch template nodes (with all of its mappings: encryption, KMS key, type, IOPS, throughput)',
  ],
  [undefined, 'a new nodegroup in place of workers (its diskSize cannot be changed)'],
  [
    { name: 'eksctl-prod-workers', id: 'lt-0d', version: '1' },
    'a new nodegroup in place of workers (volumeSize of the eksctl ClusterConfig)',
  ],
])('is the launch template %j of a nodegroup, or a new nodegroup', (launchTemplate, name) => {
  const nodegroups = [{ nodegroupName: 'workers', launchTemplate }]
  const managed = { ...node, owner: 'managed-nodegroup' as const }
  expect(diskSourceOf(managed, '/dev/xvda', context({ nodegroups }))).toEqual({ name })
})

it('is the nodegroup if it was not read, with or without a launch template', () => {
  const managed = { ...node, owner: 'managed-nodegroup' as const }
  expect(diskSourceOf(managed, '/dev/xvda', context())?.name).toMatch(
    /its launch template, or a new one/,
  )
})

const stepOf = (action: StepAction, read: ClusterContext, declared: DeclaredNode = node) =>
  stepsOf(
    {
      subject: {
        kind: declared.owner === 'karpenter' ? 'NodePool' : 'Nodegroup',
        namespace: null,
        name: 'workers',
      },
      fix: { config: {}, durable: [] },
      nodes: { count: 1, sample: ['node-a'] },
    },
    [action],
    {
      ...{ cluster: 'prod', commands: [] },
      place: { name: 'prod', context: 'prod', region: null },
      node: {
        ...{ name: 'node-a', instanceId: 'i-1', owner: declared.owner },
        ...{ hasSessions: true, shell: 'session' as const },
      },
      diskSource: device => diskSourceOf(declared, device, read),
    },
  )[0]

const size = { place: '/dev/xvda', bytes: 40 * 2 ** 30 }

it.each([
  [{ id: 'lt-0d', version: '3' }, /BlockDeviceMappings' --versions 3 --launch-template-id lt-0d$/],
  [undefined, /describe-nodegroup .*--nodegroup-name workers$/],
])('shows what declares the volumes of a nodegroup: %j', (launchTemplate, command) => {
  const read = context({ nodegroups: [{ nodegroupName: 'workers', launchTemplate }] })
  const managed = { ...node, owner: 'managed-nodegroup' as const }
  const commands = stepOf({ id: 'larger-disk', ...size }, read, managed)?.commands ?? []
  const [shown] = commands
  // A command that writes a version could drop the encryption of the volumes.
  expect(commands).toHaveLength(1)
  expect(shown?.effect).toBe('reads')
  expect(shown?.command).toMatch(command)
})

it('writes the largest size of all nodes, if the mapping is still that of the device', () => {
  const step = stepOf(
    { id: 'larger-disk', ...size, most: { bytes: 60 * 2 ** 30 } },
    ofClass('/dev/xvda'),
  )
  expect(step?.action.source).toBe('EC2NodeClass default')
  const [command] = step?.commands ?? []
  expect(command?.effect).toBe('replaces')
  expect(command?.command).toContain('/spec/blockDeviceMappings/1/deviceName')
  expect(command?.command).toContain('60Gi')
})

describe('of a class whose only mapping is of another device', () => {
  const other = context({
    objects: (() => [
      {
        metadata: { name: 'default' },
        spec: { blockDeviceMappings: [{ deviceName: '/dev/xvdb', ebs: { volumeSize: '40Gi' } }] },
      },
    ]) as ClusterContext['objects'],
  })

  it('gives its size to the right device', () => {
    const { action, commands } = stepOf({ id: 'map-volume', ...size }, other) ?? {}
    expect(action).toMatchObject({ source: 'EC2NodeClass default', rollsOut: true })
    expect(commands?.map(({ command }) => command)).toEqual([
      `kubectl --context prod patch ec2nodeclasses.karpenter.k8s.aws default --type=json '--patch=${JSON.stringify(
        [
          { op: 'test', path: '/spec/blockDeviceMappings/0/deviceName', value: '/dev/xvdb' },
          { op: 'replace', path: '/spec/blockDeviceMappings/0/deviceName', value: '/dev/xvda' },
        ],
      )}'`,
    ])
  })

  it('changes no size of another device, and no device of several', () => {
    const larger = stepOf({ id: 'larger-disk', ...size }, other)
    const several = stepOf({ id: 'map-volume', ...size }, ofClass('/dev/xvdb'))
    const effects = [larger, several].map(step => step?.commands.map(({ effect }) => effect))
    expect(effects).toEqual([['reads'], []])
  })
})

it.each([
  ['karpenter', ofClass('/dev/xvda'), 'EC2NodeClass default', [/patch .* default --type=merge/]],
  ['managed-nodegroup', context({ nodegroups: [{ nodegroupName: 'workers' }] }), 'a new', []],
] as const)('has the instance store used by nodes of %s', (owner, read, source, commands) => {
  const step = stepOf({ id: 'use-instance-store' }, read, { ...node, owner })
  expect(step?.action.source).toContain(source)
  expect(step?.action.rollsOut).toBe(owner === 'karpenter' ? true : undefined)
  expect(step?.commands.map(({ command }) => command)).toEqual(
    commands.map(one => expect.stringMatching(one)),
  )
})

it('empties a log that is a file, and follows no link in its place or above it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-'))
  const logs = join(folder, 'logs')
  const paths = ['logs/a', "logs/a/app's.log", 'secret', 'secret/x.log', 'logs/link.log', 'logs/b']
  const [app, log, others, secret, link, above] = paths.map(name => join(folder, name))
  for (const path of [app!, others!]) mkdirSync(path, { recursive: true })
  for (const path of [log!, secret!]) writeFileSync(path, 'text')
  symlinkSync(secret!, link!)
  symlinkSync(others!, above!)
  for (const written of [log!, link!, join(above!, 'x.log'), join(app!, '../b/x.log')]) {
    const place = written.replace(logs, '/var/log')
    const [shown] = stepOf({ id: 'empty-log', place, variant: 'writer' }, context())!.commands
    expect(shown?.effect).toBe('changes')
    const [, parameters = ''] = /--parameters (.+)$/.exec(shown?.command ?? '') ?? []
    const words = execFileSync('sh', ['-c', `printf %s ${parameters}`], { encoding: 'utf8' })
    const command: string = JSON.parse(words).command[0]
    execFileSync('sh', ['-c', command.replace('sudo ', '').replaceAll('/var/log', logs)])
  }
  expect([log, secret].map(path => readFileSync(path!, 'utf8'))).toEqual(['', 'text'])
})

it.each(['/var/log/*.log', '/var/log/a[b].log', '/etc/app.log', '/home/a/x.log'])(
  'empties no log at %s',
  place => {
    const [shown] = stepOf({ id: 'empty-log', place, variant: 'writer' }, context())!.commands
    expect(shown?.effect).toBe('reads')
  },
)

it('gives no path to a program that reads it as an option', () => {
  const place = '--files0-from=/root/.ssh/id_rsa'
  expect(stepOf({ id: 'look-on-node', place }, context())!.commands).toEqual([])
})

it('lists a file whose name has lines of its own as one row', () => {
  const folder = mkdtempSync(join(tmpdir(), 'highwater-'))
  writeFileSync(join(folder, 'a\n900G\t\u001b[2Jb'), 'text')
  const [shown] = stepOf({ id: 'look-on-node', place: folder }, context())!.commands
  const [, parameters = ''] = /--parameters (.+)$/.exec(shown?.command ?? '') ?? []
  const words = execFileSync('sh', ['-c', `printf %s ${parameters}`], { encoding: 'utf8' })
  const command: string = JSON.parse(words).command[0]
  const rows = execFileSync('sh', ['-c', command.replace('sudo ', '')], { encoding: 'utf8' })
  expect(rows.trimEnd().split('\n')).toHaveLength(2)
  expect(rows).not.toContain('\u001b')
})
