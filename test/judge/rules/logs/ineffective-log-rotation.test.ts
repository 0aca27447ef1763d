import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { gibibyte, mebibyte } from '#base/units.ts'
import { periodOf } from '#judge/logs/logrotate-runs.ts'
import { ineffectiveLogRotation } from '#judge/rules/logs/ineffective-log-rotation.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { app, block, type Directives, entry, globals } from '#test/rules/log-rotation.ts'

const node = (pattern: string): NodeExample => ({
  node: { status: { nodeInfo: { containerRuntimeVersion: 'containerd://1.7.27' } } },
  host: {
    logrotate: [
      {
        path: '/etc/logrotate.d/app',
        directives: { patterns: [pattern], daily: true, rotate: 5, maxsize: '100M' },
      },
    ],
    logrotateRuns: { by: 'timer', schedule: '*-*-* 00:00:00' },
  },
})

itJudgesExamples(ineffectiveLogRotation, {
  bad: node('/var/lib/docker/containers/*/*.log'),
  good: node('/var/log/app/*.log'),
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
        'under unknown settings',
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
      [{ size: String(50 * mebibyte + 1) }, true],
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
      const sample = [{ path: '/var/log/pods/a_b_c/d/0.log-20261120', bytes: 3 * gibibyte }]
      const logsThere = {
        files: 9,
        bytes: 5,
        biggest: [],
        rotatedByOthers: { files: 2, bytes: 3 * gibibyte, sample },
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
      ['at an unknown schedule', at('now and then', { size: '1M' }), 'unknown'],
      ['at an unknown schedule, monthly logs', at('now and then', { monthly: true }), 'pass'],
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
