/** No secret that stands in an input reaches an output: canaries in every field of every kind of record, looked for in everything that is written. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { byText } from '#base/text.ts'
import { garbage } from '#lab/scenarios/garbage.ts'
import { incidents } from '#lab/scenarios/incidents.ts'
import { alwaysFormats, moreFormats } from '#model/format-id.ts'
import { hostShape, runtimeShape } from '#model/input/inspection.ts'
import {
  eksClusterShape,
  everything,
  insightShape,
  knownShape,
  nodegroupShape,
  snapshotSchema,
  summaryShape,
  volumeShape,
} from '#model/input/record.ts'
import type { Shape } from '#model/input/shape.ts'
import { defaultPolicy } from '#model/policy.ts'
import { liveFleet } from '#pipeline/audit/fleet.ts'
import { measuredHolders } from '#replay/ledger/folder-space.ts'
import { formatsWith } from '#report/formats/index.ts'
import {
  garbageShapes,
  launchTemplateShape,
  nodeShape,
  objectShape,
  podShape,
} from '#snapshot/shapes.ts'
import { Canaries, canariesIn, formCount } from '#test/canaries.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { inspectDocuments, withAgents } from '#test/inspected.ts'
import { labOf } from '#test/lab-audit.ts'
import { textsBelow } from '#test/texts.ts'

const generous = { timeout: 240_000 }

/** Fields that no canary is planted in, with the reason. */
const keptFields: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'name namespace uid generateName nodeName claimName volumeName nodegroupName clusterName cluster podSandboxId'
      .split(' ')
      .map(field => [
        field,
        'identifiers: the API restricts them to names, and records are joined by them',
      ]),
  ),
  ...Object.fromEntries(
    'kind apiVersion schema mode what resource'
      .split(' ')
      .map(field => [field, 'says what the record is; another value makes it another record']),
  ),
  at: 'a record with another time than one is refused whole',
  sha256: 'compared with the hash that an approved plan names',
  certificateAuthority: 'the public certificate of the CA, with which the cluster is read',
  data: 'of certificateAuthority',
}

/** Everything that a lab answers, as the collectors hand it on. */
async function liveRecords(): Promise<RawObject[]> {
  const { clusters } = withAgents(incidents)
  await labOf([{ ...incidents, clusters }, garbage], { documents: inspectDocuments })
  const policy = {
    ...defaultPolicy,
    pace: { requestsPerSecond: 1000, concurrency: 20, clusters: 4, ssmRequestsPerSecond: 500 },
    timeoutsMs: { ...defaultPolicy.timeoutsMs, inspect: 5000 },
    modes: [{ match: {}, mode: 'both' as const }],
  }
  const { signal } = new AbortController()
  const records: RawObject[] = []
  for await (const record of liveFleet({ policy, selection: everything, signal }))
    records.push(JSON.parse(JSON.stringify(record)))
  // They come in any order. Each field has the same notation in each run.
  return records.toSorted((a, b) => byText(keyOf(a), keyOf(b)))
}

const keyOf = ({ kind, cluster, resource, node, items }: RawObject): string =>
  JSON.stringify([kind, cluster, resource, isRawObject(node) && node.metadata, items])

/** Read from live clusters only where they have such objects. */
const otherResources = ['poddisruptionbudgets.policy', 'events', ...Object.keys(garbageShapes)]

/** One record of each kind with every field that is kept, each text with a canary. */
function filledRecords(
  canaries: Canaries,
  resources: readonly string[],
  clusterName = 'filled',
): RawObject[] {
  const filled = (shape: Shape, path: string) => canaries.filled(shape, path) as RawObject
  const errors = [{ what: 'host', message: canaries.next('filled errors') }]
  const node = filled(nodeShape, 'filled Node.node')
  return [
    {
      ...{ kind: 'Cluster', cluster: clusterName, errors },
      eks: filled(eksClusterShape, 'filled Cluster.eks'),
      nodegroups: [filled(nodegroupShape, 'filled Cluster.nodegroups')],
      launchTemplates: [filled(launchTemplateShape, 'filled Cluster.launchTemplates')],
      insights: [filled(insightShape, 'filled Cluster.insights')],
    },
    {
      ...{ kind: 'Node', cluster: clusterName, mode: 'both', errors, node },
      configz: { kubeletconfig: filled(true, 'filled Node.configz') },
      summary: filled(summaryShape, 'filled Node.summary'),
      pods: [filled(podShape, 'filled Node.pods')],
      runtime: filled(runtimeShape, 'filled Node.runtime'),
      host: filled(hostShape, 'filled Node.host'),
      known: filled(knownShape, 'filled Node.known'),
      volumes: [filled(volumeShape, 'filled Node.volumes')],
    },
    ...resources.map(resource => ({
      ...{ kind: 'Objects', cluster: clusterName, resource },
      items: [filled(objectShape(resource), `filled ${resource}`)],
    })),
  ]
}

/** As the inspect document and the kubelet's log would have it: paths and images with canaries, where rules and ledger read on. */
function measuredHost(canaries: Canaries): RawObject {
  const path = (where: string) => `/var/lib/x ${canaries.next(where)}`
  // As klog quotes a value.
  const image = JSON.stringify(canaries.next('log imageID')).slice(1, -1)
  const { logrotate, logrotateRuns, logs, podLogDirectories } = canaries.filled(
    hostShape,
    'measured host',
  ) as RawObject
  return {
    ...{ logrotate, logrotateRuns, logs, podLogDirectories },
    diskUse: {
      folders: measuredHolders.map(holder => ({
        ...{ holder, path: path(`diskUse.folders ${holder}`), on: 'nodefs' },
        ...{ bytes: 40e9, inodes: 9e5 },
      })),
      snapshots: [{ use: 'image', count: 3, bytes: 5e9, inodes: 1e5 }],
      orphans: [{ path: path('diskUse.orphans'), bytes: 4e9 }],
      deletedFiles: [{ on: 'nodefs', files: 3, bytes: 4e9 }],
      missed: 0,
    },
    logLines: [
      `2026-11-18T09:00:00.000000+0000 n kubelet[1]: "Removing image to free bytes" imageID="${image}" size=1000`,
      `E1118 09:00:00 kubelet.go:1] "Failed" err="${canaries.next('log err')}"`,
    ],
  }
}

/** What real objects carry beside what the lab makes. */
function withHidden(record: RawObject, canaries: Canaries, path: string): RawObject {
  const hidden = (value: unknown, where: string): unknown =>
    isRawObject(value)
      ? { ...value, ...canaries.hiddenIn(where), metadata: hiddenMetadata(value.metadata, where) }
      : value
  const hiddenMetadata = (metadata: unknown, where: string) =>
    isRawObject(metadata) ? { ...metadata, ...canaries.hiddenIn(`${where}.metadata`) } : metadata
  const errors = Array.isArray(record.errors) ? record.errors : []
  const planted: RawObject = { ...record }
  if (record.kind !== 'Snapshot' && record.kind !== 'Objects')
    planted.errors = [...errors, { what: 'summary', message: canaries.next(`${path}.errors`) }]
  if (record.kind === 'Objects' && Array.isArray(record.items))
    planted.items = record.items.map((item, index) => hidden(item, `${path}.items[${index}]`))
  if (record.kind === 'Node') {
    planted.node = hidden(record.node, `${path}.node`)
    if (Array.isArray(record.pods))
      planted.pods = record.pods.map(pod =>
        withFailure(hidden(pod, `${path}.pods`), canaries, path),
      )
    if (isRawObject(record.host)) {
      const unread = Array.isArray(record.host.unread) ? record.host.unread : []
      planted.host = {
        ...measuredHost(canaries),
        ...record.host,
        unread: [...unread, { what: 'kernel', why: canaries.next(`${path}.unread.why`) }],
      }
    }
  }
  return planted
}

/** A pod whose image cannot be pulled: the message quotes the URL of the layer. */
function withFailure(pod: unknown, canaries: Canaries, path: string): unknown {
  if (!isRawObject(pod) || !isRawObject(pod.status)) return pod
  const statuses = Array.isArray(pod.status.containerStatuses) ? pod.status.containerStatuses : []
  const waiting = (where: string) => ({
    reason: 'ImagePullBackOff',
    message: `Back-off pulling image: failed to copy: httpReadSeeker: ${canaries.next(`${path}.${where}`)}`,
  })
  return {
    ...pod,
    status: {
      ...pod.status,
      message: canaries.next(`${path}.status.message`),
      containerStatuses: statuses.map(status => ({
        ...(status as RawObject),
        state: { waiting: waiting('waiting') },
        lastState: { terminated: { message: canaries.next(`${path}.terminated`), exitCode: 1 } },
      })),
    },
  }
}

/** The records a day later: every second image is gone, and a pod was evicted. */
function nextDay(records: readonly RawObject[], canaries: Canaries): RawObject[] {
  const after = (at: unknown, hours: number) =>
    new Date(Date.parse(String(at)) + hours * 3_600_000).toISOString()
  return records.map(record => {
    const at = typeof record.at === 'string' ? { at: after(record.at, 24) } : {}
    const later = { ...record, ...at }
    if (record.kind !== 'Node' || !isRawObject(record.runtime) || !record.at) return later
    const images = Array.isArray(record.runtime.images) ? record.runtime.images : []
    const kept = images.filter((_, index) => index % 2 === 1)
    const pods = Array.isArray(record.pods) ? record.pods : []
    return {
      ...{ ...later, pods: [...pods, evictedPod(canaries, after(record.at, 20))] },
      runtime: { ...record.runtime, images: kept },
    }
  })
}

const evictedPod = (canaries: Canaries, time: string): RawObject => ({
  metadata: { namespace: 'shop', name: 'evicted', uid: 'evicted' },
  spec: { containers: [] },
  status: {
    ...{ phase: 'Failed', reason: 'Evicted', message: canaries.next('eviction message') },
    conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: time }],
  },
})

interface Snapshots {
  snapshot: string
  /** The same fleet, with canaries in no value that a plan reads. */
  plannable: string
  later: string
  /** A node whose images and log were read. */
  node: string
}

async function outputsOf({
  snapshot,
  plannable,
  later,
  node,
}: Snapshots): Promise<[string, string][]> {
  const folder = temporaryFolder()
  const common = ['--snapshot', snapshot]
  const runs: Record<string, string[]> = {
    audit: [
      'audit',
      ...common,
      '--out',
      join(folder, 'out'),
      '--store',
      join(folder, 'store'),
      '--outputs',
      moreFormats.join(','),
      '--all-nodes',
    ],
    again: [
      'audit',
      ...common,
      '--out',
      join(folder, 'again'),
      '--store',
      join(folder, 'store'),
      '--format',
      'markdown',
    ],
    predict: ['predict', ...common],
    'predict --format json': ['predict', ...common, '--format', 'json'],
    plan: [
      'plan',
      '--snapshot',
      plannable,
      '--set',
      'imageGCLowThresholdPercent=70',
      '--out',
      join(folder, 'plan.json'),
    ],
    later: [
      'audit',
      '--snapshot',
      later,
      '--out',
      join(folder, 'later'),
      '--store',
      join(folder, 'store'),
    ],
    history: ['history', '--store', join(folder, 'store')],
    'history NODE': ['history', node, '--store', join(folder, 'store')],
  }
  const printed: [string, string][] = []
  for (const [name, args] of Object.entries(runs)) {
    const { stdout, stderr } = await inProcess(args)
    printed.push([`${name} stdout`, stdout], [`${name} stderr`, stderr])
  }
  const diff = await inProcess(['diff', snapshot, join(folder, 'out', 'snapshot.ndjson.gz')])
  printed.push(['diff stdout', diff.stdout], ['diff stderr', diff.stderr])
  return [...printed, ...textsBelow(folder)]
}

function inspectedNode(records: readonly RawObject[]): string {
  const names = records
    .filter(({ kind, runtime }) => kind === 'Node' && isRawObject(runtime))
    .map(({ node }) => (node as { metadata: { name: string } }).metadata.name)
  return names[0] ?? ''
}

it('a canary in any field of any input is in no output', generous, async () => {
  const canaries = new Canaries(field => Object.hasOwn(keptFields, field))
  const records = await liveRecords()
  const perKind = new Map<string, number>()
  const planted = records.map(record => {
    const kind = `${record.kind} ${record.resource ?? ''}`.trim()
    const seen = (perKind.get(kind) ?? 0) + 1
    perKind.set(kind, seen)
    // The first record of each kind is full of them; in the others most fields still mean something.
    const every = seen === 1 ? 1 : 13
    return canaries.plant(withHidden(record, canaries, kind), every, kind)
  })
  const header = { kind: 'Snapshot', schema: snapshotSchema, takenAt: '2026-11-18T09:30:00Z' }
  const resources = [...new Set(records.flatMap(({ resource }) => String(resource ?? '') || []))]
  const beforeFilled = canaries.count
  const lines = [
    header,
    ...planted.filter(({ kind }) => kind !== 'Snapshot'),
    ...filledRecords(canaries, [...new Set([...resources, ...otherResources])]),
    { kind: canaries.next('unknown kind') },
  ]
  const filledCount = canaries.count - beforeFilled
  const written = (name: string, all: readonly object[]) => {
    const path = join(temporaryFolder(), name)
    writeFileSync(path, all.map(line => JSON.stringify(line)).join('\n'))
    return path
  }
  const snapshot = written('planted.ndjson', lines)
  const hidden = records
    .filter(({ kind }) => kind !== 'Snapshot')
    .map(record => withHidden(record, canaries, `hidden ${record.kind}`))
  const plannable = written('hidden.ndjson', [header, ...hidden])

  const later = written(
    'later.ndjson',
    nextDay(lines, canaries).map(line =>
      line.kind === 'Snapshot' ? { ...line, takenAt: '2026-11-19T09:30:00Z' } : line,
    ),
  )
  const outputs = await outputsOf({ snapshot, plannable, later, node: inspectedNode(records) })
  const leaks = outputs.flatMap(([name, text]) =>
    canariesIn(text).map(canary => `${name}: ${canary} of ${canaries.pathOf(canary)}`),
  )
  expect(leaks).toEqual([])
  // What is searched is there: no command failed early, no file is empty.
  const isSilent = (name: string) => name.endsWith('stderr')
  expect(outputs.filter(([name, text]) => text.length < 20 && !isSilent(name))).toEqual([])
  const names = outputs.map(([name]) => name)
  expect(names).toEqual(
    expect.arrayContaining(['/out/snapshot.ndjson.gz', '/plan.json', '/again/report.html']),
  )
  expect(names.filter(name => name.startsWith('/store/')).length).toBeGreaterThan(0)
  const files = formatsWith(moreFormats).map(({ name }) => `/out/${name}`)
  expect(files.length).toBe(alwaysFormats.length + moreFormats.length)
  expect(names).toEqual(expect.arrayContaining(files))
  const told = outputs.find(([name]) => name === 'history NODE stdout')?.[1] ?? ''
  expect(told).toMatch(/evicted shop\/evicted/)
  expect(told).toMatch(/deleted image/)
  expect(filledCount).toBeGreaterThan(400)
  expect(canaries.count).toBeGreaterThan(10_000)
  expect(canaries.isComplete).toBe(true)
  expect([...perKind.keys()]).toEqual(expect.arrayContaining(['Node', 'Cluster', 'Objects events']))
  // The report says something: the texts around the canaries are there.
  expect(outputs.filter(([, text]) => text.includes('(removed)')).length).toBeGreaterThan(5)
})

it('each notation of a secret is removed from each field', generous, async () => {
  const header = { kind: 'Snapshot', schema: snapshotSchema, takenAt: '2026-11-18T09:30:00Z' }
  const lines: object[] = [header]
  let planted = 0
  for (let form = 0; form < formCount; form += 1) {
    const canaries = new Canaries(field => Object.hasOwn(keptFields, field), form)
    lines.push(...filledRecords(canaries, otherResources, `filled-${form}`))
    planted += canaries.count
  }
  const folder = temporaryFolder()
  const snapshot = join(folder, 'planted.ndjson')
  writeFileSync(snapshot, lines.map(line => JSON.stringify(line)).join('\n'))
  const out = join(folder, 'out')
  const { stdout, stderr } = await inProcess(['audit', '--snapshot', snapshot, '--out', out])
  const outputs = [['stdout', stdout], ['stderr', stderr], ...textsBelow(out)] as const
  const leaks = outputs.flatMap(([name, text]) =>
    canariesIn(text).map(
      canary =>
        `${name}: ${text.slice(Math.max(0, text.indexOf(canary) - 60), text.indexOf(canary) + 20)}`,
    ),
  )
  expect(leaks).toEqual([])
  expect(planted).toBeGreaterThan(400 * formCount)
})
