/** Snapshots of recorded nodes, as files: a test names only what differs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from './cli.ts'

const recorded = (name: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/real/${name}.json`, import.meta.url), 'utf8'))

export interface SavedNode {
  name: string
  /** Fields of its running configuration. */
  configuration?: Record<string, unknown>
  /** Sources that could not be read. */
  unread?: string[]
  /** Of its one disk of 3.9 GiB. Default: 61. */
  usedPercent?: number
  bootId?: string
  kubeletVersion?: string
  /** Pods of namespace `shop`, with the time of their eviction. */
  evicted?: Record<string, string>
  /** What was low when they were evicted. */
  low?: string
}

/** A recorded node of nodegroup `workers` in cluster `prod`. */
function savedNode({
  name,
  configuration = {},
  unread = [],
  usedPercent = 61,
  bootId,
  kubeletVersion,
  evicted = {},
  low = 'ephemeral-storage',
}: SavedNode): object {
  const node = recorded('single-disk-node')
  node.metadata.name = name
  node.metadata.labels['eks.amazonaws.com/nodegroup'] = 'workers'
  const configz = recorded('single-disk-configz')
  Object.assign(configz.kubeletconfig, configuration)
  if (kubeletVersion !== undefined) node.status.nodeInfo.kubeletVersion = kubeletVersion
  if (bootId !== undefined) node.status.nodeInfo.bootID = bootId
  const summary = recorded('single-disk-stats-summary')
  for (const disk of [
    summary.node.fs,
    summary.node.runtime.imageFs,
    summary.node.runtime.containerFs,
  ])
    disk.availableBytes = Math.round(disk.capacityBytes * (1 - usedPercent / 100))
  const pods = [
    ...recorded('single-disk-pods').items,
    ...Object.entries(evicted).map(([pod, at]) => evictedPod(pod, at, low)),
  ]
  const sources = { configz, summary, pods }
  const read = Object.entries(sources).map(([what, value]) => [
    what,
    unread.includes(what) ? null : value,
  ])
  return {
    kind: 'Node',
    cluster: 'prod',
    node,
    ...Object.fromEntries(read),
    errors: unread.map(what => ({ what, message: 'HTTP 503: connection refused' })),
  }
}

const evictedPod = (name: string, at: string, low: string) => ({
  metadata: { namespace: 'shop', name, uid: name },
  spec: { containers: [{ name: 'app', image: 'app' }] },
  status: {
    ...{ phase: 'Failed', reason: 'Evicted' },
    message: `The node was low on resource: ${low}.`,
    conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: at }],
  },
})

interface SnapshotOptions {
  /** RFC 3339. */
  takenAt?: string
  name?: string
}

/** The path of a snapshot with these nodes; a text is a line as it is. Gzipped where its name ends in .gz. */
export function savedSnapshot(
  nodes: (SavedNode | string)[],
  { takenAt = '2026-11-20T07:00:00Z', name = 'snapshot.ndjson' }: SnapshotOptions = {},
): string {
  const path = join(temporaryFolder(), name)
  const lines = [
    { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt, account: null, region: null },
    { kind: 'Cluster', cluster: 'prod', errors: [] },
    ...nodes.map(node => (typeof node === 'string' ? node : savedNode(node))),
  ]
  const text = lines
    .map(line => (typeof line === 'string' ? line : JSON.stringify(line)))
    .join('\n')
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text)
  return path
}
