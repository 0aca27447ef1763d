/** Each rule on what holds the disk, on a recorded node as a snapshot has it, and on its healthy twin. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import type { NodeBefore } from '#model/history.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { judgeRecords } from '#pipeline/audit/judge-records.ts'

const GiB = 2 ** 30
const at = '2026-11-21T00:00:00Z'
const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/real/single-disk-${name}.json`, import.meta.url), 'utf8'),
  )

interface Changes {
  /** Bytes by the folders that the node measured. */
  folders?: Record<string, number>
  orphanBytes?: number
  brokenLinks?: number
  missed?: number
  unusedImageBytes?: number
  inodesFree?: number
  diskSize?: number
  cleaners?: { path: string; command: string }[]
  /** Day since which earlier runs show the one unused image as unused. */
  unusedSince?: string
  /** GiB that are used now, and how many more each hour since yesterday. */
  grown?: { usedGib: number; perHour: number }
  /** DiskPressure began at earlier readings. */
  pressedHoursAgo?: number[]
}

/** 40 of 100 GiB are used, and the node measured all of them. */
const explained = { '/usr': 20 * GiB, '/var/log/pods': 10 * GiB, '/opt': 10 * GiB }
const holders: Record<string, string> = { '/usr': 'system', '/opt': 'system' }

function recordsOf(changes: Changes): SnapshotRecord[] {
  const { folders = explained, orphanBytes = 0, brokenLinks = 0, missed = 0 } = changes
  const { unusedImageBytes = 0, inodesFree = 900_000, diskSize = 100, cleaners = [] } = changes
  const node = recorded('node')
  node.metadata.labels['eks.amazonaws.com/nodegroup'] = 'workers'
  node.metadata.creationTimestamp = '2026-06-01T00:00:00Z'
  const summary = recorded('stats-summary')
  const usedBytes = (changes.grown?.usedGib ?? 40) * GiB
  const capacityBytes = 100 * GiB
  const availableBytes = capacityBytes - usedBytes
  const disk = { capacityBytes, availableBytes, inodes: 1_000_000, inodesFree }
  Object.assign(summary.node.fs, disk, { usedBytes })
  Object.assign(summary.node.runtime.imageFs, disk, { usedBytes: unusedImageBytes })
  Object.assign(summary.node.runtime.containerFs, disk, { usedBytes: 0 })
  const host = {
    cleaners,
    diskUse: {
      folders: Object.entries(folders).map(([path, bytes]) => ({
        ...{ path, bytes, inodes: 10, on: 'nodefs', holder: holders[path] ?? 'podLogs' },
      })),
      orphans: [{ path: '/var/log/pods/shop_web_gone', bytes: orphanBytes }],
      snapshots: [{ use: 'unused', count: 1, bytes: unusedImageBytes, inodes: 1 }],
      ...{ deletedFiles: [], brokenLinks, missed },
    },
  }
  const runtime = {
    images: [{ id: 'sha256:a', repoTags: ['rank:1'], size: String(unusedImageBytes) }],
    ...{ containers: [], sandboxes: [] },
  }
  const volumes = [
    { VolumeId: 'vol-1', Device: '/dev/xvda', VolumeType: 'gp3', Size: 100, Iops: 3000 },
  ]
  const nodegroups = [{ nodegroupName: 'workers', amiType: 'AL2023_x86_64_STANDARD', diskSize }]
  const sources = { configz: recorded('configz'), summary, pods: [], host, runtime, volumes }
  return [
    { kind: 'Snapshot', schema: 'highwater.snapshot/1', takenAt: at, account: null, region: null },
    { kind: 'Cluster', cluster: 'prod', nodegroups },
    { kind: 'Node', cluster: 'prod', at, mode: 'both', node, ...sources },
  ] as SnapshotRecord[]
}

async function* arriving(records: SnapshotRecord[]) {
  yield* records
}

/** Readings of a day ago and of half a day ago. */
function fillOf({ grown }: Changes): NodeBefore['fill'] {
  if (grown === undefined) return null
  const capacities = { nodefsCapacityBytes: 100 * GiB, imagefsCapacityBytes: null }
  return {
    ...{ bootId: recorded('node').status.nodeInfo.bootID, layout: 'shared', ...capacities },
    ...{ evictedAt: [] },
    readings: [24, 12].map(hoursAgo => ({
      at: new Date(Date.parse(at) - hoursAgo * 3_600_000).toISOString(),
      nodefsUsedBytes: (grown.usedGib - hoursAgo * grown.perHour) * GiB,
      imagefsUsedBytes: null,
    })),
  }
}

async function judged(changes: Changes) {
  const { unusedImageBytes = 0, unusedSince, grown, pressedHoursAgo } = changes
  const happened = (pressedHoursAgo ?? []).map(hours => ({
    at: new Date(Date.parse(at) - hours * 3_600_000).toISOString(),
    ...{
      what: 'condition' as const,
      subject: 'DiskPressure',
      message: '',
      status: 'True' as const,
    },
  }))
  const before: NodeBefore | null =
    unusedSince === undefined && grown === undefined && pressedHoursAgo === undefined
      ? null
      : {
          at: '2026-11-20T00:00:00Z',
          images: unusedSince === undefined ? [] : [['rank:1', unusedImageBytes, unusedSince]],
          ...{ imagesSince: unusedSince ?? null, rounds: [], happened, imageGC: null },
          fill: fillOf(changes),
        }
  return judgeRecords(arriving(recordsOf(changes)), {
    ...{ policy: defaultPolicy, rules, isEveryNodeNamed: true },
    snapshot: { write: async () => undefined },
    earlier: async () => () => before,
  })
}

async function stateOf(rule: string, changes: Changes): Promise<string> {
  const { result } = await judged(changes)
  if (result.findings.some(finding => finding.rule === rule)) return 'fail'
  return result.unknowns.some(unknown => unknown.rule === rule) ? 'unknown' : 'pass'
}

const images = { folders: { '/usr': 10 * GiB }, unusedImageBytes: 30 * GiB }
const job = { path: '/etc/cron.d/clean', command: 'crictl rmi --prune' }

it.each<{ rule: string; changes: Changes; is: string }>([
  { rule: 'unexplained-disk-use', changes: { folders: { '/usr': 20 * GiB } }, is: 'fail' },
  { rule: 'unexplained-disk-use', changes: {}, is: 'pass' },
  {
    rule: 'unexplained-disk-use',
    changes: { folders: { '/usr': 20 * GiB }, missed: 1 },
    is: 'unknown',
  },
  { rule: 'log-debris', changes: { orphanBytes: 3 * GiB }, is: 'fail' },
  { rule: 'log-debris', changes: { brokenLinks: 30 }, is: 'fail' },
  { rule: 'log-debris', changes: {}, is: 'pass' },
  { rule: 'inode-growth', changes: { inodesFree: 300_000 }, is: 'fail' },
  { rule: 'inode-growth', changes: {}, is: 'pass' },
  { rule: 'disk-differs-from-node-class', changes: { diskSize: 200 }, is: 'fail' },
  { rule: 'disk-differs-from-node-class', changes: {}, is: 'pass' },
  { rule: 'foreign-cleaner', changes: { cleaners: [job] }, is: 'fail' },
  { rule: 'foreign-cleaner', changes: {}, is: 'pass' },
  { rule: 'idle-images', changes: { ...images, unusedSince: '2026-11-14' }, is: 'fail' },
  { rule: 'idle-images', changes: { ...images, unusedSince: '2026-11-15' }, is: 'unknown' },
  { rule: 'idle-images', changes: images, is: 'unknown' },
  { rule: 'idle-images', changes: { unusedSince: '2026-11-14' }, is: 'pass' },
  { rule: 'disk-nearly-full', changes: { grown: { usedGib: 70, perHour: 2 } }, is: 'fail' },
  { rule: 'disk-nearly-full', changes: { grown: { usedGib: 70, perHour: 0.5 } }, is: 'pass' },
  { rule: 'repeated-pressure', changes: { pressedHoursAgo: [9, 6, 3] }, is: 'fail' },
  { rule: 'repeated-pressure', changes: { pressedHoursAgo: [9, 6] }, is: 'unknown' },
])('$rule with $changes: $is', async ({ rule, changes, is }) => {
  expect(await stateOf(rule, changes)).toBe(is)
})

it('names the EBS volumes of the node: id, type, size and IOPS', async () => {
  const { result, nodes } = await judged({ diskSize: 200 })
  const finding = result.findings.find(({ rule }) => rule === 'disk-differs-from-node-class')
  expect(finding?.evidence.at(-1)).toEqual({
    ...{ kind: 'object', what: 'EBS volume /dev/xvda' },
    value: 'gp3, 100.0 GiB, 3000 IOPS',
  })
  // The ledger that the page shows for the node has the id.
  expect(nodes[0]?.details().ledger?.volumes).toEqual([
    { volumeId: 'vol-1', device: '/dev/xvda', type: 'gp3', sizeBytes: 100 * GiB, iops: 3000 },
  ])
})
