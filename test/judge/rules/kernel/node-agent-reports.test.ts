import { expect, it } from 'vitest'
import type { Failing } from '#judge/rule.ts'
import { nodeAgentReports } from '#judge/rules/kernel/node-agent-reports.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeFor } from '#test/rule-outcome.ts'
import { event as podEvent } from '#test/rules/events.ts'

const event = (message: string) =>
  ({
    ...{ reason: 'StorageReady', count: 4, message, pod: null },
    ...{ firstTime: '2026-11-20T23:05:00Z', lastTime: '2026-11-20T23:50:00Z' },
  }) as never
const withCondition = (status: string, reason: string) => ({
  events: [],
  node: {
    status: { conditions: [{ type: 'KernelReady', status, reason, message: 'no PID is left' }] },
  },
})

itJudgesExamples(nodeAgentReports, {
  bad: { events: [event('IODelays: process waits')] },
  good: { events: [] },
})

it.each([
  ['an event', { events: [event('IODelays: process waits')] }, 'medium'],
  ['a condition', withCondition('False', 'ForkFailedOutOfPIDs'), 'high'],
  ['a condition about something else', withCondition('False', 'KernelBug'), null],
  ['a condition that holds', withCondition('True', 'ForkFailedOutOfPIDs'), null],
] as const)('%s', (_, example, severity) => {
  const outcome = outcomeFor(nodeAgentReports, example)
  expect(outcome.state === 'fail' ? (outcome.failing.severity ?? 'medium') : null).toBe(severity)
})

it.each([
  ['DiskFullVarLog', 'True', 'fail'],
  ['ReadonlyFilesystem', 'True', 'fail'],
  ['ReadonlyFilesystem', 'False', 'pass'],
  ['KernelDeadlock', 'True', 'fail'],
  ['ContainerRuntimeUnhealthy', 'True', 'fail'],
  ['FrequentKubeletRestart', 'True', 'fail'],
  ['DiskPressure', 'True', 'pass'],
  ['FilesystemHealthy', 'True', 'pass'],
  ['NoDiskProblem', 'True', 'pass'],
  ['NetworkUnavailable', 'True', 'pass'],
] as const)('condition %s is %s: %s', (type, status, expected) => {
  const conditions = [{ type, status, reason: type, message: 'Disk /dev/nvme3n1 is full.' }]
  expect(outcomeFor(nodeAgentReports, { events: [], node: { status: { conditions } } }).state).toBe(
    expected,
  )
})

it('a read-only filesystem ends with the node, and names the pods that hang', () => {
  const { failing } = outcomeFor(nodeAgentReports, {
    events: [],
    pods: [
      { metadata: { namespace: 'shop', name: 'web', deletionTimestamp: '2026-11-20T22:30:00Z' } },
    ],
    node: {
      status: {
        conditions: [
          {
            ...{ type: 'ReadonlyFilesystem', status: 'True', reason: 'FilesystemIsReadOnly' },
            message: 'Remounting filesystem read-only',
          },
        ],
      },
    },
  }) as { failing: Failing }
  expect(failing.steps).toEqual([{ id: 'replace-failed-disk' }])
  expect(failing.seen).toMatch(/read-only; 1 pod hangs? in Terminating, the first shop\/web\.$/)
})

it('says what contradicts a detector, and which pod it is', () => {
  const conditions = [
    {
      ...{ type: 'KubeletUnhealthy', status: 'True', reason: 'KubeletUnhealthy' },
      message: 'kubelet was found unhealthy',
    },
  ]
  const { failing } = outcomeFor(nodeAgentReports, {
    events: [],
    conditions: { Ready: 'True' },
    summary: {},
    pods: [{ metadata: { namespace: 'kube-system', name: 'node-problem-detector-v7x2k' } }],
    node: { status: { conditions } },
  }) as { failing: Failing }
  expect(failing.severity).toBe('medium')
  expect(failing.steps).toEqual([{ id: 'advice' }])
  expect(failing.seen).toMatch(
    /^kube-system\/node-problem-detector-v7x2k says KubeletUnhealthy: .* the kubelet is Ready and answered/,
  )
})

it.each([
  ['PLEG is not healthy: pleg was last seen active 2h33m ago', ['read-journal', 'restart-daemon']],
  ['container runtime is down', ['read-journal', 'restart-daemon']],
  [
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady',
    ['read-pods', 'read-journal'],
  ],
  ['CSINode is not yet initialized', ['read-journal', 'replace-node']],
  ['node is shutting down', null],
])('a kubelet that is not ready says why: %s', (message, steps) => {
  const conditions = [
    {
      ...{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message },
      lastTransitionTime: '2026-11-20T20:00:00Z',
    },
  ]
  const outcome = outcomeFor(nodeAgentReports, { events: [], node: { status: { conditions } } })
  const failing = outcome.state === 'fail' ? [outcome.failing].flat()[0] : undefined
  expect(failing?.steps?.map(({ id }) => id) ?? null).toEqual(steps)
  if (steps !== null) {
    expect(failing?.severity).toBe('critical')
    expect(failing?.seen).toContain(`KubeletNotReady: ${message}`)
  }
})

it('has the sandbox image as cause of a network that is not ready without it', () => {
  const image = 'localhost/kubernetes/pause'
  const conditions = [
    {
      ...{ type: 'Ready', status: 'False', reason: 'KubeletNotReady' },
      message: 'container runtime network not ready: NetworkReady=false',
      lastTransitionTime: '2026-11-20T20:00:00Z',
    },
  ]
  const events = [
    podEvent({
      ...{ reason: 'FailedCreatePodSandBox', of: 'kube-system/aws-node-1', ago: 5 },
      message: `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "${image}": failed to pull image "${image}": dial tcp 127.0.0.1:443: connect: connection refused`,
    }),
  ]
  expect(outcomeFor(nodeAgentReports, { events, node: { status: { conditions } } })).toMatchObject({
    failing: {
      severity: 'high',
      cause: { event: 'image-missing', subject: image },
      steps: [{ id: 'read-pods' }],
    },
  })
})

it('has the words of the agent, each report once', () => {
  const events = [event('IODelays: a waits'), event('IODelays: b waits')]
  const outcome = outcomeFor(nodeAgentReports, { events })
  expect(outcome).toMatchObject({
    failing: {
      consequence: 'The agent says: IODelays: a waits; IODelays: b waits.',
      evidence: [{ kind: 'event', value: 'IODelays: b waits' }],
    },
  })
})
