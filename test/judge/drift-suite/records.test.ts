/** The suite's own records: what is said of them must come from the drift alone. */
import { describe, expect, it } from 'vitest'
import type { RawObject } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagSettings, flagValue } from '#facts/kubelet/flag-settings.ts'
import type { NodeRecord, SnapshotRecord } from '#model/input/record.ts'
import { configzOf } from '#replay/configuration/configuration-file.ts'
import { kubeletFiles } from '#replay/configuration/kubelet-files.ts'
import { withFlags } from '#replay/configuration/next-start.ts'
import { configurationFromFiles } from '#replay/configuration/start-settings.ts'
import { prune } from '#snapshot/prune.ts'
import { replayOf as replay } from '#test/at-the-door.ts'
import { takenAt } from '#test/node-builder.ts'
import { suiteFamilies } from './image.ts'
import type { DriftKind } from './kind.ts'
import { cleanKinds, driftKinds } from './kinds.ts'
import { nodesOf } from './verdict.ts'

const kinds = [...driftKinds, ...cleanKinds]
const titled = (some: readonly DriftKind[]) =>
  some.map(kind => [`${kind.family}: ${kind.name}`, kind] as const)
const nodeRecords = (kind: DriftKind): NodeRecord[] =>
  kind.records().filter(record => record.kind === 'Node')
const nameOf = ({ node }: NodeRecord) => node.metadata?.name ?? ''

describe('the kinds', () => {
  it('are many, of every family and rule, and named once', () => {
    expect(driftKinds.length).toBeGreaterThanOrEqual(45)
    expect(cleanKinds.length).toBeGreaterThanOrEqual(45)
    expect(new Set(titled(kinds).map(([title]) => title)).size).toBe(kinds.length)
    expect(new Set(cleanKinds.map(({ family }) => family))).toEqual(new Set(suiteFamilies))
    for (const family of ['AL2', 'AL2023', 'Bottlerocket'] as const) {
      const rules = new Set(
        driftKinds.filter(kind => kind.family === family).map(({ expect }) => expect?.rule),
      )
      expect(rules.size).toBe(5)
    }
  })

  it.each(titled(driftKinds))('%s: expects only nodes that it has', (_, kind) => {
    expect(nodesOf(kind.records())).toEqual(expect.arrayContaining(kind.expect?.nodes ?? []))
  })
})

/** A real kubelet's, with much that nobody reads. */
const withoutSummary = (record: SnapshotRecord): SnapshotRecord =>
  record.kind === 'Node' ? { ...record, summary: null } : record

/** Only the node itself knows of its runtime and of when its kubelet first saw an image. */
const unasked = ['images', 'known.kubeletStartedAt', 'runtime']
const hasFiles = ({ host }: NodeRecord) => kubeletFiles(host ?? null).main !== null

describe('the records', () => {
  it.each(titled(kinds))('%s: keep everything when they are pruned', (_, kind) => {
    for (const record of kind.records())
      expect(withoutSummary(prune(record))).toEqual(withoutSummary(record))
  })

  it.each(titled(kinds))('%s: leave open what was not read, and nothing else', (_, kind) => {
    for (const record of nodeRecords(kind)) {
      const { unknowns, nextStart } = replay(prune(record), takenAt)
      // Without statistics no signal of what its files come to is observed, either.
      const onDisk = [
        'configuration',
        'eviction.allocatableMemory.available',
        'eviction.memory.available',
      ]
      const ofConfiguration = hasFiles(record)
        ? [...onDisk, 'eviction.nodefs.available', 'eviction.nodefs.inodesFree']
        : ['configz']
      const ofUnread =
        record.configz === null ? [...ofConfiguration, 'filesystems.layout', 'summary'] : []
      const ofFiles = hasFiles(record) ? [] : ['nextStart.files']
      const open = new Set(unknowns.map(({ what }) => what).filter(what => !unasked.includes(what)))
      expect([...open].toSorted()).toEqual([...ofUnread, ...ofFiles].toSorted())
      if (hasFiles(record)) expect(nextStart?.errors).toEqual([])
    }
  })
})

/** What the files and flags of a node come to, by the replay, which the records were not made with. */
function startOf(record: NodeRecord): RawObject | null {
  const kubeletVersion = record.node.status?.nodeInfo?.kubeletVersion ?? null
  const files = kubeletFiles(record.host ?? null)
  const readDropIns = flagValue(files.commandLine, 'config-dir') === null ? [] : files.dropIns
  const loaded = configurationFromFiles(
    { ...files, dropIns: readDropIns },
    { kubeletVersion, operatingSystem: 'linux' },
  )
  const features = featuresOf(kubeletVersion)
  return configzOf(withFlags(loaded, flagSettings(files.commandLine), features), features)
}

const isComparable = (record: NodeRecord) => hasFiles(record) && record.configz !== null

describe('the files on a disk', () => {
  const withFiles = kinds.filter(kind => nodeRecords(kind).some(isComparable))

  it.each(titled(withFiles))('%s: come to what runs, but where that is the drift', (_, kind) => {
    const changed =
      kind.expect?.rule === 'changed-not-restarted'
        ? (kind.expect.nodes ?? nodesOf(kind.records()))
        : []
    for (const record of nodeRecords(kind).filter(isComparable)) {
      if (changed.includes(nameOf(record)))
        expect(startOf(record)).not.toEqual(record.configz?.kubeletconfig)
      else expect(startOf(record)).toEqual(record.configz?.kubeletconfig)
    }
  })
})
