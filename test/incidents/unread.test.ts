/** The same incidents with less evidence: what was not read is never called a cause. */
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import type { Cause } from '#model/finding.ts'
import type { NodeRecord, SnapshotRecord } from '#model/input/record.ts'
import { isSlow } from '#test/slow.ts'
import { incidents as all } from './cases/index.ts'
import { judgedIncident } from './judged.ts'
import { recordsOf } from './world.ts'

const incidents = isSlow ? all : all.filter((_, index) => index % 16 === 0)

const less: Record<string, (record: NodeRecord) => void> = {
  'statistics of pods': ({ summary }) => {
    if (summary !== undefined) (summary as RawObject).pods = []
  },
  'an image filesystem': ({ summary }) => {
    const stats = summary as { node: RawObject } | undefined
    if (stats !== undefined) stats.node.runtime = undefined
  },
  'a count of snapshots beside that of the disk': ({ summary }) => {
    const stats = summary as { node: { fs: RawObject; runtime?: RawObject } } | undefined
    if (stats !== undefined) stats.node.runtime = { imageFs: { ...stats.node.fs } }
  },
  'a list of images': ({ node }) => {
    ;(node.status as RawObject).images = []
  },
}

/** As the API alone shows it, without this evidence. */
function recordsWithout(
  { nodes, ...world }: (typeof incidents)[number]['world'],
  take: (record: NodeRecord) => void,
): SnapshotRecord[] {
  const records = recordsOf({ ...world, nodes: nodes.map(node => ({ ...node, mode: 'proxy' })) })
  for (const record of records) if (record.kind === 'Node') take(record)
  return records
}

it('no memory and no process is outside of pods, if pods lack statistics', async () => {
  const half = ({ summary }: NodeRecord) => {
    const stats = summary as { pods: object[] } | undefined
    stats?.pods.splice(0, Math.ceil(stats.pods.length / 2))
  }
  const named: string[] = []
  for (const incident of incidents) {
    const { document } = await judgedIncident(incident, recordsWithout(incident.world, half))
    if (document.findings.some(({ cause }) => isOutside(cause))) named.push(incident.name)
  }
  expect(named).toEqual([])
})

it('nothing is beside volumes, if layers and logs were not measured', async () => {
  const unmeasured = ({ summary }: NodeRecord) => {
    for (const { containers } of (summary as { pods: { containers: RawObject[] }[] } | undefined)
      ?.pods ?? [])
      for (const container of containers) {
        container.rootfs = undefined
        container.logs = undefined
      }
  }
  const named: string[] = []
  for (const incident of incidents) {
    const { document } = await judgedIncident(incident, recordsWithout(incident.world, unmeasured))
    const isNamed = document.findings.some(
      ({ cause }) => cause.kind === 'holder' && cause.holder === 'pod-folders',
    )
    if (isNamed) named.push(incident.name)
  }
  expect(named).toEqual([])
})

it.each([{ without: ['pods'] as const }, { unread: ['summary'] as const }])(
  'files beside volumes are in no volume: %j',
  async hidden => {
    const named: string[] = []
    for (const incident of all) {
      const isBeside = incident.cause?.some(
        one => one.kind === 'holder' && one.holder === 'pod-folders',
      )
      const isMeasured = incident.world.nodes.every(({ mode }) => mode === undefined)
      if (isBeside !== true || !isMeasured) continue
      const nodes = incident.world.nodes.map(node => ({ ...node, ...hidden }))
      const records = recordsOf({ ...incident.world, nodes })
      const { document } = await judgedIncident(incident, records)
      const isNamed = document.findings.some(
        ({ cause }) => cause.kind === 'holder' && cause.holder === 'pod-volumes',
      )
      if (isNamed) named.push(incident.name)
    }
    expect(named).toEqual([])
  },
)

it('a pressure of memory is named without statistics', async () => {
  const silent: string[] = []
  for (const incident of all) {
    if (!incident.world.nodes.every(node => node.memoryPressure === true)) continue
    const nodes = incident.world.nodes.map(node => ({ ...node, unread: ['summary'] as const }))
    const { document } = await judgedIncident(incident, recordsOf({ ...incident.world, nodes }))
    const isNamed = document.findings.some(
      ({ seen = '', severity }) => severity === 'critical' && seen.includes('MemoryPressure'),
    )
    if (!isNamed) silent.push(incident.name)
  }
  expect(silent).toEqual([])
})

/** What the kubelet measures of itself and of the runtime is known. */
const isOutside = (cause: Cause) =>
  cause.kind === 'world' && cause.event.endsWith('-outside-pods') && cause.subject === null

describe.each(Object.entries(less))('without %s', (_, take) => {
  it('no incident is a leak of snapshots', async () => {
    const leaks: string[] = []
    for (const incident of incidents) {
      const { document } = await judgedIncident(incident, recordsWithout(incident.world, take))
      const isLeak = document.findings.some(
        ({ cause }) => cause.kind === 'holder' && cause.holder === 'not-images',
      )
      if (isLeak) leaks.push(incident.name)
    }
    expect(leaks).toEqual([])
  })
})
