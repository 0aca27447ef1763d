import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { snapshotLimits } from '#base/limits.ts'
import type { MalformedLine, NodeRecord, SnapshotRecord } from '#model/input/record.ts'
import { prune } from '#snapshot/prune.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { openSnapshot } from '#snapshot/write.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'highwater-test-'))
  return () => rmSync(folder, { recursive: true })
})

const header: SnapshotRecord = {
  kind: 'Snapshot',
  schema: 'highwater.snapshot/1',
  takenAt: '2026-11-21T00:00:00Z',
  account: null,
  region: null,
}
const node = (name: string): NodeRecord => ({
  kind: 'Node',
  cluster: 'c',
  at: '2026-11-21T00:00:00Z',
  node: { metadata: { name } },
  errors: [],
})

async function read(path: string): Promise<(SnapshotRecord | MalformedLine)[]> {
  const records = []
  for await (const record of readSnapshot(path)) records.push(record)
  return records
}

function file(content: string | Buffer): string {
  const path = join(folder, 'given.ndjson')
  writeFileSync(path, content)
  return path
}

const lines = (...records: unknown[]) =>
  records
    .map(record => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`)
    .join('')

describe('a snapshot file', () => {
  it.each(['plain.ndjson', 'packed.ndjson.gz'])('reads back what was written: %s', async name => {
    const records: SnapshotRecord[] = [
      header,
      {
        ...{ kind: 'Cluster', cluster: 'c' },
        errors: [{ what: 'nodes', message: 'x', endedBy: 'run was interrupted' }],
      },
      node('a'),
      node('b'),
    ]
    const path = join(folder, name)
    const writer = openSnapshot(path)
    for (const record of records) await writer.write(record)
    await writer.close()
    expect(await read(path)).toEqual(records)
    expect(
      name.endsWith('.gz') ? gunzipSync(readFileSync(path)).toString() : readFileSync(path, 'utf8'),
    ).toBe(lines(...records))
  })

  it('has its name only when it is complete', async () => {
    const writer = openSnapshot(join(folder, 'a.ndjson'))
    await writer.write(header)
    expect(readdirSync(folder)).not.toContain('a.ndjson')
    await writer.discard()
    expect(readdirSync(folder)).toEqual([])
  })

  it('cannot be written where there is no folder, and says so', async () => {
    const writer = openSnapshot(join(folder, 'none', 'a.ndjson'))
    await expect(writer.close()).rejects.toThrow('ENOENT')
  })

  it('is read gzipped or not, whatever its name says', async () => {
    expect(await read(file(gzipSync(lines(header, node('a')))))).toEqual([header, node('a')])
  })

  it('needs no newline at its end, and may have empty lines and CRLF', async () => {
    expect(await read(file(`${JSON.stringify(header)}\r\n\n${JSON.stringify(node('a'))}`))).toEqual(
      [header, node('a')],
    )
  })

  it('keeps characters that a chunk boundary cuts in two', async () => {
    const names = Array.from({ length: 240 }, (_, index) =>
      node(`${'knoten-ä-€-😀-'.repeat(19)}${index}`),
    )
    expect(await read(file(lines(header, ...names)))).toEqual([header, ...names])
  })
})

describe('a broken line', () => {
  it.each([
    ['{"kind":"Node","clus', 'it is no JSON'],
    ['[1,2]', 'no JSON object'],
    ['{"kind":"Nodes","cluster":"c"}', 'unknown kind "Nodes"'],
    ['{"kind":"Node","cluster":"c"}', 'Node without node.metadata.name'],
    ['{"kind":"Node","node":{"metadata":{"name":"a"}}}', 'without a cluster name'],
    [
      '{"kind":"Node","cluster":"c","at":"soon","node":{"metadata":{"name":"a"}}}',
      'Node.at is no time',
    ],
    [
      '{"kind":"Node","cluster":"c","configz":[],"node":{"metadata":{"name":"a"}}}',
      'Node.configz is no object',
    ],
    [
      '{"kind":"Node","cluster":"c","pods":{},"node":{"metadata":{"name":"a"}}}',
      'Node.pods is no list',
    ],
    [
      '{"kind":"Node","cluster":"c","errors":["x"],"node":{"metadata":{"name":"a"}}}',
      'Node.errors is no list',
    ],
    ['{"kind":"Cluster","cluster":"c","nodegroups":[7]}', 'Cluster.nodegroups'],
    ['{"kind":"Objects","cluster":"c","items":[]}', 'Objects without a resource'],
  ])('%s comes with its number, and the rest is still read', async (broken, message) => {
    const records = await read(file(lines(header, broken, node('b'))))
    expect(records).toEqual([
      header,
      { kind: 'Malformed', line: 2, message: expect.stringContaining(message) },
      node('b'),
    ])
  })

  it('is also the end of a gzip file that was cut', async () => {
    const many = Array.from({ length: 240 }, (_, index) => node(`node-${index}-${Math.sin(index)}`))
    const packed = gzipSync(lines(header, ...many))
    const records = await read(file(packed.subarray(0, packed.length / 2)))
    expect(records.filter(record => record.kind === 'Node').length).toBeGreaterThan(100)
    expect(records.at(-1)).toMatchObject({
      kind: 'Malformed',
      message: expect.stringContaining('breaks off'),
    })
  })

  it('may be longer than any record: it is named, and the next one is read', async () => {
    const records = await read(
      file(
        Buffer.concat([
          Buffer.from(`${lines(header)}{"kind":"`),
          Buffer.alloc(65 * 1024 * 1024, 'x'),
          Buffer.from(`"}\n${lines(node('b'))}`),
        ]),
      ),
    )
    expect(records).toEqual([
      header,
      { kind: 'Malformed', line: 2, message: expect.stringContaining('no record is that long') },
      node('b'),
    ])
  })

  it('is not read from a device or a socket, which may never end', async () => {
    const socket = join(mkdtempSync(join(tmpdir(), 'highwater-socket-')), 'socket')
    const server = createServer().listen(socket)
    await once(server, 'listening')
    for (const path of ['/dev/zero', '/dev/null', socket])
      await expect(read(path)).rejects.toThrow(`${path} is no file, but a device or a pipe`)
    server.close()
  })

  it('has no list that no node has: it is named, and the next one is read', async () => {
    const images = Array.from({ length: 10_001 }, () => ({ names: ['a'] }))
    const errors = Array.from({ length: 1_001 }, () => ({ what: 'pods', message: 'x' }))
    const given = [
      header,
      { ...node('a'), node: { metadata: { name: 'a' }, status: { images } } },
      { ...node('b'), runtime: { images } },
      { ...node('c'), errors },
      { ...node('e'), host: { logLines: Array(41).fill('a') } },
      node('d'),
    ]
    const records = await read(file(given.map(record => JSON.stringify(record)).join('\n')))
    expect(records.map(({ kind }) => kind)).toEqual([
      ...['Snapshot', 'Malformed', 'Malformed', 'Malformed', 'Malformed', 'Node'],
    ])
  })

  it.each([10, 700, 5_000, 20_000])('may have %i nodes of four pods each', nodes => {
    expect(snapshotLimits(nodes * 1_540).maxNodes).toBeGreaterThanOrEqual(nodes)
  })

  it.each([
    ['bytes', `${' '.repeat(2 ** 21)}\n`, 'far longer than its gzip'],
    ['lines', '{"kind":"Cluster","cluster":"c"}\n'.repeat(4_000), 'has so many lines'],
    ['nodes', `${JSON.stringify(node('a'))}\n`.repeat(600), 'has so many nodes'],
    [
      'read nodes',
      `${JSON.stringify({ ...node('a'), configz: {} })}\n`.repeat(200),
      'has so many nodes',
    ],
    [
      'clusters',
      Array.from({ length: 1_500 }, (_, c) => `{"kind":"Cluster","cluster":"c${c}"}\n`).join(''),
      'has so many clusters',
    ],
  ])('is the last one of a file with more %s than its length allows', async (_, lines, message) => {
    const records = await read(file(gzipSync(`${JSON.stringify(header)}\n${lines}`)))
    expect(records.at(-1)).toMatchObject({
      kind: 'Malformed',
      message: expect.stringContaining(message),
    })
    expect(records.length).toBeLessThan(3_200)
  })

  it('is no node of a fleet whose kubelets refuse: such a node is short', async () => {
    const records = await read(file(gzipSync(lines(header, ...Array(290).fill(node('a'))))))
    expect(records.filter(({ kind }) => kind === 'Node')).toHaveLength(290)
  })

  it('is a second header', async () => {
    expect(
      await read(file(lines(header, { ...header, takenAt: '2020-01-01T00:00:00Z' }, node('a')))),
    ).toEqual([
      header,
      { kind: 'Malformed', line: 2, message: expect.stringContaining('only at the beginning') },
      node('a'),
    ])
  })

  it('is not one that begins with a byte order mark', async () => {
    expect(await read(file(`\uFEFF${lines(header, node('a'))}`))).toEqual([header, node('a')])
  })

  it('is a missing header, once', async () => {
    const records = await read(file(lines(node('a'), node('b'))))
    expect(records.filter(record => record.kind === 'Malformed')).toEqual([
      { kind: 'Malformed', line: 1, message: expect.stringContaining('first line') },
    ])
    expect(records.filter(record => record.kind === 'Node')).toHaveLength(2)
  })
})

describe('a file that is no snapshot', () => {
  it.each([
    [() => join(folder, 'nowhere'), 'there is no such file'],
    [() => folder, 'cannot be read'],
    [() => file(''), 'is empty'],
    [
      () =>
        file(
          '{"kind":"Snapshot","schema":"highwater.snapshot/9","takenAt":"2026-11-21T00:00:00Z"}',
        ),
      'is of schema "highwater.snapshot/9"',
    ],
  ])('is refused with the reason %#', async (path, message) => {
    await expect(read(path())).rejects.toThrow(message)
  })
})

describe('prune', () => {
  const pod = {
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'u',
      managedFields: [{ manager: 'kubectl' }],
      annotations: {
        'kubernetes.io/config.mirror': 'abc',
        'kubectl.kubernetes.io/last-applied-configuration': 'hunter2',
      },
    },
    spec: {
      containers: [
        {
          name: 'app',
          image: 'app:1',
          env: [{ name: 'PASSWORD', value: 'hunter2' }],
          envFrom: [{ secretRef: { name: 's' } }],
          command: ['sh', '-c', 'login hunter2'],
          args: ['--token=hunter2'],
          resources: { requests: { memory: '1Gi' } },
        },
      ],
      volumes: [
        { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
        { name: 'secret', secret: { secretName: 'hunter2' } },
      ],
    },
    status: {
      phase: 'Failed',
      containerStatuses: [
        { name: 'app', state: { terminated: { exitCode: 1, message: 'hunter2' } } },
        {
          name: 'cut',
          lastState: {
            terminated: {
              exitCode: 1,
              message: 'POST /login password=\\\nhunter2 write /a: no space left on device',
            },
          },
        },
      ],
    },
  }
  const record = {
    ...node('a'),
    configz: {
      kubeletconfig: {
        staticPodURLHeader: { Authorization: ['hunter2'] },
        imageGCHighThresholdPercent: 85,
      },
    },
    runtime: {
      containers: [{ id: 'x', env: ['hunter2'], annotations: { a: 'hunter2' } }],
      info: { config: { envs: ['hunter2'] } },
    },
    host: {
      kubelet: {
        commandLine: [
          'kubelet',
          '--token=hunter2',
          '--bootstrap-token',
          'hunter2',
          '--node-labels=team=shop',
          '--token-auth-file=/etc/tokens',
        ],
        files: [
          {
            path: '/etc/eks/kubelet/environment',
            role: 'environment',
            content: {
              PROXY: 'hunter2',
              KUBELET_TOKEN: 'hunter2',
              KUBELET_ARGS: '--v=2 --token=hunter2',
            },
          },
          {
            path: '/etc/default/kubelet',
            role: 'environment',
            content:
              '# KUBELET=hunter2\nexport KUBELET_PASSWORD=hunter2\nPROXY=hunter2\nKUBELET_EXTRA_ARGS=--image-gc-high-threshold=70',
          },
          {
            path: '/etc/kubernetes/kubelet/config.json',
            role: 'config',
            content: { staticPodURLHeader: { a: ['hunter2'] }, maxPods: 29 },
          },
        ],
      },
      logLines: [
        'started with --api-token=hunter2',
        'pull failed: password="hunter2 hunter2" image=a',
        'request Authorization: Basic hunter2 hunter2',
        'aws_secret_access_key=hunter2 region=eu-west-1',
        '"--token" "hunter2" --v=2',
        "--bearer-token='hunter2 hunter2' --v=2",
        '"--token=hunter2 hunter2" --v=2',
        '{"password":"hunter2","a":1} \\"secret\\": \\"hunter2\\" b',
        'api_key=hunter2 --feature-gates=KubeletEnsureSecretPulledImages=true',
      ],
      kernel: {
        cmdline:
          'root=/dev/a password=hunter2 inst.vncpassword=hunter2 a="b root=hunter2 c" cgroup.memory=nokmem -- root=hunter2',
      },
      anything: 'hunter2',
    },
    pods: [pod],
  } as unknown as NodeRecord

  it('leaves no secret in a record: no env, commands, foreign annotations, termination messages, request headers', () => {
    expect(JSON.stringify(prune(record))).not.toContain('hunter2')
  })

  it('leaves none in clusters and other objects either: no user data, no Secret, no ConfigMap', () => {
    const secret = {
      metadata: { name: 's', uid: 'u', annotations: { a: 'hunter2' } },
      data: { p: 'hunter2' },
      stringData: { p: 'hunter2' },
    }
    const records: SnapshotRecord[] = [
      {
        kind: 'Cluster',
        cluster: 'c',
        eks: { name: 'c', secretThing: 'hunter2' },
        launchTemplates: [{ versionNumber: 3, userData: 'hunter2' }],
      },
      { kind: 'Objects', cluster: 'c', resource: 'secrets', items: [secret] },
      {
        kind: 'Objects',
        cluster: 'c',
        resource: 'configmaps',
        items: [{ metadata: { name: 'm' }, data: { p: 'hunter2' } }],
      },
      {
        kind: 'Objects',
        cluster: 'c',
        resource: 'jobs.batch',
        items: [
          {
            metadata: { name: 'j' },
            spec: { template: { spec: { containers: [{ env: ['hunter2'], args: ['hunter2'] }] } } },
          },
        ],
      },
    ]
    const kept = records.map(prune)
    expect(JSON.stringify(kept)).not.toContain('hunter2')
    expect(kept[0]).toEqual({
      kind: 'Cluster',
      cluster: 'c',
      eks: { name: 'c' },
      launchTemplates: [{ versionNumber: 3 }],
      errors: [],
    })
    expect(kept[1]).toMatchObject({ items: [{ metadata: { name: 's', uid: 'u' } }] })
  })

  const byHand: SnapshotRecord[] = [
    {
      kind: 'Cluster',
      cluster: 'c',
      launchTemplates: [
        {
          launchTemplateId: 'lt-1',
          launchTemplateName: 'own',
          versionNumber: 1,
          defaultVersion: 'hunter2',
          kubelet: {
            source: 'nodeadm',
            config: {
              imageGCHighThresholdPercent: 70,
              imageGcLowTreshold: 50,
              evictionHard: { 'memory.available': '100Mi', 'nodefs.available': 'hunter2 hunter2' },
              staticPodURLHeader: { Authorization: ['hunter2'] },
              password: 'hunter2',
            },
            flags: [
              '--max-pods=30',
              '--bootstrap-token',
              'hunter2',
              'hunter2',
              '--eviction-hard=memory.available<5%',
              '--api-key=hunter2',
              7,
            ],
            script: 'hunter2',
          },
        },
        { launchTemplateId: 'lt-2', versionNumber: 2, kubelet: null },
        {
          launchTemplateId: 'lt-3',
          versionNumber: 3,
          kubelet: { source: 'hunter2', config: {}, flags: [] },
        },
        { launchTemplateId: 'lt-4', versionNumber: 4, kubelet: 'hunter2' },
      ],
      errors: [],
    },
    {
      kind: 'Objects',
      cluster: 'c',
      resource: 'ec2nodeclasses.karpenter.k8s.aws',
      items: [
        {
          metadata: {
            name: 'burst',
            uid: 'u',
            labels: { team: 'shop' },
            annotations: { a: 'hunter2' },
          },
          spec: {
            amiFamily: 'AL2023',
            kubelet: { maxPods: 20, key: 'hunter2' },
            userData: '#!/bin/bash\necho hunter2',
            role: 'hunter2',
          },
        },
        {
          metadata: { name: 'cut' },
          spec: {
            userData: [
              { source: 'script', config: { maxPods: 9 }, flags: [] },
              { source: 'other', config: { maxPods: 9 } },
              'hunter2',
            ],
          },
        },
      ],
    },
    {
      kind: 'Objects',
      cluster: 'c',
      resource: 'nodepools.karpenter.sh',
      items: [
        {
          metadata: { name: 'old' },
          spec: {
            disruption: { consolidateAfter: '1m' },
            template: {
              metadata: { labels: { a: 'b' } },
              spec: { kubelet: { maxPods: 5, pass: 'hunter2' }, nodeClassRef: { name: 'burst' } },
            },
          },
        },
      ],
    },
    {
      kind: 'Objects',
      cluster: 'c',
      resource: 'events',
      items: [
        {
          metadata: {
            name: 'p.1',
            namespace: 'shop',
            uid: 'u',
            annotations: { a: 'hunter2' },
            managedFields: ['hunter2'],
          },
          involvedObject: { kind: 'Pod', namespace: 'shop', name: 'p', resourceVersion: '5' },
          reason: 'Failed',
          message:
            'Failed to pull https://me:hunter2@example.com/x: exec: "login \\"hunter2\\"": --token=hunter2: cannot allocate memory',
          type: 'Warning',
          count: 3,
          firstTimestamp: '2026-11-21T00:00:00Z',
          lastTimestamp: '2026-11-21T00:10:00Z',
          eventTime: null,
          series: { count: 3, lastObservedTime: '2026-11-21T00:10:00.000000Z', state: 'hunter2' },
          source: { component: 'kubelet', host: 'a' },
          reportingComponent: 'kubelet',
          action: 'hunter2',
        },
        { metadata: { name: 'p.2' }, reason: 'Evicted', message: 'x'.repeat(5000) },
      ],
    },
  ] as SnapshotRecord[]

  it('cuts what somebody wrote by hand as what was read: templates, node classes and events', () => {
    const [cluster, classes, pools, events] = byHand.map(prune)
    expect(JSON.stringify([cluster, classes, pools, events])).not.toContain('hunter2')
    expect(cluster).toMatchObject({
      launchTemplates: [
        {
          launchTemplateId: 'lt-1',
          kubelet: {
            source: 'nodeadm',
            config: {
              imageGCHighThresholdPercent: 70,
              imageGcLowTreshold: 50,
              evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '(removed)' },
              password: '(removed)',
            },
            flags: [
              '--max-pods=30',
              '--bootstrap-token',
              '(removed)',
              '--eviction-hard=memory.available<5%',
              '--api-key=(removed)',
            ],
          },
        },
        { launchTemplateId: 'lt-2', versionNumber: 2, kubelet: null },
        { launchTemplateId: 'lt-3', versionNumber: 3 },
        { launchTemplateId: 'lt-4', versionNumber: 4 },
      ],
    })
    expect(classes).toMatchObject({
      items: [
        {
          metadata: { name: 'burst', uid: 'u', labels: { team: 'shop' } },
          spec: { amiFamily: 'AL2023', kubelet: { maxPods: 20, key: '(removed)' }, userData: null },
        },
        { spec: { userData: [{ source: 'script', config: { maxPods: 9 }, flags: [] }] } },
      ],
    })
    expect(pools).toMatchObject({
      items: [
        {
          spec: {
            disruption: { consolidateAfter: '1m' },
            template: {
              metadata: { labels: { a: 'b' } },
              spec: { kubelet: { maxPods: 5 }, nodeClassRef: { name: 'burst' } },
            },
          },
        },
      ],
    })
    expect(events).toMatchObject({
      items: [
        {
          metadata: { name: 'p.1', namespace: 'shop', uid: 'u' },
          involvedObject: { kind: 'Pod', namespace: 'shop', name: 'p' },
          message:
            'Failed to pull https://example.com/x: exec: "(removed)": --token=(removed) cannot allocate memory',
          series: { count: 3, lastObservedTime: '2026-11-21T00:10:00.000000Z' },
          source: { component: 'kubelet', host: 'a' },
        },
        { message: 'x'.repeat(1024) },
      ],
    })
  })

  it('changes nothing of them the second time either', () => {
    const once = byHand.map(prune)
    expect(JSON.stringify(JSON.parse(JSON.stringify(once)).map(prune))).toBe(JSON.stringify(once))
  })

  it('keeps what rules read of log rotation', () => {
    const log = {
      path: '/var/log/pods/a_b_c/d/0.log',
      bytes: 5,
      modifiedAt: '2026-11-20T12:00:00Z',
    }
    const host = {
      logrotate: [
        {
          path: '/etc/logrotate.d/app',
          sha256: 'ab',
          modifiedAt: '2026-11-18T09:30:00Z',
          directives: { patterns: ['/a'], rotate: 5 },
        },
      ],
      logrotateRuns: {
        by: 'timer',
        schedule: '*-*-* 00:00:00',
        last: 'Sat 2026-11-21 00:00:00 UTC',
        unsure: null,
      },
      logs: {
        files: 1,
        bytes: 5,
        biggest: [log],
        rotatedByOthers: { files: 1, bytes: 5, sample: [log] },
      },
    }
    expect(
      prune({ ...node('a'), host: { ...host, logs: { ...host.logs, other: 1 } } }),
    ).toMatchObject({ host })
    expect(prune({ ...node('a'), host: { logrotateRuns: { by: null } } })).toMatchObject({
      host: { logrotateRuns: { by: null } },
    })
  })

  it('keeps what rules read', () => {
    const kept = prune(record)
    expect(kept.configz).toEqual({ kubeletconfig: { imageGCHighThresholdPercent: 85 } })
    expect(kept.host).toMatchSnapshot()
    expect(kept.pods?.[0]).toEqual({
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: 'u',
        annotations: { 'kubernetes.io/config.mirror': 'abc' },
      },
      spec: {
        containers: [{ name: 'app', image: 'app:1', resources: { requests: { memory: '1Gi' } } }],
        volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '1Gi' } }, { name: 'secret' }],
      },
      status: {
        phase: 'Failed',
        containerStatuses: [
          { name: 'app', state: { terminated: { exitCode: 1 } } },
          {
            name: 'cut',
            lastState: {
              terminated: { exitCode: 1, message: '(removed) write /a: no space left on device' },
            },
          },
        ],
      },
    })
  })

  it('keeps of a pod’s conditions whether it is ready, what disrupted it, and what is not met', () => {
    const conditions = [
      { type: 'Initialized', status: 'True' },
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
      { type: 'ContainersReady', status: 'Unknown' },
      { type: 'Ready', status: 'True' },
      { type: 'DisruptionTarget', status: 'True' },
      'Ready',
    ]
    const { pods } = prune({ ...node('a'), pods: [{ status: { conditions } }] } as NodeRecord)
    expect(pods?.[0]?.status?.conditions).toEqual(conditions.slice(1, 5))
  })

  it('changes nothing the second time, so that a saved fleet is judged like a live one', () => {
    const once = prune(record)
    expect(JSON.stringify(prune(JSON.parse(JSON.stringify(once))))).toBe(JSON.stringify(once))
  })

  it.each([['ssm'], ['both'], ['proxy']])('keeps how the node was read: %s', mode => {
    expect(prune({ ...node('a'), mode } as NodeRecord).mode).toBe(mode)
  })

  it.each([[undefined], ['telepathy'], [7]])('takes no other word for a mode: %j', mode => {
    expect(prune({ ...node('a'), mode } as unknown as NodeRecord)).not.toHaveProperty('mode')
  })

  it('drops what has another type than the API gives it', () => {
    const odd = {
      ...node('a'),
      node: {
        metadata: { name: 'a', labels: 7 },
        status: { conditions: { type: 'Ready' }, nodeInfo: { osImage: 5 } },
      },
    }
    expect(prune(odd as unknown as NodeRecord).node).toEqual({
      metadata: { name: 'a' },
      status: { nodeInfo: {} },
    })
  })
})

it('leaves nothing to do at the end of the process where its folder is no folder', async () => {
  const listeners = process.listenerCount('exit')
  const snapshot = openSnapshot('/dev/null/snapshot.ndjson')
  await expect(snapshot.close()).rejects.toThrow('/dev/null/snapshot.ndjson')
  const [removePartial] = process.listeners('exit').slice(-1)
  expect(() => removePartial?.(0)).not.toThrow()
  await snapshot.discard()
  expect(process.listenerCount('exit')).toBe(listeners)
})
