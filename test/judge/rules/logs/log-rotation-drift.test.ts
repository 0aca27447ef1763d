import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { gibibyte, mebibyte } from '#base/units.ts'
import { logRotationDrift } from '#judge/rules/logs/log-rotation-drift.ts'
import { openJudgement } from '#judge/run/judge.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { buildNode, type NodeOptions, takenAt } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import {
  app,
  block,
  type Directives,
  entry,
  globals,
  logs,
  main,
} from '#test/rules/log-rotation.ts'

const directives = (rotate: number, maxsize: string) => ({
  patterns: ['/var/log/app/*.log'],
  daily: true,
  rotate,
  maxsize,
})

const node = (rotate: number, maxsize: string): NodeExample => ({
  host: { logrotate: [{ path: '/etc/logrotate.d/app', directives: directives(rotate, maxsize) }] },
})

itJudgesExamples(logRotationDrift, {
  bad: [node(5, '100M'), node(5, '104857600'), node(50, '1G')],
  good: [node(5, '100M'), node(5, '104857600'), node(5, '102400k')],
})

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
      expect(costly(200 * mebibyte)?.at(-1)).toContain('400.0 MiB on 1 node')
      const full = { ...file, ...seen(9 * gibibyte) }
      const { findings } = judged([full, file, host(entry(block({ size: '200M', rotate: 1 })))])
      // Also on those that have the wanted file it grows, and is no drift.
      expect(findings[0]?.evidence.at(-1)?.value).toMatchSnapshot()
      expect(costly(1224 * mebibyte)?.at(-1)).toContain('2.4 GiB on 1 node')
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
      ['podLogDirectories', 'fail', 1],
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
