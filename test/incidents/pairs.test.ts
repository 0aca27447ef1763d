/** Two incidents on two nodes of one group: what is said of a node names nothing that is on the other one alone. */
import { expect, it } from 'vitest'
import type { StepAction } from '#model/finding.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import { english } from '#report/languages/language.ts'
import { causeOnNode, causesAndOutlook, stepsAlone } from '#report/parts/causes.ts'
import { isSlow } from '#test/slow.ts'
import { incidents } from './cases/index.ts'
import { judgedIncident } from './judged.ts'
import { images, nearMiss, users } from './short-forms.ts'
import { type NodeWorld, recordsOf } from './world.ts'

const lone = incidents.flatMap(({ name, cause, world: { nodes, objects } }) => {
  const [node] = nodes
  const isAlone = nodes.length === 1 && objects === undefined && cause !== null
  return isAlone && node?.nodegroup === undefined && node?.nodeClass === undefined
    ? [{ name, node: node as NodeWorld }]
    : []
})

/** Names of pods, workloads, images, and paths. */
const namesIn = ({ owner, pods = [], place, folders = [], images = [] }: StepAction): string[] => [
  ...[...pods, ...folders, ...images],
  ...(place === undefined ? [] : [place]),
  ...(owner === undefined ? [] : Object.values(owner)).flatMap(value =>
    typeof value === 'string' ? value.split(' ').slice(-1) : [],
  ),
]

/** Names in the steps of each node that stand in the record of the other node alone. */
async function foreignNames(nodes: NodeWorld[]) {
  const records = recordsOf({ nodes })
  const incident = { name: 'pair', thread: '', found: '', world: { nodes }, ...nearMiss }
  const { report } = await judgedIncident(incident, records)
  const { causes, outlook } = causesAndOutlook(report, english)
  const read = records.flatMap(record =>
    record.kind === 'Node'
      ? [{ name: record.node.metadata?.name, text: JSON.stringify(record) }]
      : [],
  )
  return outlook.rows.flatMap(row => {
    const cause = causes[row.cause ?? -1]
    if (cause === undefined) return []
    const own = read.find(({ name }) => name === row.name)!
    const other = read.find(({ name }) => name !== row.name)!
    return causeOnNode(cause, row)
      .steps.flatMap(({ action }) => namesIn(action))
      .filter(name => other.text.includes(name) && !own.text.includes(name))
      .map(foreign => ({ node: row.name, foreign }))
  })
}

it('names nothing of the other node', async () => {
  const wrong: unknown[] = []
  for (let index = 0; index < lone.length; index += isSlow ? 1 : 8) {
    const { name, node } = lone[index]!
    const other = lone[(index + 7) % lone.length]!
    const foreign = await foreignNames([node, other.node])
    if (foreign.length > 0) wrong.push({ name, other: other.name, foreign })
  }
  expect(lone.length).toBeGreaterThan(100)
  expect(wrong).toEqual([])
}, 120_000)

/** One workload fills the disk of each of these nodes. */
const alike = (count: number): NodeWorld[] =>
  Array.from({ length: count }, () => ({
    ...{ disk: { gib: 99.4, usedGib: 92.3 }, diskPressure: true },
    workloads: [...users(3), { namespace: 'query', owner: 'StatefulSet trino', layerGib: 63 }],
    held: { images: images(5, 0.9, 2.7) },
  }))

it('names pods of a workload on their own node only, and no workload as what is deleted', async () => {
  const nodes = alike(12)
  const incident = { name: 'alike', thread: '', found: '', world: { nodes }, ...nearMiss }
  const podOf = new Map<string, string>()
  const records = recordsOf({ nodes }).map(record => {
    if (record.kind !== 'Node') return record
    const known = record.pods?.find(({ metadata }) => metadata?.namespace === 'query')
    const name = known!.metadata!.name!
    const own = `${name.slice(0, -2)}${10 + podOf.size}`
    podOf.set(record.node.metadata!.name!, own)
    return JSON.parse(JSON.stringify(record).replaceAll(name, own)) as SnapshotRecord
  })
  const { report } = await judgedIncident(incident, records)
  const { causes, outlook } = causesAndOutlook(report, english)
  expect(new Set(podOf.values()).size).toBe(nodes.length)
  const texts = outlook.rows.map(row => ({
    pod: podOf.get(row.name)!,
    text: stepsAlone(causeOnNode(causes[row.cause!]!, row), english),
  }))
  const named = texts.filter(({ pod, text }) => text.includes(pod))
  expect(named.length).toBeGreaterThan(0)
  for (const { pod, text } of texts)
    for (const other of podOf.values()) if (other !== pod) expect(text).not.toContain(other)
  const others = texts.filter(({ pod, text }) => !text.includes(pod))
  expect(others.length).toBeGreaterThan(0)
  for (const { text } of others)
    expect(text).toContain('delete the pods of StatefulSet query/trino')
})

it('has few findings of many owners, and no owner of another node', async () => {
  const nodes = Array.from({ length: 24 }, (_, index): NodeWorld => {
    const owner = `Job build-${10 + index}`
    const [node] = alike(1)
    const workloads = [...users(3), { namespace: 'ci', owner, layerGib: 50 + index / 4 }]
    return { ...node!, workloads }
  })
  const incident = { name: 'jobs', thread: '', found: '', world: { nodes }, ...nearMiss }
  const { report } = await judgedIncident(incident)
  const due = report.document.findings.filter(({ rule }) => rule === 'eviction-due')
  expect(due.length).toBe(9)
  expect(new Set(due.map(({ id }) => id)).size).toBe(due.length)
  const { causes } = causesAndOutlook(report, english)
  const texts = report.nodes.flatMap(({ cluster, identity: { name } }, index) =>
    causes
      .filter(({ findings }) => findings.some(one => one.nodes.sample.includes(name)))
      .map(cause => ({
        own: `build-${10 + index}`,
        text: stepsAlone(causeOnNode(cause, { cluster, name }), english),
      })),
  )
  expect(texts.filter(({ own, text }) => text.includes(own)).length).toBeGreaterThan(8)
  for (const { own, text } of texts)
    for (const [job] of text.matchAll(/build-\d\d/g)) expect(job).toBe(own)
})
