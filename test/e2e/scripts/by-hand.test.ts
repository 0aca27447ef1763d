/** `highwater script`, from a snapshot to the very node: the plan is made, its scripts are written, and run on pretend nodes by every shell that is here. */

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Plan } from '#model/plan.ts'
import { canonicalJson } from '#remediate/plan/canonical.ts'
import { parsePlan, planText } from '#remediate/plan/file.ts'
import { digestOf } from '#remediate/plan/plan.ts'
import { ChangedNode, type Faults } from '#test/changed-node.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { type NodeRoot, type Platform, platforms, scriptNamed, which } from '#test/node-root.ts'
import { al2, al2023, bottlerocket } from '#test/node-roots.ts'
import {
  type Family,
  type FleetNode,
  fleetNode,
  idleImage,
  indentOf,
  mainFile,
  pathOf,
  snapshotOf,
} from '#test/plan-fleet.ts'

const generous = { timeout: 60_000 }
const here = platforms()
const first = here[0] as Platform
const assetTag = '/sys/devices/virtual/dmi/id/board_asset_tag'
const hostname = '/proc/sys/kernel/hostname'
const kubeletProcess = '/proc/900/cmdline'
const lastJson = (text: string): string => `${text.trim().split('\n').at(-1)}`
/** As the pretend nodes are called. */
const self = 'ip-10-0-0-1.eu-west-1.compute.internal'
const gc = ['--set', 'imageGCHighThresholdPercent=70', '--set', 'imageGCLowThresholdPercent=50']

async function planned(nodes: FleetNode[]) {
  const folder = temporaryFolder()
  const file = join(folder, 'plan.json')
  const policy = join(folder, 'highwater.yaml')
  writeFileSync(policy, '{}')
  const args = [
    'plan',
    '--snapshot',
    snapshotOf(nodes.map(fleetNode)),
    '--policy',
    policy,
    '--out',
    file,
    ...gc,
  ]
  expect(await inProcess(args)).toMatchObject({ code: 0, stderr: '' })
  return { folder, file, plan: parsePlan(readFileSync(file, 'utf8'), file) }
}

async function scripted(nodes: FleetNode[]) {
  const { folder, file, plan } = await planned(nodes)
  const out = join(folder, 'scripts')
  const run = await inProcess(['script', file, '--out', out])
  const names = readdirSync(out)
  return {
    plan,
    file,
    run,
    names,
    scripts: names.map(name => readFileSync(join(out, name), 'utf8')),
  }
}

const fileText = (family: Family) => `${JSON.stringify(mainFile, null, indentOf(family))}\n`
const rootOf: Record<'AL2' | 'AL2023' | 'Bottlerocket', () => NodeRoot> = {
  AL2: al2,
  AL2023: () => {
    const { files, folders = [], ...node } = al2023()
    const generated = {
      '/run/eks/nodeadm/config.json': '{}',
      '/etc/kubernetes/kubelet/config.json.d/00-nodeadm.conf': '{}',
    }
    return {
      ...node,
      files: { ...files, ...generated },
      folders: [...folders, '/etc/eks/nodeadm.d'],
    }
  },
  Bottlerocket: () => ({ ...bottlerocket(), folders: ['/etc'] }),
}

interface Standing {
  instance?: string | null
  platform?: Platform
  faults?: Faults
  files?: NodeRoot['files']
  tools?: Record<string, string>
}
function standing(
  family: keyof typeof rootOf,
  { instance = null, platform = first, faults = {}, files = {}, tools = {} }: Standing,
): ChangedNode {
  const root = rootOf[family]()
  const told: NodeRoot['files'] =
    family === 'Bottlerocket' ? {} : { [pathOf(family)]: fileText(family) }
  const tag: NodeRoot['files'] =
    instance === null ? { [assetTag]: 'not here\n' } : { [assetTag]: `${instance}\n` }
  const node = new ChangedNode(
    'Highwater-ApplyKubeletConfig',
    { ...root, files: { ...root.files, ...told, ...tag, ...files } },
    platform,
    faults,
  )
  for (const [name, script] of Object.entries(tools)) node.tool(name, script)
  if (family === 'Bottlerocket')
    node.tell(
      'settings.json',
      `${canonicalJson(fleetNode({ family }).host?.bottlerocket).replace(/^\{"kubernetes":(.*),"os":.*$/, '$1')}\n`,
    )
  return node
}

describe('a script of a plan', () => {
  it('is one for each cohort, and the command says what to do with them', async () => {
    const { plan, run, names, scripts, file } = await scripted([
      { name: 'a' },
      { name: 'b' },
      { name: 'c', family: 'AL2' },
    ])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(names).toEqual(plan.cohorts.map(({ id }) => `cohort-prod-workers-${id}.sh`).toSorted())
    expect(run.stdout).toMatch(/: 2 nodes\n/)
    expect(run.stdout).toContain(
      `The first node alone: ${plan.waves[0]?.[0]}. When all are done: highwater verify ${file}`,
    )
    const table = scripts.flatMap(script =>
      [...script.matchAll(/^(i-\w+) (\S+) Highwater-/gm)].map(([, id, node]) => `${id} ${node}`),
    )
    expect(table.toSorted()).toEqual(
      plan.steps.map(({ instanceId, node }) => `${instanceId} ${node}`).toSorted(),
    )
    for (const script of scripts) expect(script).toContain(`# Digest of the plan: ${plan.digest}`)
  })

  it('carries the scripts of the documents, line by line, beside their comments and their full indentation', async () => {
    const { scripts } = await scripted([{ name: 'a' }])
    const [, carried = ''] =
      /cat <<'(?:END_OF_Highwater_ApplyKubeletConfig_\w+)'\n(.*)\nEND_OF_Highwater/s.exec(
        scripts[0] ?? '',
      ) ?? []
    const bare = `${carried}\n`.replace(/^[ \t]*#(?!!).*\n/gm, '').replace(/^[ \t]+|^\n/gm, '')
    expect(bare).toBe(scriptNamed('Highwater-ApplyKubeletConfig'))
    expect(carried).toContain('# Highwater-ApplyKubeletConfig: one file')
  })

  it('passes shellcheck, where it is present', generous, async ({ skip }) => {
    const shellcheck = which('shellcheck')
    if (shellcheck === null) return skip('shellcheck is not installed')
    const { scripts } = await scripted([{ name: 'a' }, { name: 'c', family: 'Bottlerocket' }])
    for (const script of scripts) {
      const { stdout } = spawnSync(shellcheck, ['-s', 'sh', '-S', 'warning', '-'], {
        input: script,
        encoding: 'utf8',
      })
      expect(stdout).toBe('')
    }
  })

  it('holds nothing of the plan that would end a comment', async () => {
    const { plan, scripts } = await scripted([{ name: 'a' }])
    const [cohort] = plan.cohorts
    const body = {
      ...plan,
      cohorts: [{ ...cohort, group: { ...cohort?.group, name: "x\n'; touch /tmp/own #" } }],
    } as Plan
    const digest = digestOf(body)
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'plan.json'), planText({ ...body, digest, id: digest.slice(0, 16) }))
    expect(await inProcess(['script', join(folder, 'plan.json'), '--out', folder])).toMatchObject({
      code: 0,
    })
    const name = readdirSync(folder).find(entry => entry.endsWith('.sh')) ?? ''
    expect(name).toMatch(/^[\w.-]+$/)
    const other = readFileSync(join(folder, name), 'utf8')
    const lines = (text: string) => text.split('\n').filter(line => line.includes("'; touch"))
    expect(lines(other)).toEqual([expect.stringMatching(/^# /)])
    expect(lines(scripts[0] ?? '')).toEqual([])
  })

  it.each([
    ['no plan', '{}', 'is no highwater.plan/1'],
    ['no JSON', 'x', 'is no JSON'],
  ])('is not made of %s', async (_, text, message) => {
    const file = join(temporaryFolder(), 'plan.json')
    writeFileSync(file, text)
    expect(await inProcess(['script', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    })
  })

  it('is not made of thresholds that somebody has to put back, nor where no node is changed', async () => {
    const folder = temporaryFolder()
    const [file, policy] = [join(folder, 'plan.json'), join(folder, 'highwater.yaml')]
    writeFileSync(policy, '{}')
    const images = [
      idleImage('docker.io/library/a:1', 4),
      { ...idleImage('eks/pause:3.10', 0), size: '300000', pinned: true },
    ]
    const host = { ...(fleetNode().host as object), containerd: { sandboxImage: 'eks/pause:3.10' } }
    const node = fleetNode({ available: 28, images, record: { host } })
    const args = [
      'plan',
      '--snapshot',
      snapshotOf([node]),
      '--policy',
      policy,
      '--out',
      file,
      '--prune-images',
      '--to',
    ]
    await inProcess([...args, '65'])
    const refused = expect.stringMatching(/lowers thresholds of 1 kubelets/)
    expect(await inProcess(['script', file])).toMatchObject({ code: 2, stderr: refused })
    expect(await inProcess([...args, '98', '--force'])).toMatchObject({ code: 0 })
    expect(await inProcess(['script', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('changes no node'),
    })
  })
})

describe.each(here)('run by hand, $name', platform => {
  it.each(['AL2', 'AL2023', 'Bottlerocket'] as const)(
    '%s: checked, changed, once, and put back byte for byte',
    generous,
    async family => {
      const { plan, scripts } = await scripted([
        { name: 'ip-10-0-0-2.eu-west-1.compute.internal', family },
        { name: self, family },
      ])
      const step = plan.steps.find(({ node }) => node === self)
      const script = scripts[0] ?? ''
      const node = standing(family, { instance: step?.instanceId ?? '', platform })
      const before = node.everything()
      const settings = node.told('settings.json')

      const checked = await node.byHand(script, ['check'])
      expect(checked).toMatchObject({
        code: 0,
        answer: { outcome: 'ready', instanceId: step?.instanceId, run: plan.id },
      })
      expect(checked.stderr).toContain(
        `${self} (${step?.instanceId}) could be changed; nothing was\n`,
      )
      expect(node.everything()).toEqual(before)

      // As ssh hands it over.
      const applied = await node.byHand(script, ['apply'], true)
      expect(applied).toMatchObject({
        code: 0,
        answer: { outcome: 'applied', presentSha256: step?.newSha256 },
      })
      expect(applied.stderr).toMatch(
        /^\S+ \(i-\w+\) is changed, and well\n {2}steps: .*\n {2}When all nodes are done: highwater verify PLAN/,
      )
      if (family !== 'Bottlerocket') {
        expect(node.read(step?.path ?? '')).toBe(step?.content)
        expect(node.running()).toMatchObject({
          imageGCHighThresholdPercent: 70,
          imageGCLowThresholdPercent: 50,
        })
      } else
        expect(JSON.parse(node.told('settings.json'))).toMatchObject({
          'image-gc-high-threshold-percent': '70',
        })

      expect(await node.byHand(script, ['apply'])).toMatchObject({
        code: 0,
        answer: { outcome: 'unchanged' },
      })
      const back = await node.byHand(script, ['rollback'])
      // apiclient cannot take away what was not set before, and says so.
      if (family !== 'Bottlerocket') {
        expect(back).toMatchObject({
          code: 0,
          answer: { outcome: 'restored' },
          stderr: expect.stringContaining('byte for byte'),
        })
        expect(node.everything()).toEqual(before)
      } else expect(node.told('settings.json')).not.toBe(settings)
    },
  )
})

describe('a script on a node', () => {
  const two = [
    { name: 'ip-10-0-0-1.ec2.internal', family: 'AL2' },
    { name: 'ip-10-0-0-2.ec2.internal', family: 'AL2' },
  ] satisfies FleetNode[]
  const kubeletNamed = (name: string) =>
    `/usr/bin/kubelet\0--config\0/etc/kubernetes/kubelet/kubelet-config.json\0--hostname-override=${name}\0`

  const silent = 'exit 1'

  it('takes back what its kubelet does not bear', generous, async () => {
    const { plan, scripts } = await scripted(two)
    const node = standing('AL2', {
      instance: plan.steps[0]?.instanceId ?? '',
      faults: { sick: true },
    })
    const before = node.everything()
    const sent = await node.byHand(scripts[0] ?? '', ['apply'])
    expect(sent).toMatchObject({
      code: 4,
      answer: { outcome: 'restored' },
      stderr: expect.stringMatching(/before, byte for byte/),
    })
    expect(node.everything()).toEqual(before)
    expect(node.running()).not.toMatchObject({ imageGCHighThresholdPercent: 70 })
  })

  it.each([4, 18, 24])(
    'told to end after %i steps, waits until it is put back',
    generous,
    async count => {
      const { plan, scripts } = await scripted(two)
      const node = standing('AL2', { instance: plan.steps[0]?.instanceId ?? '' })
      const before = node.everything()
      node.endAfter(count, 'TERM')
      const sent = await node.byHand(scripts[0] ?? '', ['apply'])
      expect(sent).toMatchObject({
        answer: {
          outcome: expect.stringMatching(/restored|failed/),
          reason: expect.stringContaining('told to end'),
        },
      })
      expect(sent.stderr).toMatch(/is as it was before|was not changed/)
      expect(node.everything()).toEqual(before)
    },
  )

  it.each<[string, Standing['files'], Record<string, string>, object]>([
    [
      'by what its kubelet is told to be called',
      { [kubeletProcess]: kubeletNamed('ip-10-0-0-2.ec2.internal') },
      {},
      { code: 0 },
    ],
    [
      'by what the machine is called',
      { [hostname]: 'IP-10-0-0-2.ec2.internal\n' },
      {},
      { code: 0 },
    ],
    [
      'not where no node has its name',
      { [hostname]: 'ip-10-0-0-2\n' },
      {},
      { code: 3, stderr: expect.stringMatching(/alone: this machine \(ip-10-0-0-2\)/) },
    ],
    [
      'by the kubelet that systemd runs, whatever else is called so',
      {
        [kubeletProcess]: kubeletNamed('ip-10-0-0-2.ec2.internal'),
        '/proc/901/cmdline': kubeletNamed('ip-10-0-0-1.ec2.internal'),
      },
      {},
      { code: 0, stderr: expect.stringContaining('ip-10-0-0-2.ec2.internal (i-') },
    ],
    [
      'where systemd does not say, not by the kubelet of a pod',
      {
        [kubeletProcess]: kubeletNamed('ip-10-0-0-2.ec2.internal'),
        '/proc/901/cmdline': kubeletNamed('ip-10-0-0-1.ec2.internal'),
        '/proc/901/stat': '901 (kubelet) S 870 901 901 0 -1\n',
        '/proc/902/cmdline': kubeletNamed('ip-10-0-0-1.ec2.internal'),
        '/proc/902/stat': '902 (kubelet) S 1 902 902 0 -1\n',
        '/proc/902/cgroup': '0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-2.scope\n',
      },
      { systemctl: silent },
      { code: 3, stderr: expect.stringContaining('ip-10-0-0-2.ec2.internal (i-') },
    ],
    [
      'where systemd does not say, not where two kubelets run, each of the plan',
      {
        [kubeletProcess]: kubeletNamed('ip-10-0-0-2.ec2.internal'),
        '/proc/901/cmdline': kubeletNamed('ip-10-0-0-1.ec2.internal'),
        '/proc/901/stat': '901 (kubelet) S 1 901 901 0 -1\n',
      },
      { systemctl: silent },
      { code: 3, stderr: expect.stringContaining('could be 2 nodes of plan') },
    ],
    [
      'not as an instance that the plan does not know, whatever its name',
      { [assetTag]: 'i-0ffffffffffffffff\n', [hostname]: 'ip-10-0-0-2.ec2.internal\n' },
      {},
      { code: 3, stderr: expect.stringContaining('(i-0ffffffffffffffff) is no node') },
    ],
  ])('finds itself %s', generous, async (_, files = {}, tools, expected) => {
    const { scripts } = await scripted(two)
    const node = standing('AL2', { files: { [hostname]: 'elsewhere\n', ...files }, tools })
    const before = node.everything()
    expect(await node.byHand(scripts[0] ?? '', ['check'])).toMatchObject(expected)
    expect(node.everything()).toEqual(before)
  })

  it(
    'finds itself by the metadata service, and believes no kubelet of another name',
    generous,
    async () => {
      const { plan, scripts } = await scripted(two)
      const [one] = plan.steps
      const curl = `case "$*" in *-X\\ PUT*/api/token) printf tok ;; *aws-ec2-metadata-token:\\ tok*/meta-data/instance-id) printf ${one?.instanceId} ;; *) printf ok ;; esac`
      const node = standing('AL2', { files: { [hostname]: 'elsewhere\n' }, tools: { curl } })
      expect(await node.byHand(scripts[0] ?? '', ['check'])).toMatchObject({
        code: 0,
        answer: { instanceId: one?.instanceId },
      })
      const odd = standing('AL2', {
        files: { [kubeletProcess]: kubeletNamed('ip-10-0-0-2.ec2.internal') },
        tools: { curl },
      })
      expect(await odd.byHand(scripts[0] ?? '', ['check'])).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(
          /the plan knows i-\w+ as ip-10-0-0-1\.ec2\.internal, and its kubelet is called ip-10-0-0-2/,
        ),
      })
    },
  )

  it.each([[[]], [['go']], [['apply', 'now']]])(
    'with %j says how it is used, and does nothing',
    generous,
    async args => {
      const { plan, scripts } = await scripted(two)
      const node = standing('AL2', { instance: plan.steps[0]?.instanceId ?? '' })
      expect(await node.byHand(scripts[0] ?? '', args)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('check|apply|rollback'),
      })
      const help = spawnSync('sh', ['-s', '--', '--help'], { input: scripts[0], encoding: 'utf8' })
      expect(help).toMatchObject({
        status: 0,
        stdout: expect.stringContaining(`each node of plan ${plan.id}`),
      })
    },
  )

  it('cut off anywhere, does nothing at all', generous, async () => {
    const { plan, scripts } = await scripted(two)
    const node = standing('AL2', { instance: plan.steps[0]?.instanceId ?? '' })
    const before = node.everything()
    const script = scripts[0] ?? ''
    for (const part of [0.3, 0.9, 0.999])
      await node.byHand(script.slice(0, Math.floor(script.length * part)), ['apply'])
    expect(node.everything()).toEqual(before)
    expect(lastJson(node.told('calls'))).toBe('')
  })
})
