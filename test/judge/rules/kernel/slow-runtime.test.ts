import { describe, expect, it } from 'vitest'
import { slowRuntime } from '#judge/rules/kernel/slow-runtime.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const waiting = (reason: string, message: string): NodeExample => ({
  pods: [
    {
      metadata: { namespace: 'shop', name: 'web' },
      status: {
        containerStatuses: [{ name: 'web', image: 'a:1', state: { waiting: { reason, message } } }],
      },
    },
  ],
})

itJudgesExamples(slowRuntime, {
  bad: waiting('CreateContainerError', 'context deadline exceeded'),
  good: waiting('CreateContainerError', 'container name is in use'),
})

describe('slow-runtime', () => {
  it.each([
    [
      'CreateContainerError',
      'failed to reserve container name "a": name "a" is reserved for "b"',
      'fail',
    ],
    [
      'CreateContainerError',
      'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
      'fail',
    ],
    ['CreateContainerError', 'failed to set up the network: context deadline exceeded', 'pass'],
    ['ErrImagePull', 'context deadline exceeded', 'pass'],
  ])('%s, %s: %s', (reason, message, expected) => {
    expect(state(slowRuntime, waiting(reason, message))).toBe(expected)
  })
})

const ended = 'rpc error: code = DeadlineExceeded desc = context deadline exceeded'
const sandbox = `Failed to create pod sandbox: ${ended}`

/** Of each pod so many calls, the last five minutes ago. */
const timeouts = (counts: number[], message = sandbox, reason = 'FailedCreatePodSandBox') => ({
  pods: [],
  events: counts.map((count, index) => ({
    ...{ reason, message, count, pod: { namespace: 'shop', name: `web-${index}` } },
    ...{ firstTime: '2026-11-21T05:10:00Z', lastTime: '2026-11-21T05:55:00Z' },
  })),
  at: '2026-11-21T06:00:00Z',
})

it.each([
  ['five times of two pods', timeouts([4, 1]), 'fail'],
  ['four times', timeouts([3, 1]), 'pass'],
  ['of one pod', timeouts([40]), 'pass'],
  [
    'of the network',
    timeouts(
      [40, 40],
      `Failed to create pod sandbox: rpc error: code = Unknown desc = plugin: ${ended}`,
    ),
    'pass',
  ],
  [
    'pods that do not end',
    timeouts([4, 1], `error killing pod: failed to "KillPodSandbox": "${ended}"`, 'FailedKillPod'),
    'fail',
  ],
  ['over an hour ago', { ...timeouts([4, 4]), at: '2026-11-21T07:10:00Z' }, 'pass'],
])('calls that end at their deadline, %s', (_, example, expected) => {
  expect(state(slowRuntime, example)).toBe(expected)
})

it('says what else is in order, and which pod should have ended first', () => {
  const deleted = (name: string, deletionTimestamp: string) => ({
    metadata: { namespace: 'ci', name, deletionTimestamp },
    status: { phase: 'Running' },
  })
  const pids = (availableBytes: number) => ({
    eviction: { signals: { 'pid.available': { capacityBytes: 100, availableBytes, time: null } } },
  })
  const pods = [deleted('late', '2026-11-21T05:40:00Z'), deleted('early', '2026-11-21T05:00:00Z')]
  const seenWith = (availableBytes: number) =>
    failingOf(slowRuntime, { ...timeouts([4, 1]), pods, ...pids(availableBytes) }).seen
  expect(seenWith(11)).toContain(
    'ci/early was deleted 60 min ago and is still there. No disk is full. Process ids are free.',
  )
  expect(seenWith(10)).not.toContain('Process ids')
})

it.each([
  [7, false],
  [8, true],
])('counts pods that began in one minute: %d', (count, isNamed) => {
  const [first] = waiting('CreateContainerError', 'context deadline exceeded').pods ?? []
  const pods = Array.from({ length: count }, (_, index) => ({
    metadata: { namespace: 'shop', name: `web-${index}` },
    status: { ...first?.status, startTime: '2026-11-20T23:40:30Z' },
  }))
  const { seen } = failingOf(slowRuntime, { pods })
  expect(seen?.includes(`${count} pods of the node began in one minute.`)).toBe(isNamed)
})

it.each([
  ['alone', {}, 'medium'],
  ['and a node that was not ready', { reason: 'NodeNotReady', pod: null }, 'high'],
  ['and of another', { pod: { namespace: 'etl', name: 'load' } }, 'high'],
])('who writes events of one namespace raises no alarm: %s', (_, more, severity) => {
  const given = timeouts([4, 1])
  const [event] = given.events
  const events = [...given.events, { ...event!, ...more }]
  const failing = failingOf(slowRuntime, { ...given, events })
  expect(failing.severity ?? 'high').toBe(severity)
  expect(failing.seen?.includes('of namespace shop')).toBe(!('pod' in more && more.pod))
})

it.each([
  ['containerd://2.1.4', 'containerd'],
  ['cri-o://1.32.5', 'crio'],
  ['docker://26.0.0', 'docker'],
])('looks at the runtime before it is restarted: %s', (containerRuntimeVersion, unit) => {
  const node = { status: { nodeInfo: { containerRuntimeVersion } } }
  const { steps, seen } = failingOf(slowRuntime, { ...timeouts([4, 1]), node })
  expect(steps?.map(({ id, place }) => [id, place])).toEqual([
    ['read-journal', unit],
    ['restart-daemon', unit],
  ])
  expect(seen).toContain(
    '5 sandbox creations and 0 pod terminations failed, of 2 pods of namespace shop.',
  )
})
