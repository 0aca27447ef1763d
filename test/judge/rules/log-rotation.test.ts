import { describe, expect, it } from 'vitest'
import { openJudgement } from '#judge/judge.ts'
import { periodOf } from '#judge/logs/logrotate-runs.ts'
import { outcomeOf } from '#judge/outcome.ts'
import { ineffectiveLogRotation } from '#judge/rules/logs/ineffective-log-rotation.ts'
import { logRotationDrift } from '#judge/rules/logs/log-rotation-drift.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { RawObject } from '#model/record.ts'
import { inputOf } from '#test/at-the-door.ts'
import { exampleSubject, hard, type NodeExample } from '#test/example.ts'
import { buildNode, type NodeOptions, takenAt } from '#test/node-builder.ts'

const MiB = 1024 ** 2
const GiB = 1024 ** 3
const app = '/etc/logrotate.d/app'
const main = '/etc/logrotate.conf'
const logs = '/var/log/app/*.log'

type Directives = Record<string, unknown>
const entry = (directives: Directives, path = app, sha256?: string) => ({
  path,
  directives,
  ...(sha256 && { sha256 }),
})
const block = (directives: Directives, ...patterns: string[]) => ({
  patterns: patterns.length > 0 ? patterns : [logs],
  ...directives,
})
const globals = (directives: Directives) => entry({ patterns: [], ...directives }, main)

describe('log-rotation-drift', () => {
  interface Fleet {
    policy?: Partial<Policy>
    options?: NodeOptions
  }

  function judged(hosts: (RawObject | null)[], { policy, options }: Fleet = {}) {
    const judgement = openJudgement([logRotationDrift], { ...defaultPolicy, ...policy })
    hosts.forEach((host, index) => {
      const { record, prediction } = buildNode({
        name: `node-${index}`,
        ...options,
        record: { host },
      })
      judgement.take(inputOf(record), prediction)
    })
    return judgement.close(takenAt)
  }
  const host = (...logrotate: RawObject[]): RawObject => ({ logrotate })
  /** Two nodes with the first file, one with the second. */
  const odd = (norm: RawObject, other: RawObject, fleet?: Fleet) =>
    judged([norm, norm, other], fleet)
  const outcomes = (hosts: (RawObject | null)[], fleet?: Fleet) =>
    judged(hosts, fleet).clusters[0]?.outcomes
  const whatOf = ({ findings }: ReturnType<typeof judged>) =>
    findings.flatMap(({ evidence }) => evidence.map(({ what }) => what))

  describe('files that mean the same', () => {
    it.each<[string, RawObject, RawObject]>([
      [
        'sizes in other units',
        host(entry(block({ size: '100M' }))),
        host(entry(block({ size: '104857600' }))),
      ],
      [
        'sizes as numbers',
        host(entry(block({ maxsize: '1k' }))),
        host(entry(block({ maxsize: 1024 }))),
      ],
      [
        'directives in another order',
        host(entry(block({ daily: true, rotate: 5 }))),
        host(entry(block({ rotate: 5, daily: true }))),
      ],
      [
        'patterns in another order',
        host(entry(block({ rotate: 5 }, '/a', '/b'))),
        host(entry(block({ rotate: 5 }, '/b', '/a'))),
      ],
      ['a count as text', host(entry(block({ rotate: 5 }))), host(entry(block({ rotate: '05' })))],
      [
        'what logrotate has by itself',
        host(entry(block({ nocompress: true, rotate: 0 }))),
        host(entry(block({}))),
      ],
      ['ifempty', host(entry(block({ ifempty: true }))), host(entry(block({})))],
      [
        'weekly on Sundays',
        host(entry(block({ weekly: true }))),
        host(entry(block({ weekly: '0' }))),
      ],
      [
        'an overridden time',
        host(entry(block({ weekly: true, daily: true }))),
        host(entry(block({ daily: true }))),
      ],
      [
        'what is inherited, written out',
        host(globals({ daily: true, rotate: 4 }), entry(block({ daily: true }))),
        host(globals({ daily: true, rotate: 4 }), entry(block({ rotate: '4' }))),
      ],
      [
        'another text',
        host(entry(block({ rotate: 5 }), app, 'a'.repeat(64))),
        host(entry(block({ rotate: 5 }), app, 'b'.repeat(64))),
      ],
      ['a file without a word, and none', host(entry({ patterns: [] })), host()],
      [
        'the main file wherever it stands',
        host(globals({ daily: true }), entry(block({}))),
        host(entry(block({})), globals({ daily: true })),
      ],
    ])('%s', (_, a, b) => {
      expect(outcomes([a, b, b])).toMatchObject({ pass: 3, fail: 0 })
    })
  })

  it.each<[string, Directives, Directives, string]>([
    ['rotate', { rotate: 5 }, { rotate: 50 }, '5 on 2 nodes (the norm); 50 on 1 node (node-2)'],
    [
      'criterion',
      { daily: true },
      { weekly: true },
      'daily on 2 nodes (the norm); weekly on 1 node (node-2)',
    ],
    [
      'criterion',
      { size: '1M' },
      { size: '1048577' },
      'size 1M on 2 nodes (the norm); size 1048577 on 1 node (node-2)',
    ],
    [
      'criterion',
      { daily: true, size: '1M' },
      { size: '1M', daily: true },
      'size 1M on 2 nodes (the norm); daily on 1 node (node-2)',
    ],
    ['maxsize', { maxsize: '1M' }, {}, '1M on 2 nodes (the norm); not set on 1 node (node-2)'],
    [
      'copytruncate',
      { copytruncate: true },
      { nocopytruncate: true },
      'set on 2 nodes (the norm); not set on 1 node (node-2)',
    ],
    ['ifempty', {}, { notifempty: true }, 'set on 2 nodes (the norm); not set on 1 node (node-2)'],
    [
      'create',
      { create: '0640 root adm' },
      { create: true },
      '0640 root adm on 2 nodes (the norm); set on 1 node (node-2)',
    ],
  ])('names %s where it differs', (name, a, b, value) => {
    const { findings } = odd(host(entry(block(a))), host(entry(block(b))))
    expect(findings).toMatchObject([
      {
        nodes: { count: 1, sample: ['node-2'] },
        severity: 'medium',
        confidence: 'certain',
        since: null,
      },
    ])
    expect(findings[0]?.evidence[0]).toEqual({
      kind: 'host',
      what: `${app} ${logs}: ${name}`,
      value,
    })
  })

  it('says since when: on which day the file was changed on those that differ, the latest first', () => {
    const changed = (rotate: number, modifiedAt: unknown) =>
      host({ ...entry(block({ rotate })), modifiedAt })
    const norm = changed(5, '2026-01-01T00:00:00Z')
    const hosts = [
      norm,
      norm,
      norm,
      changed(50, '2026-11-18T09:30:00Z'),
      changed(51, '2026-11-20T23:59:59Z'),
      changed(52, null),
    ]
    const since = (all: RawObject[]) =>
      judged(all).findings[0]?.evidence.find(({ what }) => what === `${app} last changed`)?.value
    expect(since(hosts)).toMatchSnapshot()
    expect(since([norm, norm, changed(50, null)])).toBeUndefined()
    expect(since([norm, norm, changed(50, 'yesterday')])).toBeUndefined()
    const many = Array.from({ length: 7 }, () => changed(50, '2026-11-18T09:30:00Z'))
    expect(since([...Array.from({ length: 8 }, () => norm), ...many])).toMatchSnapshot()
  })

  it('tells a change of the main file there, and not in each block that inherits it', () => {
    const files = (directives: Directives) =>
      host(globals(directives), entry(block({ copytruncate: true })))
    expect(
      whatOf(odd(files({ weekly: true, rotate: 4 }), files({ daily: true, rotate: 4 }))),
    ).toEqual([`${main}: criterion`])
    // Where a block says it itself for some nodes, what is in force is compared.
    const own = host(globals({ weekly: true }), entry(block({ daily: true })))
    expect(
      whatOf(odd(own, host(globals({ weekly: true }), entry(block({ copytruncate: true }))))),
    ).toContain(`${app} ${logs}: criterion`)
  })

  it('misses what one node has not outside of blocks', () => {
    const blocks = entry(block({ copytruncate: true }), main)
    expect(
      odd(host(globals({ weekly: true }), blocks), host(blocks)).findings[0]?.evidence[0]?.what,
    ).toBe(`${main}: criterion`)
  })

  it('lets what stands outside of blocks hold for the files after it', () => {
    const files = (directives: Directives) => [
      entry({ patterns: [], ...directives }, '/etc/logrotate.d/a'),
      entry(block({ daily: true, rotate: 5 }), '/etc/logrotate.d/b'),
    ]
    const { findings } = odd(host(...files({ maxsize: '1M' })), host(...files({ maxsize: '1G' })))
    expect(findings[0]?.evidence.map(({ what }) => what)).toEqual([
      '/etc/logrotate.d/a: maxsize',
      `what a log of ${logs} may keep`,
    ])
  })

  it('lets the later of them win', () => {
    const files = (rotate: number) =>
      host(
        globals({ rotate: 4 }),
        entry({ patterns: [], rotate }, '/etc/logrotate.d/a'),
        entry(block({ daily: true, maxsize: '1M' })),
      )
    expect(odd(files(4), files(9)).findings[0]?.evidence.at(-1)?.value).toMatchSnapshot()
  })

  it.each<[string, RawObject, RawObject, string, string]>([
    [
      'a missing file',
      host(entry(block({ rotate: 5 }))),
      host(),
      `file ${app}`,
      'there on 2 nodes (the norm); missing, empty or commented out on 1',
    ],
    [
      'an additional file',
      host(),
      host(entry(block({ rotate: 5 }))),
      `file ${app}`,
      'missing, empty or commented out on 2 nodes (the norm); there on 1',
    ],
    [
      'an empty file',
      host(entry(block({ rotate: 5 }))),
      host(entry({})),
      `file ${app}`,
      'there on 2 nodes (the norm); missing, empty',
    ],
    [
      'a missing block',
      host(entry(block({}, '/a')), entry(block({}, '/b'))),
      host(entry(block({}, '/a'))),
      `${app} /b`,
      'there on 2 nodes (the norm); missing',
    ],
    [
      'a second block for the same logs',
      host(entry(block({}, '/a'))),
      host(entry(block({}, '/a')), entry(block({}, '/a'))),
      `${app} /a (2)`,
      'on 2 nodes (the norm); there on 1 node',
    ],
  ])('tells %s', (_, a, b, what, value) => {
    const { findings } = odd(a, b)
    expect(findings[0]?.nodes.sample).toEqual(['node-2'])
    expect(findings[0]?.evidence[0]).toMatchObject({ what, value: expect.stringContaining(value) })
  })

  describe('what it costs', () => {
    const costOf = (a: Directives, b: Directives) => {
      const { findings } = odd(host(entry(block(a))), host(entry(block(b))))
      return findings[0]?.evidence.find(({ what }) => what.startsWith('what a log'))?.value
    }

    it.each<[Directives, Directives, string | undefined]>([
      // The rotated files, and the log itself.
      [
        { size: '100M', rotate: 4 },
        { size: '100M', rotate: 9 },
        '500.0 MiB on 2 nodes (the norm); 1000.0 MiB on 1 node (node-2)',
      ],
      [
        { daily: true, maxsize: '1G', rotate: 1 },
        { daily: true, maxsize: '2G', rotate: 1 },
        '2.0 GiB on 2 nodes (the norm); 4.0 GiB on 1',
      ],
      [
        { size: '1G', maxsize: '100M', rotate: 0 },
        { size: '1G', maxsize: '200M', rotate: 0 },
        '100.0 MiB on 2 nodes (the norm); 200.0 MiB',
      ],
      [
        { size: '1M', rotate: 1 },
        { daily: true, rotate: 1 },
        '2.0 MiB on 2 nodes (the norm); what comes (no size holds it) on 1 node',
      ],
      [{ size: '1M', rotate: 1 }, { size: '1M', rotate: -1 }, 'no size holds it'],
      [{ size: '1M', rotate: 1, compress: true }, { size: '1M', rotate: 1 }, undefined],
      [{ daily: true, rotate: 1 }, { daily: true, rotate: 2 }, undefined],
    ])('%j and %j', (a, b, value) => {
      if (value === undefined) expect(costOf(a, b)).toBeUndefined()
      else expect(costOf(a, b)).toContain(value)
    })

    const large = (node: RawObject) =>
      odd(host(entry(block({ size: '100M', rotate: 5 }))), node, {
        options: { thresholds: [hard('nodefs.available', 10)] },
      }).findings[0]

    it('stands beside what nodefs has left', () => {
      expect(large(host(entry(block({ size: '10G', rotate: 9 }))))?.consequence).toMatchSnapshot()
    })

    it('says nothing of nodefs where logs have a disk of their own', () => {
      const filesystems = [
        { role: 'nodefs', mount: '/' },
        { role: 'logs', mount: '/var/log' },
      ]
      expect(
        large({ ...host(entry(block({ size: '10G', rotate: 9 }))), filesystems })?.consequence,
      ).not.toContain('nodefs')
    })

    it('says so where less is kept, or nothing is rotated', () => {
      expect(large(host(entry(block({ size: '10M', rotate: 5 }))))?.consequence).toMatchSnapshot()
      expect(large(host())?.consequence).toMatchSnapshot()
    })

    it('counts what was seen above the size, for it was written since the last run', () => {
      const seen = (bytes: number) => ({
        logs: { files: 1, bytes, biggest: [{ path: '/var/log/app/a.log', bytes }] },
      })
      const file = host(entry(block({ size: '100M', rotate: 1 })))
      const costly = (bytes: number) =>
        odd(file, {
          ...host(entry(block({ size: '200M', rotate: 1 }))),
          ...seen(bytes),
        }).findings[0]?.evidence.map(({ value }) => value)
      expect(costly(200 * MiB)?.at(-1)).toContain('400.0 MiB on 1 node')
      const full = { ...file, ...seen(9 * GiB) }
      const { findings } = judged([full, file, host(entry(block({ size: '200M', rotate: 1 })))])
      // Also on those that have the wanted file it grows, and is no drift.
      expect(findings[0]?.evidence.at(-1)?.value).toMatchSnapshot()
      expect(costly(1224 * MiB)?.at(-1)).toContain('2.4 GiB on 1 node')
    })
  })

  it('compares nodes of one nodegroup and image family', () => {
    const judgement = openJudgement([logRotationDrift], defaultPolicy)
    const file = (rotate: number) => host(entry(block({ rotate })))
    for (const [name, rotate, options] of [
      ['a', 5, {}],
      ['b', 5, {}],
      ['c', 9, { identity: { amiFamily: 'AL2' as const } }],
      ['d', 9, { nodegroup: 'other' }],
      ['e', 9, { identity: { amiFamily: 'Bottlerocket' as const } }],
    ] as const) {
      const { record, prediction } = buildNode({ name, ...options, record: { host: file(rotate) } })
      record.node.status = {
        ...record.node.status,
        nodeInfo: { ...record.node.status?.nodeInfo, osImage: osImages[name] },
      }
      judgement.take(inputOf(record), prediction)
    }
    expect(judgement.close(takenAt).clusters[0]?.outcomes).toMatchObject({
      pass: 2,
      notApplicable: 3,
      fail: 0,
    })
  })
  const osImages: Record<string, string> = {
    a: 'Amazon Linux 2023.6',
    b: 'Amazon Linux 2023.9',
    c: 'Amazon Linux 2',
    d: 'Amazon Linux 2023.6',
    e: 'Bottlerocket OS 1.30',
  }

  it('of a tie says that the odd one is open, and takes the one that keeps less for the norm', () => {
    const { findings } = judged([
      host(entry(block({ size: '1M', rotate: 50 }))),
      host(entry(block({ size: '1M', rotate: 5 }))),
    ])
    expect(findings[0]).toMatchObject({ confidence: 'possible', nodes: { sample: ['node-0'] } })
    expect(findings[0]?.consequence).toMatchSnapshot()
  })

  it('shows another hash as evidence beside a drift', () => {
    const a = host(
      entry(block({ copy: true }), app, 'a'.repeat(64)),
      entry(block({}), '/etc/logrotate.d/z', 'c'.repeat(64)),
    )
    const b = host(
      entry(block({ nocopy: true }), app, 'b'.repeat(64)),
      entry(block({}), '/etc/logrotate.d/z', 'd'.repeat(64)),
    )
    expect(odd(a, b).findings[0]?.evidence.slice(1)).toEqual([
      {
        kind: 'host',
        what: `sha256 of ${app}`,
        value: 'aaaaaaaaaaaa on 2 nodes (the norm); bbbbbbbbbbbb on 1 node (node-2)',
      },
      {
        kind: 'host',
        what: 'sha256 of /etc/logrotate.d/z',
        value:
          'cccccccccccc on 2 nodes (the norm); dddddddddddd on 1 node (node-2); in meaning the same',
      },
    ])
  })

  describe('what was not read', () => {
    const file = host(entry(block({ rotate: 5 })))

    it('is unknown, never passed', () => {
      expect(outcomes([file, file, null])).toMatchObject({ pass: 2, unknown: 1 })
      expect(outcomes([file, file, {}])).toMatchObject({ pass: 2, unknown: 1 })
      expect(outcomes([file, {}])).toMatchObject({ pass: 0, unknown: 2 })
      expect(outcomes([file])).toMatchObject({ notApplicable: 1 })
    })

    it.each([
      [`logrotate file ${app}`, 'fail', 0],
      ['logrotate', 'fail', 0],
      ['logrotate file /etc/logrotate.d/other', 'fail', 1],
      ['journald disk usage', 'fail', 1],
    ] as const)('%s: a file that is not there for it is no drift', (what, state, count) => {
      const found = outcomes([
        file,
        file,
        { logrotate: [], unread: [{ what, why: 'permission denied' }] },
      ])
      expect(found?.[state]).toBe(count)
      expect(found?.unknown).toBe(1 - count)
    })

    it('leaves open what a block inherits from a file that was not read', () => {
      const whole = host(globals({ daily: true }), entry(block({ rotate: 5, daily: true })))
      const cut = (rotate: number) => ({
        ...host(entry(block({ rotate }))),
        unread: [{ what: `logrotate file ${main}`, why: 'too large' }],
      })
      expect(outcomes([whole, whole, cut(5)])).toMatchObject({ pass: 2, unknown: 1 })
      expect(outcomes([whole, whole, cut(6)])).toMatchObject({ pass: 2, fail: 1 })
    })

    it('says which file, and why', () => {
      const { unknowns } = judged([
        file,
        file,
        { logrotate: [], unread: [{ what: `logrotate file ${app}`, why: 'permission denied' }] },
      ])
      expect(unknowns).toMatchObject([
        { reason: `host: ${app}: permission denied`, nodes: { sample: ['node-2'] } },
      ])
    })
  })

  describe('what the policy wants', () => {
    const sha = 'a'.repeat(64)
    const wanting = (wanted: Partial<Policy['logRotation'][string]>): Fleet => ({
      policy: {
        logRotation: { [app]: { sha256: null, content: null, directives: {}, ...wanted } },
      },
    })
    const names = (hosts: RawObject[], fleet: Fleet) =>
      judged(hosts, fleet).findings.flatMap(({ nodes }) => nodes.sample)

    it('goes before the majority', () => {
      const hosts = [50, 50, 5].map(rotate => host(entry(block({ rotate }))))
      expect(names(hosts, wanting({ directives: { rotate: 5 } }))).toEqual(['node-0', 'node-1'])
      expect(names(hosts, wanting({ directives: { rotate: 7 } }))).toEqual([
        'node-0',
        'node-1',
        'node-2',
      ])
      expect(judged(hosts, wanting({ directives: { rotate: 7 } })).findings[0]).toMatchObject({
        confidence: 'certain',
        evidence: [
          {
            kind: 'host',
            what: `${app} ${logs}: rotate`,
            value: '7 (the policy); 50 on 2 nodes (node-0, ...); 5 on 1 node (node-2)',
          },
          {
            value:
              '8.0 MiB (the policy); 51.0 MiB on 2 nodes (node-0, ...); 6.0 MiB on 1 node (node-2)',
          },
        ],
      })
    })

    it('is compared by meaning, false is not set, and other directives go by the majority', () => {
      const file = host(entry(block({ size: '100M', rotate: 5, copytruncate: true })))
      expect(
        names(
          [file, file],
          wanting({ directives: { size: 104857600, rotate: '5', copytruncate: true } }),
        ),
      ).toEqual([])
      expect(names([file, file], wanting({ directives: { copytruncate: false } }))).toEqual([
        'node-0',
        'node-1',
      ])
      const compressed = host(
        entry(block({ size: '100M', rotate: 5, copytruncate: true, compress: true })),
      )
      expect(names([file, compressed, file], wanting({ directives: { rotate: 5 } }))).toEqual([
        'node-1',
      ])
    })

    it('judges a node without peers', () => {
      expect(
        outcomes([host(entry(block({ rotate: 5 })))], wanting({ directives: { rotate: 5 } })),
      ).toMatchObject({ pass: 1 })
      expect(
        outcomes([host(entry(block({ rotate: 6 })))], wanting({ directives: { rotate: 5 } })),
      ).toMatchObject({ fail: 1 })
      expect(outcomes([null], wanting({}))).toMatchObject({ unknown: 1 })
    })

    it('is missing where the file is, even on every node', () => {
      expect(judged([host(), host()], wanting({})).findings[0]).toMatchObject({
        nodes: { count: 2 },
        evidence: [
          {
            kind: 'host',
            what: `file ${app}`,
            value: 'there (the policy); missing, empty or commented out on 2 nodes (node-0, ...)',
          },
        ],
      })
      expect(names([host(entry(block({})))], wanting({}))).toEqual([])
    })

    it('can be one hash, and who has it shows what it says', () => {
      const hosts = [
        host(entry(block({ rotate: 5 }), app, sha)),
        ...[9, 9].map(rotate => host(entry(block({ rotate }), app, 'b'.repeat(64)))),
      ]
      const { findings } = judged(hosts, wanting({ sha256: sha }))
      expect(findings[0]?.nodes.sample).toEqual(['node-1', 'node-2'])
      expect(findings[0]?.evidence.slice(0, 2)).toEqual([
        {
          kind: 'host',
          what: `sha256 of ${app}`,
          value: 'aaaaaaaaaaaa on 1 node (the policy); bbbbbbbbbbbb on 2 nodes (node-1, ...)',
        },
        {
          kind: 'host',
          what: `${app} ${logs}: rotate`,
          value: '5 on 1 node (the policy); 9 on 2 nodes (node-1, ...)',
        },
      ])
      // Another text that means the same is not the wanted file.
      expect(
        names([host(entry(block({ rotate: 5 }), app, 'b'.repeat(64)))], wanting({ sha256: sha })),
      ).toEqual(['node-0'])
    })

    it('leaves a file open that has no hash', () => {
      const file = (...hash: string[]) => host(entry(block({}), app, ...hash))
      expect(
        outcomes([file(sha), file(), file('b'.repeat(64))], wanting({ sha256: sha })),
      ).toMatchObject({ pass: 1, unknown: 1, fail: 1 })
    })

    it('holds outside of blocks for a file that has none', () => {
      const policy = {
        logRotation: { [main]: { sha256: null, content: null, directives: { weekly: true } } },
      }
      expect(names([host(globals({ daily: true }))], { policy })).toEqual(['node-0'])
      expect(names([host(globals({ weekly: true }))], { policy })).toEqual([])
    })
  })

  it('stays bounded and whole, whatever a node says', () => {
    const junk: RawObject[] = [
      entry(
        block(
          {
            rotate: 'many',
            size: '9'.repeat(10_000),
            maxsize: 1e308,
            constructor: true,
            __proto__: 5,
          },
          'x'.repeat(10_000),
        ),
      ),
      entry(
        block(
          { rotate: 1e308, minutes: -1, size: '1Mi', daily: { a: 1 } },
          `${'*'.repeat(10_000)}y`,
        ),
      ),
      entry(block({ rotate: 5 }, '__proto__', 'constructor'), 'constructor'),
      entry(JSON.parse('{"patterns":["__proto__"],"__proto__":{"rotate":1}}'), '__proto__'),
      entry(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, true]))),
      { path: 5, directives: 5 },
      { path: 'y'.repeat(10_000), sha256: 7, directives: null },
      ...Array.from({ length: 2000 }, (_, index) => entry(block({ rotate: index }, `/p${index}`))),
    ]
    const { findings, ruleErrors } = odd(host(entry(block({ rotate: 5 }))), {
      logrotate: junk,
      filesystems: 5,
      unread: [5, { what: 5 }],
      logs: { biggest: [5, { path: `/${'*'.repeat(9000)}`, bytes: 1e300 }] },
    })
    expect(ruleErrors).toEqual([])
    expect(findings[0]?.nodes.sample).toEqual(['node-2'])
    expect(JSON.stringify(findings).length).toBeLessThan(25_000)
  })
})

describe('ineffective-log-rotation', () => {
  const containerd = { status: { nodeInfo: { containerRuntimeVersion: 'containerd://1.7.27' } } }
  const daily = { by: 'timer', schedule: '*-*-* 00:00:00' }
  const example = (
    logrotate: RawObject[],
    host: RawObject = {},
    rest: NodeExample = {},
  ): NodeExample => ({
    node: containerd,
    ...rest,
    host: { logrotate, logrotateRuns: daily, ...host },
  })
  const judge = (node: NodeExample) =>
    outcomeOf(ineffectiveLogRotation, exampleSubject(node), defaultPolicy)
  const state = (node: NodeExample) => judge(node).state
  const failingOf = (node: NodeExample) => {
    const outcome = judge(node)
    if (outcome.state !== 'fail') throw new Error(`not a failing but ${JSON.stringify(outcome)}`)
    return outcome.failing
  }
  const sound = { daily: true, rotate: 5 }

  it.each<[string, string, string, string?]>([
    ['/data/pods', '/data/pods/*/*/*.log', 'fail', 'rotates container logs'],
    ['/data/pods', '/data/pods/*/*.log', 'fail', 'below /data/pods logs lie at'],
    ['/data/pods', '/var/log/pods/*/*/*.log', 'pass'],
    ['', '/var/log/pods/*/*/*.log', 'fail', 'rotates container logs'],
  ])(
    'finds container logs where podLogsDir puts them: in %j %s',
    (podLogsDir, pattern, expected, says) => {
      const node = example(
        [entry(block(sound, pattern))],
        {},
        { configuration: { podLogsDir, containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 } },
      )
      expect(state(node)).toBe(expected)
      if (says !== undefined) expect(failingOf(node).consequence).toContain(says)
    },
  )

  describe('logs of Docker', () => {
    const docker = '/var/lib/docker/containers/*/*.log'
    const seen = (path: string, files = 1) => ({
      logs: { files, bytes: 1, biggest: [{ path, bytes: 1 }] },
    })

    it.each<[string, NodeExample, string, string?]>([
      ['under containerd', example([entry(block(sound, docker))]), 'fail', 'likely'],
      [
        'and nothing lies there',
        example([entry(block(sound, docker))], seen('/var/log/pods/a_b_c/d/0.log')),
        'fail',
        'certain',
      ],
      [
        'as far as the biggest tell',
        example([entry(block(sound, docker))], seen('/var/log/pods/a_b_c/d/0.log', 11)),
        'fail',
        'likely',
      ],
      ['beside other logs', example([entry(block(sound, '/var/log/a', docker))]), 'fail', 'likely'],
      [
        'where somebody writes all the same',
        example([entry(block(sound, docker))], seen('/var/lib/docker/containers/a/a-json.log')),
        'pass',
      ],
      [
        'under Docker',
        example(
          [entry(block(sound, docker))],
          {},
          { node: { status: { nodeInfo: { containerRuntimeVersion: 'docker://20.10' } } } },
        ),
        'pass',
      ],
      [
        'under what nobody told',
        example([entry(block(sound, docker))], {}, { node: {} }),
        'unknown',
      ],
      [
        'where only the host names it',
        example([entry(block(sound, docker))], { containerd: {} }, { node: {} }),
        'fail',
        'likely',
      ],
    ])('%s', (_, node, expected, confidence) => {
      const outcome = judge(node)
      expect(outcome.state).toBe(expected)
      if (outcome.state === 'fail') expect(outcome.failing.confidence).toBe(confidence)
    })
  })

  it.each([
    ['/var/log/containers/*.log', 'fail', 'symbolic links'],
    ['/var/log/pods/*/*.log', 'fail', 'rotates nothing'],
    ['/var/log/pods/*/*/*/*.log', 'fail', 'rotates nothing'],
    ['/var/log/pods/*/*/*.log', 'fail', 'rotates container logs'],
    ['/var/log/*/*/*/*.log', 'fail', 'rotates container logs'],
    ['/var/log/*/*.log', 'pass', ''],
    ['/var/log/podsy/*/*/*.log', 'pass', ''],
  ])('%s: %s', (pattern, expected, words) => {
    const outcome = judge(example([entry(block({ ...sound, copytruncate: true }, pattern))]))
    expect(outcome.state).toBe(expected)
    if (outcome.state === 'fail') expect(outcome.failing.consequence).toContain(words)
  })

  describe('beside the kubelet', () => {
    const pods = '/var/log/pods/*/*/*.log'
    const twice = (directives: Directives, rest: NodeExample = {}) =>
      failingOf(example([entry(block({ rotate: 4, ...directives }, pods))], {}, rest))
    const kubelet = { containerLogMaxSize: '50Mi', containerLogMaxFiles: 5 }

    it.each<[Directives, boolean]>([
      [{ size: '50M' }, false],
      [{ size: String(50 * MiB + 1) }, true],
      [{ size: '100M', maxsize: '10M' }, false],
      [{ daily: true }, false],
      [{ daily: true, maxsize: '1G' }, false],
      [{ daily: true, minsize: '51M' }, true],
      [{ daily: true, minsize: '50M' }, false],
    ])('%j: the kubelet acts first: %j', (directives, isFirst) => {
      const { consequence } = twice(directives, { configuration: kubelet })
      expect(
        consequence.includes(
          'The kubelet acts first: it rotates a log at 50Mi, looking every 10 s',
        ),
      ).toBe(isFirst)
      expect(consequence.includes('neither knows of the other')).toBe(!isFirst)
    })

    it.each<[Directives, string, string]>([
      [{ copytruncate: true }, 'lines written between copy and truncation are lost', 'low'],
      [{ copytruncate: true, create: true }, 'are lost', 'low'],
      [{ copy: true }, 'each run adds a copy', 'low'],
      [{ create: true }, 'kubectl logs shows no new lines', 'medium'],
      [{ nocreate: true }, 'until the kubelet finds the log missing', 'low'],
      [{ copytruncate: true, dateext: true }, 'knows no 0.log-date', 'low'],
      [{ copytruncate: true }, 'takes 0.log.1 for one of its own', 'low'],
    ])('%j: %s', (directives, words, severity) => {
      const failing = twice({ daily: true, ...directives })
      expect(failing.consequence.toLowerCase()).toContain(words.toLowerCase())
      expect(failing.severity).toBe(severity)
    })

    it('shows what logrotate has left there', () => {
      const sample = [{ path: '/var/log/pods/a_b_c/d/0.log-20261120', bytes: 3 * GiB }]
      const logsThere = {
        files: 9,
        bytes: 5,
        biggest: [],
        rotatedByOthers: { files: 2, bytes: 3 * GiB, sample },
      }
      expect(
        failingOf(example([entry(block(sound, pods))], { logs: logsThere })).evidence.at(-1),
      ).toMatchSnapshot()
    })

    it.each<[Directives, NodeExample, object | undefined]>([
      [{ size: '20M', rotate: 4 }, {}, { containerLogMaxSize: '20Mi', containerLogMaxFiles: 5 }],
      [{ size: '50M', rotate: 4 }, {}, undefined],
      [{ size: '50M', rotate: 0 }, {}, undefined],
      [{ daily: true, rotate: 4 }, {}, undefined],
      [{ size: '1000', rotate: 4 }, {}, undefined],
      // Larger than now: only where the disk has room, and here no container runs.
      [{ size: '1G', rotate: 4 }, {}, { containerLogMaxSize: '1Gi', containerLogMaxFiles: 5 }],
      [{ size: '1G', rotate: 4 }, { filesystems: { nodefs: null } }, undefined],
      [
        { size: '20M', rotate: 4 },
        { filesystems: { nodefs: null } },
        { containerLogMaxSize: '20Mi', containerLogMaxFiles: 5 },
      ],
    ])('%j: sets as the kubelet would %j', (directives, rest, config) => {
      expect(twice(directives, { configuration: kubelet, ...rest }).fix?.config).toEqual(config)
    })

    it('is alone where the kubelet does not rotate', () => {
      expect(
        state(
          example(
            [entry(block(sound, pods))],
            {},
            { configuration: { containerLogMaxSize: '-1' } },
          ),
        ),
      ).toBe('pass')
    })
  })

  describe('when logrotate runs', () => {
    const at = (schedule: string | undefined, directives: Directives, by: string | null = 'cron') =>
      example([entry(block({ rotate: 5, ...directives }))], { logrotateRuns: { by, schedule } })

    const never = (unsure: string | null | undefined, pattern = '/var/log/app/*.log') =>
      example([entry(block(sound, pattern))], { logrotateRuns: { by: null, unsure } })
    const maybe = (schedule: string, directives: Directives) =>
      example([entry(block({ rotate: 5, ...directives }))], {
        logrotateRuns: { by: 'cron', schedule, unsure: '/etc/rc.local was not read' },
      })

    it.each<[string | null | undefined, string]>([
      [null, 'certain'],
      [undefined, 'likely'],
    ])('is known as surely as all places were looked into: %j is %s', (unsure, confidence) => {
      expect(failingOf(never(unsure)).confidence).toBe(confidence)
    })

    it('is not needed to see what rotates nothing', () => {
      expect(
        failingOf(never('/etc/rc.local was not read', '/var/lib/docker/containers/*/*.log'))
          .consequence,
      ).toContain('writes none there')
    })

    const both = (schedule: string, directives: Directives) =>
      example([entry(block({ rotate: 5, ...directives }))], {
        logrotateRuns: { by: 'timer', schedule: 'daily', also: [{ by: 'cron', schedule }] },
      })

    it.each<[string, NodeExample, string]>([
      ['never', at(undefined, { daily: true }, null), 'fail'],
      [
        'never, and something may',
        never('/etc/anacrontab calls logrotate, for what is not known'),
        'unknown',
      ],
      ['weekly, and something may more often', maybe('weekly', { size: '100M' }), 'unknown'],
      ['daily, and something may more often', maybe('daily', { size: '100M' }), 'pass'],
      [
        'never, and there is no block',
        example([globals({ weekly: true })], { logrotateRuns: { by: null } }),
        'pass',
      ],
      ['not known', example([entry(block(sound))], { logrotateRuns: undefined }), 'unknown'],
      ['at what nobody understands', at('now and then', { size: '1M' }), 'unknown'],
      ['at what nobody understands, monthly logs', at('now and then', { monthly: true }), 'pass'],
      ['weekly, a size', at('weekly', { size: '100M' }), 'fail'],
      ['weekly, a maxsize', at('weekly', { weekly: true, maxsize: '100M' }), 'fail'],
      ['weekly, a time of its own', at('weekly', { weekly: true }), 'pass'],
      ['daily, a size', at('daily', { size: '100M' }), 'pass'],
      ['daily, hourly wanted', at('daily', { hourly: true }), 'fail'],
      ['hourly, hourly wanted', at('hourly', { hourly: true }), 'pass'],
      ['daily and hourly, hourly wanted', both('@hourly', { hourly: true }), 'pass'],
      ['daily and daily, hourly wanted', both('@daily', { hourly: true }), 'fail'],
      ['daily and whenever, hourly wanted', both('now and then', { hourly: true }), 'unknown'],
      ['daily and whenever, daily wanted', both('now and then', { daily: true }), 'pass'],
      [
        'weekly, daily inherited',
        example([globals({ daily: true, rotate: 4 }), entry(block({}))], {
          logrotateRuns: { by: 'cron', schedule: '@weekly' },
        }),
        'fail',
      ],
    ])('%s', (_, node, expected) => {
      expect(state(node)).toBe(expected)
    })

    it('says how long a log may grow unseen', () => {
      expect(failingOf(at('Mon *-*-* 00:00:00', { size: '100M' }, 'timer'))).toMatchObject({
        consequence: `logrotate runs every 168 h, and only then it acts: ${app} gives a size, and its logs pass it by all that is written between two runs.`,
        evidence: [
          { kind: 'host', what: 'logrotate runs by timer', value: 'Mon *-*-* 00:00:00' },
          { value: 'size 100M, rotate 5' },
        ],
      })
    })

    it.each([
      ['*-*-* 00:00:00', 24],
      ['*-*-* *:00:00', 1],
      ['*-*-* *:0/15:00', 0.25],
      ['*-*-* 00/6:00:00', 6],
      ['*-*-* 06,18:00:00 UTC', 12],
      ['Mon *-*-* 00:00:00', 168],
      ['Mon..Fri *-*-* 00:00:00', 33.6],
      ['Sat,Sun *-*-* 00:00:00', 84],
      ['*-*-01 00:00:00', 720],
      ['*-01-01 00:00:00', 8760],
      ['@daily', 24],
      ['monthly', 720],
      ['*/15 * * * *', 0.25],
      ['0 * * * *', 1],
      ['17 3 * * *', 24],
      ['0 0 * * 0', 168],
      ['0 0 1 * *', 720],
      ['0 0 1 * 1', null],
      ['* * * * *', 1 / 60],
      ['*/0 * * * *', null],
      ['0 0 * *', null],
      ['', null],
      ['constructor', null],
      ['9'.repeat(80), null],
    ])('%s: every %d hours', (schedule, hours) => {
      const ms = periodOf(schedule)
      expect(ms === null ? null : ms / 3_600_000).toBe(hours)
    })
  })

  describe('blocks that lose what they rotate, or rotate nothing', () => {
    it.each<[string, RawObject[], string]>([
      ['rotate 0', [entry(block({ daily: true, rotate: 0 }))], 'fail'],
      ['no rotate', [entry(block({ daily: true }))], 'fail'],
      ['rotate 1', [entry(block({ daily: true, rotate: 1 }))], 'pass'],
      ['rotate -1', [entry(block({ daily: true, rotate: '-1' }))], 'pass'],
      [
        'rotate from the main file',
        [globals({ rotate: 4 }), entry(block({ daily: true }))],
        'pass',
      ],
      ['rotate many', [entry(block({ daily: true, rotate: 'many' }))], 'fail'],
      ['rotate 2^31', [entry(block({ daily: true, rotate: 2 ** 31 }))], 'fail'],
      ['rotate 2^31 - 1', [entry(block({ daily: true, rotate: 2 ** 31 - 1 }))], 'pass'],
      ['size 1Mi', [entry(block({ size: '1Mi', rotate: 1 }))], 'fail'],
      ['size 10m', [entry(block({ size: '10m', rotate: 1 }))], 'fail'],
      ['maxsize 10m', [entry(block({ daily: true, maxsize: '10m', rotate: 1 }))], 'fail'],
      ['size 10K', [entry(block({ size: '10K', rotate: 1 }))], 'pass'],
      ['size 1e308', [entry(block({ size: 1e308, rotate: 1 }))], 'fail'],
    ])('%s: %3$s', (_, files, expected) => {
      expect(state(example(files))).toBe(expected)
    })

    it('names what logrotate refuses', () => {
      expect(
        failingOf(example([entry(block({ maxsize: '10m', rotate: 'many' }))])).consequence,
      ).toBe(
        `logrotate cannot read "maxsize 10m", "rotate many" in ${app} and leaves the block out: nothing rotates these logs.`,
      )
    })
  })

  it('is unknown where the files were not read, and does not apply without logrotate', () => {
    expect(judge({ host: {} })).toMatchSnapshot()
    expect(
      state(example([], { unread: [{ what: `logrotate file ${app}`, why: 'permission denied' }] })),
    ).toBe('unknown')
    expect(state({ ...example([]), identity: { amiFamily: 'Bottlerocket' } })).toBe('notApplicable')
    expect(state(example([]))).toBe('pass')
  })

  it('stays bounded and whole, whatever a node says', () => {
    const failing = failingOf(
      example([
        entry(
          block(
            { rotate: 'many'.repeat(9999) },
            `/var/lib/docker/containers/${'*'.repeat(10_000)}`,
            `/var/log/pods/${'*/'.repeat(9999)}`,
          ),
        ),
        entry(block({ size: {}, rotate: [] }, `/${'*'.repeat(9000)}x/log/pods/*/*/*`)),
        ...Array.from({ length: 1000 }, (_, index) =>
          entry(block({ rotate: 0 }, `/p${index}`), `/etc/logrotate.d/${'f'.repeat(5000)}`),
        ),
      ]),
    )
    expect(JSON.stringify(failing).length).toBeLessThan(12_000)
  })
})
