import { describe, expect, it } from 'vitest'
import { firstVictims, openAuditedPredictions } from '#judge/run/kept-prediction.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import type { EvictionPrediction, NodePrediction } from '#model/prediction.ts'
import { inputOf } from '#test/at-the-door.ts'
import { calmEviction, exampleSubject, hard, type NodeExample } from '#test/example.ts'
import { buildNode, type NodeOptions } from '#test/node-builder.ts'

function audited(options: NodeOptions = {}, shown = openAuditedPredictions()) {
  const { record, prediction } = buildNode(options)
  return shown(nodeSubject(inputOf(record), prediction), prediction)
}
const settingsOf = (options: NodeOptions = {}) => audited(options).settings
const identity = (change: NonNullable<NodeExample['identity']>): NodeOptions => ({
  identity: change,
})

describe('the settings of a node', () => {
  it.each([
    ['v1.34.1-eks-0000000', '1.34'],
    ['v1.99.0', '1.99'],
    ['not a version', null],
  ])('of kubelet %s name its minor', (kubeletVersion, kubeletMinor) => {
    expect(settingsOf(identity({ kubeletVersion }))).toMatchObject({ kubeletMinor })
  })

  it('have the hard defaults of that minor, and none where it is not known', () => {
    expect(settingsOf(identity({ kubeletVersion: 'v1.29.0' })).hardDefaults).not.toHaveProperty([
      'imagefs.inodesFree',
    ])
    expect(settingsOf().hardDefaults).toMatchObject({
      'imagefs.inodesFree': '5%',
      'imagefs.available': '15%',
    })
    expect(settingsOf(identity({ kubeletVersion: null })).hardDefaults).toBeNull()
  })

  it('tell image GC as configured, its defaults, and where it likely is from', () => {
    expect(settingsOf().imageGC).toEqual([
      {
        field: 'imageGCHighThresholdPercent',
        value: '80',
        preset: '85',
        origin: { source: 'configured', certainty: 'certain', path: null },
      },
      {
        field: 'imageGCLowThresholdPercent',
        value: '70',
        preset: '80',
        origin: { source: 'configured', certainty: 'certain', path: null },
      },
      {
        field: 'imageMinimumGCAge',
        value: '2m0s',
        preset: '2m0s',
        origin: { source: 'upstream default', certainty: 'likely', path: null },
      },
      {
        field: 'imageMaximumGCAge',
        value: '0s',
        preset: '0s',
        origin: { source: 'upstream default', certainty: 'likely', path: null },
      },
    ])
  })

  it('name what is written down and does not run', () => {
    const configuration = {
      evictionHard: {
        'nodefs.available': '10Gi',
        'imagefs.available': '0%',
        'containerfs.available': '1Gi',
      },
      evictionSoft: { 'memory.available': '100%' },
    }
    expect(settingsOf({ configuration, thresholds: [hard('nodefs.available', 10)] }).off).toEqual([
      { signal: 'imagefs.available', hard: true, value: '0%' },
      { signal: 'memory.available', hard: false, value: '100%' },
    ])
  })

  it('say why they are not known', () => {
    const unread = {
      record: { configz: null, errors: [{ what: 'configz' as const, message: '503' }] },
      prediction: { imageGC: null, eviction: null },
    }
    expect(settingsOf(unread)).toMatchObject({
      imageGC: null,
      off: [],
      missing: { eviction: 'configz: 503', imageGC: 'configz: 503' },
    })
    const unparsed = {
      prediction: { eviction: { ...calmEviction, error: 'unsupported eviction signal x' } },
    }
    expect(settingsOf(unparsed).missing).toMatchSnapshot()
    const fargate = { ...unread, labels: { 'eks.amazonaws.com/compute-type': 'fargate' } }
    expect(settingsOf(fargate).missing.eviction).toMatchSnapshot()
  })
})

describe('a fleet', () => {
  it('keeps settings once that are the same on many nodes, and the numbers of each node', () => {
    const example = (availableGib: number) => ({
      thresholds: [hard('nodefs.available', 10, availableGib)],
      eviction: { error: null },
    })
    const shown = openAuditedPredictions()
    const [a, b] = [
      audited({ name: 'a', ...example(60) }, shown),
      audited({ name: 'b', ...example(20.5) }, shown),
    ]
    expect(a.settings).toBe(b.settings)
    expect(b.eviction!.thresholds).toEqual(example(20.5).thresholds)
    expect(a.eviction!.thresholds).toEqual(example(60).thresholds)
    const other = audited({ name: 'c', configuration: { imageGCHighThresholdPercent: 75 } }, shown)
    expect(other.settings).not.toEqual(a.settings)
  })

  it('leaves pods, rankings and images behind', () => {
    const { prediction } = buildNode()
    const full: NodePrediction = {
      ...prediction,
      imageGC: { ...prediction.imageGC!, deletions: [], kept: [] },
    }
    const shown = openAuditedPredictions()(exampleSubject({}), full)
    expect(Object.keys(shown.imageGC!)).not.toContain('deletions')
    expect(Object.keys(shown.imageGC!)).not.toContain('kept')
    expect(Object.keys(shown.eviction!)).toEqual(['signals', 'thresholds', 'lost', 'error'])
  })

  it('keeps of each ranking of memory, disk bytes and process ids who goes first, without those that never go', () => {
    const pod = (name: string, rank: number) => ({
      namespace: 'x',
      name,
      rank,
      qos: 'Burstable',
      priority: 0,
      usage: 1,
      request: 0,
      reason: 'r',
    })
    const ranked: EvictionPrediction = {
      ...calmEviction,
      rankings: [
        {
          signal: 'nodefs.available',
          pods: [pod('static', 0), pod('a', 1), pod('b', 1), pod('c', 2), pod('d', 3)],
        },
        { signal: 'pid.available', pods: [pod('a', 0)] },
      ],
      protected: [{ namespace: 'x', name: 'static', reason: 'static' }],
    }
    const named = (name: string, rank: number) => ({ namespace: 'x', name, rank })
    expect(firstVictims(ranked)).toEqual([
      { signal: 'nodefs.available', pods: [named('a', 1), named('b', 1), named('c', 2)], alike: 2 },
      { signal: 'pid.available', pods: [named('a', 0)], alike: 1 },
    ])
    expect(firstVictims({ ...ranked, rankings: null })).toEqual([])
  })
})
