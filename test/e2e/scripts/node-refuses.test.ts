/** Whoever may send our documents gets no more than a plan may write: the node itself refuses every other content. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isPlannableValue, plannableForms } from '#facts/kubelet/plannable-values.ts'
import { isLogPattern, isLogrotateValue, logrotateDirectives } from '#facts/logrotate.ts'
import { applyDocuments } from '#remediate/scripts/documents.ts'
import { ChangedNode, packed, sha256 } from '#test/changed-node.ts'
import { fill, mountAt, unmount } from '#test/full-disk.ts'
import { inspect, type NodeRoot, type Platform, platforms, shellsInTurn } from '#test/node-root.ts'
import { al2, al2023 } from '#test/node-roots.ts'

const here = platforms()
const first = here[0] as Platform
const inTurn = shellsInTurn()
const generous = { timeout: 120_000 }

const mainFile = '/etc/kubernetes/kubelet/kubelet-config.json'
const dropIn = '/etc/kubernetes/kubelet/config.json.d/90-highwater.conf'
const piece = '/etc/eks/nodeadm.d/50-highwater.yaml'
const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
/** As an AMI has it: fields of security, of every shape of JSON. */
const present = {
  ...kind,
  address: '0.0.0.0',
  authentication: { anonymous: { enabled: false }, webhook: { cacheTTL: '2m0s', enabled: true } },
  authorization: { mode: 'Webhook' },
  clusterDNS: ['10.100.0.10'],
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock?a=b',
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
  featureGates: { RotateKubeletServerCertificate: true },
  maxPods: 58,
}

function onAl2(): NodeRoot {
  const node = al2()
  return { ...node, files: { ...node.files, [mainFile]: JSON.stringify(present, null, 2) } }
}
const withNodeadm = (): NodeRoot => {
  const node = al2023()
  return { ...node, folders: [...(node.folders ?? []), '/etc/eks/nodeadm.d'] }
}
const withFolder = (): NodeRoot => al2023({ '40-nodeadm.conf': '{"maxPods":42}' })

interface Place {
  method: string
  path: string
  node: () => NodeRoot
}
const places = {
  'kubelet-file': { method: 'kubelet-file', path: mainFile, node: onAl2 },
  'drop-in': { method: 'drop-in', path: dropIn, node: withFolder },
  nodeadm: { method: 'nodeadm', path: piece, node: withNodeadm },
} satisfies Record<string, Place>

async function configured(place: Place, content: string, platform = first, action = 'apply') {
  const node = new ChangedNode('Highwater-ApplyKubeletConfig', place.node(), platform)
  const old = node.read(place.path)
  const before = node.everything()
  const sent = await node.send({
    Action: action,
    Run: 'run-00000001',
    Method: place.method,
    Path: place.path,
    OldSha256: old === null ? 'absent' : sha256(old),
    NewSha256: sha256(content),
    Content: packed(content),
    TimeoutSeconds: '60',
  })
  return { node, before, sent }
}

async function expectRefused(
  { node, before, sent }: Awaited<ReturnType<typeof configured>>,
  reason: RegExp,
) {
  expect(sent).toMatchObject({
    code: 3,
    stderr: '',
    answer: { outcome: 'refused', reason: expect.stringMatching(reason) },
  })
  expect(node.everything()).toEqual(before)
  expect(node.restarts()).toBe(0)
}

const json = (content: object) => JSON.stringify(content, null, 2)
const nodeConfig = (lines: string) =>
  `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n${lines}`

describe('a whole file of the kubelet', () => {
  const forged: [string, string, RegExp][] = [
    [
      'lets anybody in',
      json({ ...present, authentication: { anonymous: { enabled: true } } }),
      /what no plan changes: "authentication"/,
    ],
    [
      'allows everything',
      json({ ...present, authorization: { mode: 'AlwaysAllow' } }),
      /what no plan changes: "authorization"/,
    ],
    [
      'starts pods of a folder',
      json({ ...present, staticPodPath: '/tmp/evil-pods' }),
      /what no plan changes: "staticPodPath"/,
    ],
    [
      'starts pods of a folder, beside a plannable field',
      json({ ...present, imageGCHighThresholdPercent: 70, staticPodPath: '/tmp/evil-pods' }),
      /what no plan changes: "staticPodPath"/,
    ],
    [
      'says the field in escapes',
      json(present).replace('"maxPods"', '"static\\u0050odPath": "/tmp/x", "maxPods"'),
      /what no plan changes: "static\\u0050odPath/,
    ],
    [
      'says a plannable field twice',
      json(present).replace('"evictionHard"', '"maxPods": 1, "evictionHard"'),
      /no JSON, or has a key twice/,
    ],
    ['takes a field away', json({ ...present, authentication: undefined }), /"authentication"/],
    [
      'differs only in the query of an address',
      json({ ...present, containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock?a=c' }),
      /what no plan changes: "containerRuntimeEndpoint"/,
    ],
    [
      'hides an object behind a signal',
      json({ ...present, evictionHard: { 'memory.available': { x: 1 } } }),
      /what no plan sets: evictionHard/,
    ],
    [
      'has a signal that there is not',
      json({ ...present, evictionHard: { 'evil.available': '1' } }),
      /what no plan sets: evictionHard evil.available 1/,
    ],
    ['has another form', json({ ...present, containerLogMaxSize: '$(id)' }), /containerLogMaxSize/],
    ['has a list', json({ ...present, imageGCHighThresholdPercent: [70] }), /what no plan sets/],
    ['goes on in another document', `${json(present)}\n${json(present)}`, /no JSON/],
    ['is YAML', 'kind: KubeletConfiguration\n', /no JSON/],
    ['hides the rest behind a zero byte', `${json(present)}\0\n`, /is no text/],
  ]
  it.each(
    forged.flatMap(one => inTurn().map(platform => [platform.name, ...one, platform] as const)),
  )(
    '%s: one that %s is refused',
    generous,
    async (_, _what, content, reason, platform) =>
      await expectRefused(await configured(places['kubelet-file'], content, platform), reason),
  )

  it(
    'is refused by check as well',
    generous,
    async () =>
      await expectRefused(
        await configured(
          places['kubelet-file'],
          json({ ...present, staticPodPath: '/tmp/x' }),
          first,
          'check',
        ),
        /staticPodPath/,
      ),
  )

  it.each(here)('may change every plannable field ($name)', generous, async platform => {
    const content = json({ ...present, ...everyField })
    const { sent, node } = await configured(places['kubelet-file'], content, platform, 'check')
    expect(sent.answer).toMatchObject({ outcome: 'ready', reason: null })
    expect(node.restarts()).toBe(0)
  })

  it('may keep a value of another form that was there before', generous, async () => {
    const strange = { ...present, kubeReserved: { cpu: '1 core', 'x/y': 'z' } }
    const node = () => ({ ...onAl2(), files: { ...onAl2().files, [mainFile]: json(strange) } })
    const content = json({ ...strange, imageGCHighThresholdPercent: 70 })
    const { sent } = await configured({ ...places['kubelet-file'], node }, content, first, 'check')
    expect(sent.answer).toMatchObject({ outcome: 'ready' })
  })
})

const valuesOf = {
  percent: 70,
  integer: 5,
  boolean: true,
  duration: '2m30s',
  quantity: '100Mi',
  threshold: '12.5%',
  signal: 'nodefs.available',
  resource: 'ephemeral-storage',
}
const everyField = Object.fromEntries(
  Object.entries(plannableForms).map(([name, { value, key }]) => [
    name,
    key === undefined ? valuesOf[value] : { [String(valuesOf[key])]: valuesOf[value] },
  ]),
)

describe('a drop-in', () => {
  it.each([
    ['lets anybody in', { ...kind, authentication: { anonymous: { enabled: true } } }],
    ['starts pods of a folder', { ...kind, staticPodPath: '/tmp/evil-pods' }],
    ['starts pods of an address', { ...kind, imageGCHighThresholdPercent: 70, staticPodURL: 'x' }],
    ['is of another kind', { ...kind, kind: 'CredentialProviderConfig' }],
  ])(
    'that %s is refused',
    generous,
    async (_, content) =>
      await expectRefused(
        await configured(places['drop-in'], json(content)),
        /what no plan changes/,
      ),
  )
  it.each(here)('may set every plannable field, and take one away ($name)', generous, async one => {
    const content = json({ ...kind, ...everyField, evictionSoft: null })
    const { sent } = await configured(places['drop-in'], content, one, 'check')
    expect(sent.answer).toMatchObject({ outcome: 'ready', reason: null })
  })
})

describe('a NodeConfig', () => {
  const good = '      imageGCHighThresholdPercent: 70\n'
  it.each([
    ['lets anybody in', nodeConfig(`${good}      authentication:\n        anonymous: true\n`)],
    ['starts pods of a folder', nodeConfig(`${good}      staticPodPath: "/tmp/evil"\n`)],
    ['starts pods of a named folder', nodeConfig(`${good}      staticPodPath: evil\n`)],
    ['has flags', `${nodeConfig(good)}    flags:\n    - "--anonymous-auth"\n`],
    ['configures containerd', `${nodeConfig(good)}  containerd:\n    config: x\n`],
    ['is JSON', JSON.stringify({ kind: 'NodeConfig', spec: {} })],
    ['has an alias', nodeConfig('      evictionHard: &a\n        pid.available: 10%\n')],
    ['has another document', `${nodeConfig(good)}---\n${nodeConfig(good)}`],
    ['says a field twice', nodeConfig(`${good}${good}`)],
    ['has a null first', nodeConfig(`      authentication:\n${good}`)],
    ['has a null last', nodeConfig(`${good}      clusterDNS:\n`)],
    ['has two nulls', nodeConfig(`      registerWithTaints:\n      clusterDNS:\n${good}`)],
    ['ends too early', 'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n'],
  ])(
    'that %s is refused',
    generous,
    async (_, content) =>
      await expectRefused(
        await configured(places.nodeadm, content),
        /no NodeConfig as a plan writes it|what no plan sets/,
      ),
  )
  it.each(here)('may set every plannable field ($name)', generous, async platform => {
    const lines = Object.entries(everyField).map(([name, value]) =>
      typeof value === 'object'
        ? `      ${name}:\n${Object.entries(value)
            .map(([key, inner]) => `        ${key}: ${JSON.stringify(inner)}\n`)
            .join('')}`
        : `      ${name}: ${JSON.stringify(value)}\n`,
    )
    const content = nodeConfig(lines.join(''))
    const { sent } = await configured(places.nodeadm, content, platform, 'check')
    expect(sent.answer).toMatchObject({ outcome: 'ready', reason: null })
  })
})

describe('a file of logrotate', () => {
  async function rotated(content: string, platform = first) {
    const node = new ChangedNode('Highwater-SyncFile', al2(), platform)
    node.tool('logrotate', 'exit 0')
    const before = node.everything()
    const sent = await node.send({
      Action: 'apply',
      Run: 'run-00000001',
      Name: 'proof',
      OldSha256: 'absent',
      NewSha256: sha256(content),
      Content: packed(content),
    })
    return { node, before, sent }
  }
  const block = (lines: string, pattern = '/var/log/app.log') => `${pattern} {\n${lines}\n}\n`
  const forged: [string, string, RegExp][] = [
    [
      'runs a program behind a flag',
      block('compress\nmissingok compresscmd sh\nmissingok compressoptions -s'),
      /line 3, missingok compresscmd sh/,
    ],
    ['runs a program behind a value', block('rotate 2 compresscmd sh'), /line 2, rotate 2 compr/],
    ['runs a program behind an equals sign', block('missingok=compresscmd sh'), /line 2/],
    ['runs a script', block('postrotate\nid\nendscript'), /line 2, postrotate/],
    [
      'changes what other files mean',
      'create 0777 root root\nrotate 0\nsize 1\n',
      /line 1, create/,
    ],
    ['leaves a file that all may write', block('create 0666 root root'), /line 2, create 0666/],
    ['acts as root', block('su root root'), /line 2, su root root/],
    ['leaves a file to a user', block('create 0644 evil evil'), /line 2, create 0644 evil/],
    ['leaves a file to a group', block('create 0644 root evil'), /line 2, create 0644 root evil/],
    ['leaves a program', block('create 0755 root root'), /line 2, create 0755/],
    ['leaves a program of another user', block('create 4644 root root'), /line 2, create 4644/],
    ['meets passwords', block('rotate 0', '/etc/shadow'), /line 1, \/etc\/shadow/],
    ['meets a login script', block('rotate 0', '/home/*/.bash_logout'), /line 1, \/home/],
    ['meets hidden logs', block('rotate 0', '/home/*/.x.log'), /line 1, \/home/],
    ['meets logs of a user', block('rotate 0', '/home/ada/app.log'), /line 1, \/home\/ada/],
    ['meets logs of all users', block('rotate 0', '/home/*/logs/*'), /line 1, \/home/],
    ['meets any folder', block('rotate 0', '/var/log/*/x.log'), /line 1, \/var\/log\/\*/],
    ['meets some folders', block('rotate 0', '/opt/app[12]/logs/x'), /line 1, \/opt\/app/],
    ['meets any folder of logs', block('rotate 0', '/srv/app/logs/?/x'), /line 1, \/srv/],
    ['meets a deep folder', block('rotate 0', '/var/log/app/sub/x.log'), /line 1, \/var\/log/],
    ['meets a database', block('rotate 0', '/var/lib/mysql/ib_logfile0'), /line 1, \/var\/lib/],
    ['leaves the log folder', block('rotate 0', '/var/log/../spool/cron/root'), /line 1, \/var/],
    ['deletes what it rotates', block('rotate 0'), /line 2, rotate 0/],
    ['may keep no old log', block('daily'), /line 3, \}/],
    ['keeps old logs of one block', `${block('rotate 2')}${block('daily')}`, /line 6, \}/],
    ['meets a journal', block('rotate 2', '/var/log/journal/0123/*.log'), /line 1, \/var\/log\/j/],
    ['meets the journals', block('rotate 2', '/var/log/journal/system.journal'), /line 1, \/var/],
    ['meets who logged in', block('rotate 2', '/var/log/wtmp'), /line 1, \/var\/log\/wtmp/],
    ['meets the audit', block('rotate 2', '/var/log/audit/audit.log'), /line 1, \/var\/log\/a/],
    ['meets any log', block('rotate 2', '/var/log/*'), /line 1, \/var\/log\/\*/],
    ['meets a write-ahead log', block('rotate 2', '/var/lib/etcd/member/log/x'), /line 1, \/var/],
    ['meets data of the kubelet', block('rotate 2', '/var/lib/kubelet/log/x'), /line 1, \/var/],
    ['meets a data disk', block('rotate 2', '/data/app/logs/000003.log'), /line 1, \/data/],
    ['meets Kafka', block('rotate 2', '/opt/kafka/logs/*.log'), /line 1, \/opt\/kafka/],
    ['has a program for a name', block('rotate 0', '/opt/app/login'), /line 1, \/opt/],
    ['has a second pattern that is none', block('size 1', '/var/log/a.log /etc/b.log'), /line 1/],
    ['does not close its block', '/var/log/a.log {\nrotate 2\n', /a block is not closed/],
    ['hides the rest behind a zero byte', `${block('rotate 2')}\0\n`, /is no text/],
  ]
  it.each(
    forged.flatMap(one => inTurn().map(platform => [platform.name, ...one, platform] as const)),
  )(
    '%s: one that %s is refused',
    generous,
    async (_, _what, content, reason, platform) =>
      await expectRefused(await rotated(content, platform), reason),
  )
  it.each([
    '/var/log/containers/*.log',
    '/var/log/messages',
    '/var/lib/docker/containers/abc/*-json.log',
    '/opt/app/logs/today',
    '/srv/x/log/a-[0-9].log',
  ])('%s may be rotated', generous, async pattern => {
    expect(isLogPattern(pattern)).toBe(true)
    const { sent } = await rotated(block('rotate 2\nsize=10M\ncreate 0644 root root', pattern))
    expect(sent.answer).toMatchObject({ outcome: 'applied' })
  })
  it('has the same forms for the planner', () => {
    expect(isLogrotateValue('missingok', 'compresscmd sh')).toBe(false)
    expect(isLogrotateValue('create', '0666')).toBe(false)
    expect(isLogrotateValue('create', '0640 root adm')).toBe(true)
    expect(isLogrotateValue('create', '0640 ada adm')).toBe(false)
    for (const pattern of ['/etc/shadow', '/home/a/.b.log', '/var/lib/mysql/ib_logfile0'])
      expect(isLogPattern(pattern)).toBe(false)
  })
})

describe('the tables', () => {
  it('reach the node by the facts alone', () => {
    const tables = applyDocuments.flatMap(({ name, table }) => (table ? [[name, table]] : []))
    expect(tables).toEqual([
      ['Highwater-ApplyKubeletConfig', 'plannable'],
      ['Highwater-ApplyBottlerocket', 'settings'],
      ['Highwater-SyncFile', 'logrotate'],
    ])
    expect(Object.values(logrotateDirectives).join('')).not.toMatch(/[\\{}']/)
  })
  it.each<[string, unknown, boolean]>([
    ['imageGCHighThresholdPercent', 100, true],
    ['imageGCHighThresholdPercent', 101, false],
    ['evictionHard.nodefs.available', '10%', true],
    ['evictionHard.nodefs.available', '10Gi', true],
    ['evictionHard', '10%', false],
    ['evictionHard', null, true],
    ['evictionHard.evil', '10%', false],
    ['imageMinimumGCAge', '2m0s', true],
    ['imageMinimumGCAge', '2 m', false],
    ['kubeReserved.cpu', '80m', true],
    ['staticPodPath', '/x', false],
    ['toString', '1', false],
  ])('%s may be %j: %s', (path, value, expected) =>
    expect(isPlannableValue(path, value)).toBe(expected),
  )
})

describe('a rollback on a full disk', () => {
  const rotation = '/etc/logrotate.d/proof'
  const before = '/var/log/app.log {\n  rotate 1\n}\n'
  const after = '/var/log/app.log {\n  rotate 2\n}\n'
  const parameters = {
    Run: 'run-00000001',
    Name: 'proof',
    OldSha256: sha256(before),
    NewSha256: sha256(after),
    Content: packed(after),
  }
  function nodeWith(platform: Platform): ChangedNode {
    const root = al2()
    const node = { ...root, files: { ...root.files, [rotation]: before } }
    return new ChangedNode('Highwater-SyncFile', node, platform)
  }

  it.each(here)('needs no room ($name)', generous, async platform => {
    const node = nodeWith(platform)
    expect((await node.send({ ...parameters, Action: 'apply' })).answer?.outcome).toBe('applied')
    expect(node.read(rotation)).toBe(after)
    node.writeWorld('full', '')
    const { answer } = await node.send({ ...parameters, Action: 'rollback' })
    expect(answer).toMatchObject({ outcome: 'restored' })
    expect(node.read(rotation)).toBe(before)
    expect(readdirSync(node.at('/etc/logrotate.d')).filter(name => name.startsWith('.'))).toEqual(
      [],
    )
  })

  /** `/var` on one file system and `/etc` on another one, both of a few MiB. */
  it.each(here)('works on a real one, also between two ($name)', generous, async one => {
    for (const folder of ['', 'etc']) {
      const node = nodeWith(one)
      const mounted = mountAt(node.at(folder))
      if (!mounted) return
      try {
        const sent = await node.send({ ...parameters, Action: 'apply' })
        expect(sent.answer).toMatchObject({ outcome: 'applied' })
        fill(node.at('etc'))
        const { answer } = await node.send({ ...parameters, Action: 'rollback' })
        expect(answer).toMatchObject({ outcome: 'restored' })
        expect(node.read(rotation)).toBe(before)
      } finally {
        unmount(node.at(folder))
      }
    }
  })
})

describe('links that a pod has put below the container logs', () => {
  it.each(here)('are not followed, and are reported ($name)', generous, async platform => {
    const root = al2()
    const { stdout } = inspect(
      'Highwater-Inspect',
      {
        ...root,
        files: { ...root.files, '/home/ada/layoffs.log': 'x', '/var/log/pods/a_b_c/d/0.log': 'x' },
        links: {
          ...root.links,
          '/var/log/containers/h': '/home',
          '/var/log/containers/one.log': '/home/ada/layoffs.log',
          '/var/log/containers/up.log': '/var/log/pods/../../../home/ada/layoffs.log',
          '/var/log/containers/good.log': '/var/log/pods/a_b_c/d/0.log',
        },
      },
      platform,
      'full',
    )
    expect(stdout).not.toContain('layoffs')
    expect(stdout).toContain('log files behind links')
    expect(stdout).toContain('links that lead to')
    expect(stdout).toContain('/var/log/pods/a_b_c/d/0.log')
  })
})
