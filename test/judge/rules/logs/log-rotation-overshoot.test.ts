import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { logRetentionTooShort } from '#judge/rules/logs/log-retention-too-short.ts'
import { logRotationOvershoot } from '#judge/rules/logs/log-rotation-overshoot.ts'
import { defaultPolicy } from '#model/policy.ts'
import { hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, outcomeFor, state } from '#test/rule-outcome.ts'

const running = (name: string) => ({ name, image: 'app:1', state: { running: {} } })

const pod = {
  metadata: { namespace: 'shop', name: 'web' },
  status: { containerStatuses: [running('web'), running('proxy')] },
}

itJudgesExamples(logRotationOvershoot, {
  bad: { configuration: { containerLogMaxSize: '10Gi', containerLogMaxFiles: 5 }, pods: [pod] },
  good: { configuration: { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 }, pods: [pod] },
})

describe('log-rotation-overshoot', () => {
  it('has a finite number, whatever a kubelet says', () => {
    const configuration = { containerLogMaxSize: '10Gi', containerLogMaxFiles: 1e308 }
    const outcome = outcomeFor(logRotationOvershoot, { configuration, pods: [pod] })
    expect(outcome.state).toBe('fail')
    expect(JSON.stringify(outcome)).not.toMatch(/Infinity|"bytes":null/)
  })

  /** 60 GiB are available of 100, and eviction begins at 10. */
  const example = (
    size: string,
    used: number,
    state: object = { running: {} },
    restartCount = 0,
  ): NodeExample => ({
    configuration: { containerLogMaxSize: size, containerLogMaxFiles: 5 },
    thresholds: [hard('nodefs.available', 10)],
    pods: [
      {
        metadata: { namespace: 'a', name: 'b' },
        status: { containerStatuses: [{ name: 'c', image: 'c', state, restartCount }] },
      },
    ],
    summary: {
      pods: [
        {
          podRef: { namespace: 'a', name: 'b' },
          containers: [{ name: 'c', logs: { usedBytes: used } }],
        },
      ],
    },
  })

  it.each([
    ['as much as there is', example('10Gi', 0), 'pass'],
    ['a byte more in each file', example(String(10 * gibibyte + 1), 0), 'fail'],
    ['what is written already does not count', example('12Gi', 10 * gibibyte), 'pass'],
    ['more than that', example('12Gi', 10 * gibibyte - 1), 'fail'],
    ['a container that does not run', example('20Gi', 0, { terminated: {} }), 'pass'],
    [
      'started anew, with the log of the dead instance beside its own',
      example('5Gi', 0, { running: {} }, 1),
      'pass',
    ],
    [
      'started anew, and a byte more in each file',
      example(String(5 * gibibyte + 1), 0, { running: {} }, 1),
      'fail',
    ],
    ['rotation that is off', example('-1', 0), 'pass'],
    [
      'a disk that was not observed',
      { ...example('20Gi', 0), filesystems: { nodefs: null } },
      'unknown',
    ],
  ] as const)('%s: %3$s', (_, node, expected) => {
    expect(state(logRotationOvershoot, node)).toBe(expected)
  })

  const written = (gib: number, size = '10Mi') => ({
    ...example(size, gib * gibibyte),
    held: { 'container-logs': gib },
  })

  it.each([
    ['a quarter of the disk', written(25), 'medium'],
    ['half of it', written(50), 'high'],
    ['a tenth', written(10), 'medium'],
    ['a twentieth', written(5), 'low'],
    ['less than a twentieth', written(4.9), null],
    ['not far above what rotation permits', written(25, '1025Mi'), null],
  ] as const)('a log that nothing rotates is the cause: %s', (_, node, severity) => {
    if (severity === null) return expect(state(logRotationOvershoot, node)).toBe('pass')
    expect(failingOf(logRotationOvershoot, node)).toMatchObject({
      title: 'A container log is far larger than rotation permits',
      severity,
      cause: { kind: 'holder', holder: 'container-logs' },
    })
  })

  it('says that rotation does not act, and looks why, also where the node evicts', () => {
    const full = { capacityBytes: 100 * gibibyte, availableBytes: 0, usedPercent: 100 }
    const nodefs = { ...full, inodes: null, inodesFree: null }
    const { seen, steps } = failingOf(logRotationOvershoot, {
      ...written(50),
      filesystems: { nodefs },
    })
    expect(seen).toContain('permits 50.0 MiB of a log, and one has 50.0 GiB: it does not act')
    expect(steps).toContainEqual(
      expect.objectContaining({ id: 'check-rotation', variant: 'kubelet' }),
    )
    expect(steps?.map(({ id }) => id)).not.toContain('ask-owner')
  })

  it('says nothing of logs that are less than a tenth of the disk', () => {
    const disk = {
      capacityBytes: 100 * gibibyte,
      availableBytes: 11 * gibibyte,
      usedPercent: 89,
      inodes: null,
      inodesFree: null,
    }
    expect(
      state(logRotationOvershoot, { ...example('1.9Gi', 0), filesystems: { nodefs: disk } }),
    ).toBe('pass')
    expect(
      state(logRotationOvershoot, { ...example('1Gi', 0), filesystems: { nodefs: disk } }),
    ).toBe('pass')
    expect(
      state(logRotationOvershoot, { ...example('2Gi', 0), filesystems: { nodefs: disk } }),
    ).toBe('fail')
  })
})

describe('logs by the rate at which they are written', () => {
  const MiB = 1024 ** 2
  const at = '2026-11-21T01:00:00Z'
  interface Writes {
    mib: number
    minutes?: number
    restarts?: number
    name?: string
  }
  /** 60 GiB are available of 100, and eviction begins at 10. */
  const writing = (
    all: Writes[],
    configuration: NodeExample['configuration'] = {},
  ): NodeExample => {
    const since = ({ minutes = 30 }: Writes) =>
      new Date(Date.parse(at) - minutes * 60_000).toISOString()
    return {
      at,
      configuration: { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5, ...configuration },
      thresholds: [hard('nodefs.available', 10)],
      pods: all.map(({ name = 'b', restarts = 0 }) => ({
        metadata: { namespace: 'a', name },
        status: {
          startTime: '2026-11-20T01:00:00Z',
          containerStatuses: [
            { name: 'c', image: 'c', restartCount: restarts, state: { running: {} } },
          ],
        },
      })),
      summary: {
        pods: all.map(writes => ({
          podRef: { namespace: 'a', name: writes.name ?? 'b' },
          containers: [
            { name: 'c', startTime: since(writes), logs: { usedBytes: writes.mib * MiB } },
          ],
        })),
      },
    }
  }
  const unmeasured = { ...writing([{ mib: 40 }]), summary: { pods: [] } }

  it.each<[string, NodeExample, string]>([
    ['50 MiB last just an hour', writing([{ mib: 25 }]), 'pass'],
    ['less', writing([{ mib: 25.1 }]), 'fail'],
    ['more files are kept', writing([{ mib: 25.1 }], { containerLogMaxFiles: 6 }), 'pass'],
    ['two minutes old', writing([{ mib: 40, minutes: 2 }]), 'fail'],
    ['younger', writing([{ mib: 40, minutes: 1.99 }]), 'pass'],
    [
      'less than a MiB',
      writing([{ mib: 0.99, minutes: 2 }], { containerLogMaxSize: '110Ki' }),
      'pass',
    ],
    ['a MiB', writing([{ mib: 1, minutes: 2 }], { containerLogMaxSize: '110Ki' }), 'fail'],
    ['twice of what rotation keeps', writing([{ mib: 100, minutes: 5 }]), 'fail'],
    ['more than that is there: no line is gone', writing([{ mib: 101, minutes: 5 }]), 'pass'],
    [
      'started again: the folder has the logs of a day',
      writing([{ mib: 40, minutes: 2, restarts: 3 }]),
      'pass',
    ],
    ['a clock that is behind', writing([{ mib: 40, minutes: -5 }]), 'pass'],
    ['rotation that is off', writing([{ mib: 40 }], { containerLogMaxSize: '-1' }), 'pass'],
    ['no statistics of any', unmeasured, 'unknown'],
    ['no containers', { ...unmeasured, pods: [] }, 'pass'],
  ])('log-retention-too-short, %s: %s', (_, example, expected) => {
    expect(state(logRetentionTooShort, example)).toBe(expected)
  })

  it('takes the start of the container from the status of its pod where the summary has none', () => {
    const node = writing([{ mib: 40 }])
    const running = {
      name: 'c',
      image: 'c',
      state: { running: { startedAt: '2026-11-21T00:50:00Z' } },
    }
    const pods = [
      { metadata: { namespace: 'a', name: 'b' }, status: { containerStatuses: [running] } },
    ]
    const summary = {
      pods: [
        {
          podRef: { namespace: 'a', name: 'b' },
          containers: [{ name: 'c', logs: { usedBytes: 40 * MiB } }],
        },
      ],
    }
    expect(
      failingOf(logRetentionTooShort, { ...node, pods, summary }).evidence[3]?.value,
    ).toMatchSnapshot()
  })

  it('leads with the fastest, shows five, and proposes a size for it where the disk has room', () => {
    const all = Array.from({ length: 7 }, (_, index) => ({ mib: 30 + index, name: `p${index}` }))
    const { consequence, evidence, fix } = failingOf(logRetentionTooShort, writing(all))
    expect(consequence).toMatchSnapshot()
    expect(evidence.filter(({ what }) => what.startsWith('container '))).toHaveLength(5)
    // 72 MiB an hour in five files.
    expect(fix?.config).toEqual({ containerLogMaxSize: '20Mi' })
    const small = {
      capacityBytes: 100 * gibibyte,
      availableBytes: 10 * gibibyte + 400 * MiB,
      usedPercent: 90,
      inodes: null,
      inodesFree: null,
    }
    expect(
      failingOf(logRetentionTooShort, { ...writing(all), filesystems: { nodefs: small } }).fix,
    ).toBeUndefined()
    const fastest = (mib: number) =>
      failingOf(logRetentionTooShort, writing([{ mib, minutes: 2 }])).fix
    expect(fastest(100)?.config).toEqual({ containerLogMaxSize: '1Gi' })
  })

  it('takes the limit from the policy', () => {
    const policy = { ...defaultPolicy, logRetentionMinutes: 10 }
    expect(outcomeFor(logRetentionTooShort, writing([{ mib: 40 }]), policy).state).toBe('pass')
  })

  /** A MiB a second: 10 MiB between two looks. */
  const fast = (
    roomMib: number,
    configuration: NodeExample['configuration'] = {},
  ): NodeExample => ({
    ...writing([{ mib: 1800 }], configuration),
    filesystems: {
      nodefs: {
        capacityBytes: 100 * gibibyte,
        availableBytes: 10 * gibibyte + roomMib * MiB,
        usedPercent: 90,
        inodes: null,
        inodesFree: null,
      },
    },
  })

  it.each<[string, NodeExample, string]>([
    ['the room that is left', fast(10), 'pass'],
    ['less room', fast(9.9), 'fail'],
    ['a longer interval', fast(10, { containerLogMonitorInterval: '11s' }), 'fail'],
    [
      'an interval that this kubelet does not know',
      {
        ...fast(10, { containerLogMonitorInterval: '11s' }),
        identity: { kubeletVersion: 'v1.29.1' },
      },
      'pass',
    ],
    ['eviction already', fast(0), 'pass'],
  ])('log-rotation-overshoot between two looks, %s: %s', (_, example, expected) => {
    expect(state(logRotationOvershoot, example)).toBe(expected)
  })

  it('says how much comes between two looks', () => {
    expect(failingOf(logRotationOvershoot, fast(5))).toMatchObject({ confidence: 'likely' })
    expect(failingOf(logRotationOvershoot, fast(5)).consequence).toContain(
      'pass containerLogMaxSize by 10.0 MiB',
    )
  })
})
