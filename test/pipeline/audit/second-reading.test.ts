import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { holders } from '#facts/holders.ts'
import { handler } from '#handlers/audit.ts'
import { withReading } from '#judge/compare/history/fill.ts'
import { rules } from '#judge/rules/index.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import type { LabNode, NodeSource, Scenario } from '#lab/scenarios/scenario.ts'
import type { FillReading, NodeBefore, ObservedGrowth } from '#model/history.ts'
import { everything } from '#model/input/record.ts'
import { defaultPolicy, type Policy } from '#model/policy.ts'
import type { AuditedNode, TakenNode } from '#model/report.ts'
import { liveFleet, openSecondReading } from '#pipeline/audit/fleet.ts'
import { judgeRecords } from '#pipeline/audit/judge-records.ts'
import { english } from '#report/languages/language.ts'
import { outlookView } from '#report/parts/outlook.ts'
import { temporaryFolder } from '#test/cli.ts'
import { labOf } from '#test/lab-audit.ts'
import { serviceEnvironment } from '#test/lambda.ts'

const MiB = 1024 ** 2
const hourMs = 3_600_000
const startMs = Date.parse('2026-11-21T05:00:00Z')
const full = 'ip-10-0-1-12.ec2.internal'

interface World {
  /** Moves the clock that the lab's kubelets and the audit share. */
  pass(durationMs: number): void
  elapsedMs(): number
  scenario: Scenario
  /** Requests of stats/summary, by node. */
  read: Map<string, number>
}

/** The incidents, in which one disk fills by that much a second while the clock goes. */
function growingWorld(bytesPerSecond: number): World {
  let elapsedMs = 0
  const read = new Map<string, number>()
  const withGrowth = (name: string, node: LabNode): LabNode => ({
    ...node,
    summary(at) {
      read.set(name, (read.get(name) ?? 0) + 1)
      const body = node.summary(at)
      return name === full ? fuller(body, (bytesPerSecond * elapsedMs) / 1000) : body
    },
  })
  const source = (nodes: NodeSource): NodeSource => ({
    ...nodes,
    node(name) {
      const node = nodes.node(name)
      return node && withGrowth(name, node)
    },
  })
  return {
    pass(durationMs) {
      elapsedMs += durationMs
    },
    elapsedMs: () => elapsedMs,
    read,
    scenario: {
      ...incidents,
      clusters: incidents.clusters
        .filter(({ name }) => name === 'incidents')
        .map(cluster => ({ ...cluster, nodes: source(cluster.nodes) })),
    },
  }
}

function fuller(summary: RawObject, bytes: number): RawObject {
  const body = structuredClone(summary) as {
    node: { fs: Filesystem; runtime: { imageFs: Filesystem } }
  } & RawObject
  for (const disk of [body.node.fs, body.node.runtime.imageFs]) {
    disk.availableBytes -= bytes
    disk.usedBytes += bytes
  }
  return body
}
interface Filesystem {
  availableBytes: number
  usedBytes: number
}

type Wait = number | 'no node' | null

async function auditTwice(
  world: World,
  {
    policy = {},
    remainingMs = 900_000,
    signal = new AbortController().signal,
    isKnown = false,
    stop = () => undefined,
  }: {
    policy?: Partial<Policy>
    remainingMs?: number
    signal?: AbortSignal
    isKnown?: boolean
    stop?: () => void
  } = {},
): Promise<{ nodes: AuditedNode[]; waits: Wait[] }> {
  await labOf([world.scenario])
  const waits: Wait[] = []
  const read = new Map<string, TakenNode>()
  const live = {
    policy: {
      ...defaultPolicy,
      pace: { ...defaultPolicy.pace, requestsPerSecond: 1000 },
      ...policy,
    },
    selection: everything,
    signal,
    now: () => new Date(startMs + world.elapsedMs()),
  }
  const secondReading = openSecondReading({
    ...live,
    remainingMs: () => remainingMs,
    onWait: (nodes, waitMs) => waits.push(nodes === 0 ? 'no node' : waitMs),
    async sleep(durationMs, until) {
      stop()
      until.throwIfAborted()
      world.pass(durationMs)
    },
  })
  const { nodes } = await judgeRecords(liveFleet({ ...live, onTarget: secondReading.expect }), {
    policy: live.policy,
    rules,
    snapshot: { write: async () => undefined },
    isEveryNodeNamed: true,
    secondReading,
    onNode: node => read.set(node.identity.name, node),
    earlier: async () => node => (isKnown ? grownBefore(read.get(node.identity.name)!) : null),
  })
  return { nodes, waits }
}

/** Readings of the days before, in each of which the node's disks grew. */
function grownBefore(node: TakenNode): NodeBefore | null {
  const series = withReading(null, node)
  if (series === null) return null
  const [{ nodefsUsedBytes, imagefsUsedBytes }] = series.readings as [FillReading]
  const readings = [3, 2, 1].map(days => ({
    at: new Date(Date.parse(node.at) - days * 86_400_000).toISOString(),
    nodefsUsedBytes: nodefsUsedBytes && nodefsUsedBytes - days * MiB,
    imagefsUsedBytes: imagefsUsedBytes && imagefsUsedBytes - days * MiB,
  }))
  const nothing = { images: [], imagesSince: null, rounds: [], happened: [], imageGC: null }
  return { ...nothing, at: readings.at(-1)!.at, fill: { ...series, readings } }
}

const nodeOf = ({ nodes }: { nodes: AuditedNode[] }, name: string) =>
  nodes.find(({ identity }) => identity.name === name)!

describe('the second reading of a run', () => {
  it('gives a first rate with its error, from growth between the readings', async () => {
    const world = growingWorld(MiB)
    const result = await auditTwice(world)
    expect(result.waits).toEqual([60_000])
    expect(world.elapsedMs()).toBe(60_000)
    const rate = (overMs: number) => (60 * MiB * hourMs) / overMs
    expect(nodeOf(result, full).growth).toEqual({
      nodefs: {
        isSeen: true,
        overMs: 60_000,
        readings: 2,
        falls: 0,
        bytesPerHour: { min: rate(75_000), median: rate(60_000), max: rate(45_000) },
      },
    })
    const [row] = outlookView({ nodes: [nodeOf(result, full)], assumptions }, english).rows
    // 409.6 MiB are left: at 1 MiB/s eviction is beyond four times the observation.
    expect(row).toMatchObject({
      state: english.words.next.left(english.bytes(409.6 * MiB), english.percent(2)),
    })
    expect(row?.note).toContain(`${english.bytes(60 * 60 * MiB)} an hour`)
  })

  it('foretells eviction within four times the observation only', async () => {
    const result = await auditTwice(growingWorld(3 * MiB))
    const { rows } = outlookView({ nodes: [nodeOf(result, full)], assumptions }, english)
    expect(rows[0]?.state).toBe(english.words.growth.about(english.duration(2 * 60_000)))
  })

  it('gives a disk that does not grow the rate 0, and one that became emptier none', async () => {
    const still = nodeOf(await auditTwice(growingWorld(0)), full).growth?.nodefs as ObservedGrowth
    expect(still.bytesPerHour).toEqual({ min: 0, median: 0, max: 0 })
    expect(nodeOf(await auditTwice(growingWorld(-MiB)), full).growth?.nodefs).toEqual({
      isSeen: false,
      why: 'emptier',
      readings: 2,
    })
  })

  it('reads the nodes with the least headroom again, and no others', async () => {
    const world = growingWorld(MiB)
    await auditTwice(world, { policy: { secondReadings: 1 } })
    expect([...world.read].filter(([, times]) => times > 1)).toEqual([[full, 2]])
  })

  it.each([
    {
      name: 'the policy wants none',
      options: { policy: { secondReadings: 0 } },
      waits: ['no node'],
    },
    { name: 'growth is known from earlier runs', options: { isKnown: true }, waits: ['no node'] },
    { name: 'too little time is left', options: { remainingMs: 96_000 }, waits: [null] },
  ])('reads nothing twice where $name', async ({ options, waits }) => {
    const world = growingWorld(MiB)
    const result = await auditTwice(world, options)
    expect(result.waits).toEqual(waits)
    expect(Math.max(0, ...world.read.values())).toBeLessThan(2)
    expect(result.nodes.every(({ growth }) => growth === undefined)).toBe(true)
  })

  it('is a part of a run of the function, and its rate stands in the report', async () => {
    const world = growingWorld(MiB)
    const storeFolder = temporaryFolder()
    await labOf([world.scenario], { storeFolder })
    Object.assign(process.env, serviceEnvironment)
    const answer = await handler(
      { clusters: ['incidents'] },
      {
        awsRequestId: 'growth',
        getRemainingTimeInMillis: () => 900_000,
        now: () => new Date(startMs + world.elapsedMs()),
        sleep: async durationMs => world.pass(durationMs),
      },
    )
    expect(answer.state).toBe('published')
    expect(world.elapsedMs()).toBe(60_000)
    expect([...world.read].filter(([, times]) => times > 1)).toEqual([[full, 2]])
    const run = join(storeFolder, 'highwater-lab', 'runs', answer.runId)
    const seen = english.words.growth.readings(2, english.duration(60_000), 0)
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain(seen)
  })

  it('does not wait for nodes that are read by scripts', async () => {
    const { nodes } = await auditTwice(growingWorld(MiB))
    const waits: number[] = []
    const secondReading = openSecondReading({
      policy: { ...defaultPolicy, modes: [{ match: {}, mode: 'ssm' }] },
      selection: everything,
      signal: new AbortController().signal,
      remainingMs: () => 900_000,
      onWait: nodes => waits.push(nodes),
    })
    for (const node of nodes) secondReading.take(node, { metadata: { name: node.identity.name } })
    expect(await secondReading.read(() => false)).toEqual(new Map())
    expect(waits).toEqual([0])
  })

  it('ends its wait with the deadline, and the report stands without rates', async () => {
    const controller = new AbortController()
    const result = await auditTwice(growingWorld(MiB), {
      signal: controller.signal,
      stop: () => controller.abort(new Error('deadline')),
    })
    expect(result.nodes.length).toBeGreaterThan(10)
    expect(result.nodes.every(({ growth }) => growth === undefined)).toBe(true)
  })
})

const assumptions = {
  growthPercent: 2,
  imageGcPeriodMs: 300_000,
  usdPerGiBMonth: 0.08,
  idleImageDays: 7,
  holders,
  mostUnpacking: 3.5,
}
