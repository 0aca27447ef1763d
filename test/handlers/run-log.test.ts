/** What a run tells CloudWatch and X-Ray, read as they read it. */
import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRunLog } from '#handlers/lambda.ts'
import { recorded } from '#lab/scenarios/recorded.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { invoke, invokeRemediate, written } from '#test/lambda.ts'

// They may share the machine with many others.
vi.setConfig({ testTimeout: 60_000 })

const tick = { source: 'highwater.schedule', scheduledTime: '2026-11-21T05:00:00Z' }
const runId = '2026-11-21T05-00-00Z'
const loud = { POWERTOOLS_LOG_LEVEL: 'INFO', POWERTOOLS_METRICS_DISABLED: 'false' }
const stages = ['prepare', 'read', 'judge', 'compare', 'render', 'publish']
const service = 'service=highwater'

describe('the log', () => {
  it('has the run’s id on every line, each stage with its time, and what was counted', async () => {
    await labOf([recorded], { storeFolder: temporaryFolder() })
    const { lines } = await written(() => invoke(tick, loud))
    expect(lines.length).toBeGreaterThan(stages.length)
    for (const line of lines)
      expect(line).toMatchObject({
        runId,
        requestId: expect.stringMatching(/^[\da-f-]{36}$/),
        level: 'INFO',
      })
    expect(
      lines.filter(({ message }) => message === 'stage ended').map(({ stage }) => stage),
    ).toEqual(stages)
    for (const line of lines.filter(({ message }) => message === 'stage ended'))
      expect(line.durationMs).toEqual(expect.any(Number))
    expect(lines.find(({ message }) => message === 'audited')).toMatchObject({
      ...{ nodesRead: 2, nodesPartlyRead: 0, nodesNotRead: 0, notAudited: 0 },
      clusters: [{ cluster: 'recorded', nodes: 2, read: 2 }],
    })
    expect(lines.at(-1)).toMatchObject({
      message: 'run ended',
      state: 'published',
      slowDowns: {},
      durationMs: expect.any(Number),
    })
  })

  it('of a run that ends red says why, in which stage, and has counted all the same', async () => {
    await labOf([{ ...recorded, ses: { identities: [] } }], { storeFolder: temporaryFolder() })
    const { lines, metrics, outcome } = await written(() => invoke(tick, loud))
    expect(outcome.status).toBe('rejected')
    expect(lines.at(-1)).toMatchObject({
      message: 'run failed',
      level: 'ERROR',
      runId,
      reason: expect.stringContaining('highwater@example.com'),
    })
    expect(metrics).toMatchObject({ [`NodesRead{${service}}`]: 2 })
    expect(metrics).not.toHaveProperty(`ReportsPublished{${service}}`)
  })

  it('says why something was not audited, each reason once, with where it was first met', async () => {
    const [cluster] = recorded.clusters
    const away = { ...cluster!, name: 'away', faults: { endpoint: 'closed-port' as const } }
    await labOf([{ ...recorded, clusters: [cluster!, away] }], { storeFolder: temporaryFolder() })
    const { lines } = await written(() => invoke(tick, loud))
    expect(lines.filter(({ message }) => message === 'not audited')).toEqual([
      expect.objectContaining({
        level: 'WARN',
        runId,
        cluster: 'away',
        reason: expect.stringContaining('refused the connection'),
      }),
    ])
  })

  it('of a second delivery counts nothing, because it has read nothing', async () => {
    await labOf([recorded], { storeFolder: temporaryFolder() })
    await invoke(tick)
    const { lines } = await written(() => invoke(tick, loud))
    expect(lines.at(-1)).toMatchObject({ message: 'run ended', state: 'published-before' })
    expect(lines.at(-1)).not.toHaveProperty('notAudited')
  })

  it('counts clusters that are too many to be named', async () => {
    const coverage = { nodes: 3, read: 1, partlyRead: 1, notRead: 1 }
    const clusters = Array.from({ length: 101 }, (_, index) => ({
      name: `c-${index}`,
      grade: null,
      coverage,
    }))
    const { lines } = await written(async () =>
      openRunLog('r').watch.audited({ findings: {}, clusters, notAudited: 0, reasons: [] }),
    )
    const [audited] = lines
    expect(audited).toMatchObject({
      message: 'audited',
      nodesRead: 101,
      nodesPartlyRead: 101,
      nodesNotRead: 101,
      moreClusters: 1,
    })
    expect(audited?.clusters).toHaveLength(100)
  })

  it('of the function remediate carries the run’s id, too', async () => {
    await labOf([recorded], { storeFolder: temporaryFolder() })
    const { lines } = await written(() =>
      invokeRemediate({ action: 'rollback', run: '0123456789abcdef' }, loud),
    )
    expect(lines.map(({ message }) => message)).toEqual([
      'run began',
      'stage ended',
      'stage ended',
      'run failed',
    ])
    for (const line of lines) expect(line.runId).toBe('0123456789abcdef')
  })

  it('has no secret: neither keys, nor tokens, nor the webhook’s address', async () => {
    const lab = await labOf([{ ...recorded, ses: { identities: [] } }], {
      storeFolder: temporaryFolder(),
    })
    const webhook = 'https://hooks.slack.com/services/T000/B000/not-for-anybody'
    const { text, lines } = await written(() =>
      invoke(tick, { ...loud, HIGHWATER_WEBHOOK_URL: webhook }),
    )
    expect(lines.at(-1)?.message).toBe('run failed')
    for (const secret of [
      'not-for-anybody',
      'k8s-aws-v1.',
      lab.environment.AWS_SECRET_ACCESS_KEY ?? 'AWS_SECRET_ACCESS_KEY',
      'X-Amz-Signature',
    ])
      expect(text).not.toContain(secret)
  })
})

describe('the metrics', () => {
  it('of a tick are few, have no dimension that grows with the fleet, and say what was read and found', async () => {
    await labOf([recorded], { storeFolder: temporaryFolder() })
    const { metrics } = await written(() => invoke(tick, loud))
    expect(metrics).toEqual({
      [`RunDuration{${service}}`]: expect.any(Number),
      [`SlowDowns{${service}}`]: 0,
      [`ClustersAudited{${service}}`]: 1,
      [`NodesRead{${service}}`]: 2,
      [`NodesPartlyRead{${service}}`]: 0,
      [`NodesNotRead{${service}}`]: 0,
      [`NotAudited{${service}}`]: 0,
      [`Findings{${service},severity=critical}`]: 0,
      ...Object.fromEntries(
        ['high', 'medium', 'low', 'info'].map(severity => [
          `Findings{${service},severity=${severity}}`,
          expect.any(Number),
        ]),
      ),
      [`ReportsPublished{${service}}`]: 1,
    })
    expect(metrics[`RunDuration{${service}}`]).toBeGreaterThan(0)
    // docs/cost.md counts them.
    expect(Object.keys(metrics)).toHaveLength(13)
  })

  it('are none of a second delivery, nor of what a person asks for', async () => {
    await labOf([recorded], { storeFolder: temporaryFolder() })
    await invoke(tick)
    expect((await written(() => invoke(tick, loud))).metrics).toEqual({})
    expect((await written(() => invoke({ clusters: ['recorded'] }, loud))).metrics).toEqual({})
  })

  it('count who asked to slow down, also where a later try was taken', async () => {
    const [cluster] = recorded.clusters
    if (!cluster) throw new Error('the scenario has a cluster')
    await labOf(
      [
        {
          ...recorded,
          eksThrottlesFirst: 2,
          clusters: [
            { ...cluster, faults: { tooManyRequests: { first: 2, retryAfterSeconds: 0 } } },
          ],
        },
      ],
      { storeFolder: temporaryFolder() },
    )
    const { lines, metrics, outcome } = await written(() => invoke(tick, loud))
    expect(outcome.status).toBe('fulfilled')
    expect(lines.at(-1)).toMatchObject({ slowDowns: { EKS: 2, Kubernetes: 2 } })
    expect(metrics[`SlowDowns{${service}}`]).toBe(4)
  })
})

describe('the trace', () => {
  it('has a subsegment for each stage, below the function’s own segment, where the invocation is sampled', async () => {
    const daemon = createSocket('udp4')
    const received: string[] = []
    daemon.on('message', message => received.push(message.toString()))
    await new Promise<void>(bound => daemon.bind(0, '127.0.0.1', bound))
    onTestFinished(() => void daemon.close())
    const address = `127.0.0.1:${(daemon.address() as AddressInfo).port}`
    const header = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled='
    await labOf([recorded], { storeFolder: temporaryFolder() })
    await invoke(
      { dryRun: true },
      { AWS_XRAY_DAEMON_ADDRESS: address, _X_AMZN_TRACE_ID: `${header}0` },
    )
    await invoke(tick, {
      AWS_XRAY_DAEMON_ADDRESS: address,
      _X_AMZN_TRACE_ID: `${header}1;Lineage=1:a:0`,
    })
    await vi.waitFor(() => expect(received).toHaveLength(stages.length), { timeout: 20_000 })
    const documents = received.map(datagram => {
      const [head = '', body = ''] = datagram.split('\n')
      expect(JSON.parse(head)).toEqual({ format: 'json', version: 1 })
      return JSON.parse(body)
    })
    expect(documents.map(({ name }) => name).toSorted()).toEqual(stages.toSorted())
    for (const document of documents) {
      expect(document).toMatchObject({
        type: 'subsegment',
        trace_id: '1-5759e988-bd862e3fe1be46a994272793',
        parent_id: '53995c3f42cd8ad8',
      })
      expect(document.id).toMatch(/^[\da-f]{16}$/)
      expect(document.end_time).toBeGreaterThanOrEqual(document.start_time)
    }
  })
})
