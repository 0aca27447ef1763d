import { describe, expect, it } from 'vitest'
import { english } from '#report/languages/language.ts'
import { type Alerts, describeGauge, gaugesOf, nearestGauge } from '#report/parts/gauge.ts'
import {
  auditedNode,
  dedicatedDisks,
  filesystem,
  GiB,
  noFilesystems,
  nothingPredicted,
  sharedDisk,
  threshold,
} from '#test/report-builder.ts'

const { words } = english

const plain = (text: string) => text.replaceAll('\u00a0', ' ')
const gaugesWith = (
  prediction: Parameters<typeof auditedNode>[1],
  alerts: Alerts = { alertPercent: 80 },
) =>
  gaugesOf(auditedNode('n1', prediction), alerts, english).map(gauge => ({
    ...gauge,
    summary: plain(gauge.summary()),
    facts: gauge.facts.map(fact => plain(fact())),
    marks: gauge.marks.map(mark => ({
      ...mark,
      setting: plain(mark.setting),
      amount: mark.amount && plain(mark.amount),
    })),
  }))
const described = (gauge: ReturnType<typeof gaugesWith>[number]) =>
  describeGauge({ ...gauge, summary: () => gauge.summary, facts: [] }, english)
const places = (gauge: ReturnType<typeof gaugesWith>[number] | undefined) =>
  gauge?.marks.map(({ kind, percent }) => [kind, percent])

describe('the marks of one disk for everything', () => {
  const [disk, inodes, memory] = gaugesWith(sharedDisk(60, { capacityBytes: 100 * GiB }))

  it('stand where the kubelet acts: image GC one percent below its setting, eviction at what it keeps free', () => {
    expect(disk!.title).toBe(words.gauge.oneDisk)
    expect(places(disk)).toEqual([
      ['gc-stop', 80],
      ['gc-start', 84],
      ['alert', 80],
      ['hard', 85],
      ['hard', 90],
    ])
    expect(disk!.usedPercent).toBe(60)
    expect(disk!.summary).toBe(words.gauge.bytes('60.0 GiB', '100.0 GiB', '40.0 GiB'))
  })
  it('have an alert that says whether it is the team’s', () => {
    const disk = sharedDisk(60, { capacityBytes: 100 * GiB })
    const [one] = gaugesWith(disk, { alertPercent: 80, isAlertAssumed: true })
    const names = one!.marks.filter(({ kind }) => kind === 'alert').map(({ name }) => name)
    expect(names).toEqual([words.gauge.marks.assumed])
  })
  it('have one for each level of the alert', () => {
    const [two] = gaugesWith(sharedDisk(60, { capacityBytes: 100 * GiB }), {
      alertPercent: 75,
      criticalAlertPercent: 88,
    })
    expect(two!.marks.filter(({ kind }) => kind === 'alert')).toEqual([
      {
        ...{ kind: 'alert', percent: 75, name: words.gauge.marks.alert, amount: '75.0 GiB' },
        setting: 'policy alertPercent.warning 75',
      },
      {
        ...{ kind: 'alert', percent: 88, name: words.gauge.marks.critical, amount: '88.0 GiB' },
        setting: 'policy alertPercent.critical 88',
      },
    ])
  })
  it('have a bar of inodes where a threshold watches them, and one of memory', () => {
    expect(inodes).toMatchObject({ kind: 'inodes', title: `${words.gauge.oneDisk}, inodes` })
    expect(inodes!.marks).toHaveLength(1)
    expect(inodes!.marks[0]!.percent).toBeCloseTo(95, 5)
    expect(memory).toMatchObject({
      kind: 'memory',
      marks: [{ setting: 'memory.available<100Mi', amount: '30.8 GiB' }],
    })
  })
  it('are one mark where two signals are met at the same place', () => {
    const [both] = gaugesWith(
      sharedDisk(60, { evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '10%' } }),
    )
    expect(both!.marks.filter(({ kind }) => kind === 'hard')).toMatchObject([
      { setting: 'nodefs.available<10%, imagefs.available<10%' },
    ])
  })
  it('say how far each is, nearest first', () => {
    expect(disk!.facts).toEqual([
      words.gauge.untilImageGc('24.0 GiB'),
      `25.0 GiB more until ${words.gauge.marks.hard} (imagefs.available<15%).`,
      `30.0 GiB more until ${words.gauge.marks.hard} (nodefs.available<10%).`,
    ])
    expect(disk!.headroomPercent).toBe(25)
  })
})

it.each([
  { usedPercent: 84, state: 'calm' }, // exactly at the trigger's edge: 16% are available, 16% are needed
  { usedPercent: 84.5, state: 'image-gc' },
  { usedPercent: 85.5, state: 'pressure' },
])('at $usedPercent% used it is $state', ({ usedPercent, state }) => {
  expect(gaugesWith(sharedDisk(usedPercent, { capacityBytes: 100 * GiB }))[0]!.state).toBe(state)
})

describe('a disk of its own for images', () => {
  const [nodefs, inodes, imagefs] = gaugesWith(
    dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(200 * GiB, 50 * GiB), {
      evictionHard: { 'nodefs.available': '1Gi', 'nodefs.inodesFree': '5%' },
    }),
  )
  it('has the marks of image GC, and no other disk has', () => {
    expect(places(nodefs)).toEqual([
      ['alert', 80],
      ['hard', 95],
    ])
    expect(inodes!.kind).toBe('inodes')
    expect(places(imagefs)).toEqual([
      ['gc-stop', 80],
      ['gc-start', 84],
      ['alert', 80],
    ])
  })
  it('says when no threshold watches it', () => {
    expect(imagefs!.warnings).toEqual([words.gauge.bytesUnwatched])
  })
})

it('draws containerfs only on a split disk, where containers live on nodefs', () => {
  const disks = dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(200 * GiB, 50 * GiB))
  const { availableBytes, capacityBytes } = disks.eviction!.signals['nodefs.available']!
  const observed = { available: availableBytes, capacity: capacityBytes, time: null }
  disks.eviction!.thresholds = [threshold('containerfs.available', '20%', observed)]
  expect(
    gaugesWith(disks).flatMap(({ marks }) => marks.map(({ setting }) => setting)),
  ).not.toContain('containerfs.available<20%')
  disks.filesystems.layout = 'split'
  const [nodefs] = gaugesWith(disks)
  expect(nodefs!.title).toBe('nodefs = containerfs')
  expect(nodefs!.marks.at(-1)).toMatchObject({ kind: 'hard', percent: 80 })
})

it('counts inodes as inodes', () => {
  const [, inodes] = gaugesWith(sharedDisk(60, { capacityBytes: 100 * GiB, inodesFreePercent: 4 }))
  expect(inodes!.facts).toEqual([
    `Met: ${words.gauge.marks.hard} (nodefs.inodesFree<5%), ${words.gauge.inodeCount(524288)} below it.`,
  ])
  expect(inodes!.marks[0]!.amount).toBe(words.gauge.inodeCount(49807360))
  expect(inodes!.state).toBe('pressure')
})

it('warns where the kubelet itself would fail', () => {
  const prediction = sharedDisk(60)
  const [disk] = gaugesWith({
    ...prediction,
    imageGC: {
      ...prediction.imageGC!,
      triggered: null,
      error: 'invalid capacity 0 on image filesystem',
    },
    eviction: { signals: {}, thresholds: [], lost: [], error: 'unknown eviction signal' },
  })
  expect(disk!.warnings).toEqual([
    `${words.gauge.imageGcFails('invalid')} capacity 0 on image filesystem`,
    `${words.gauge.settingsDoNotParse('unknown')} eviction signal`,
  ])
})

describe('what is not known', () => {
  it('has no place on the bar and no number', () => {
    const prediction = sharedDisk(60)
    const unseen = {
      capacityBytes: null,
      availableBytes: null,
      usedPercent: null,
      inodes: null,
      inodesFree: null,
    }
    prediction.filesystems = { ...prediction.filesystems, nodefs: unseen, imagefs: unseen }
    prediction.imageGC = {
      ...prediction.imageGC!,
      triggered: null,
      usagePercent: null,
      bytesUntilTrigger: null,
      bytesToFree: null,
    }
    prediction.eviction = {
      signals: {},
      thresholds: [
        threshold('nodefs.available', '10%', undefined),
        threshold('nodefs.inodesFree', '5%', undefined),
      ],
      lost: [],
      error: null,
    }
    const [disk, inodes] = gaugesWith(prediction)
    expect(disk).toMatchObject({
      usedPercent: null,
      summary: words.gauge.notObserved,
      headroomPercent: null,
      state: 'calm',
    })
    expect(places(disk)).toEqual([
      ['gc-stop', 80],
      ['gc-start', 84],
      ['alert', 80],
    ])
    expect(disk!.marks.map(({ amount }) => amount)).toEqual([null, null, null])
    expect(disk!.facts).toEqual([
      words.gauge.dueUnknown,
      words.gauge.farUnknown(`${words.gauge.marks.hard} (nodefs.available<10%)`, 'nodefs'),
    ])
    expect(inodes).toMatchObject({ usedPercent: null, marks: [] })
    expect(described(disk!)).toContain(words.gauge.nowUnknown)
  })
  it('is said of settings that were not read', () => {
    const [disk] = gaugesWith({ ...sharedDisk(60), imageGC: null, eviction: null })
    expect(disk!.facts).toEqual([words.gauge.imageGcUnknown, words.gauge.thresholdsUnknown])
    expect(places(disk)).toEqual([['alert', 80]])
  })
  it('leaves a node without any observation without bars', () =>
    expect(gaugesWith(nothingPredicted)).toEqual([]))
  it('shows the one filesystem that was seen, and the other as unknown', () => {
    const prediction = {
      ...sharedDisk(60),
      filesystems: { ...noFilesystems, nodefs: filesystem(80 * GiB, 20 * GiB) },
    }
    expect(
      gaugesWith(prediction).map(({ title, usedPercent }) => [title, usedPercent]),
    ).toContainEqual(['imagefs', null])
  })
  it('is never a capacity of 0', () => {
    const empty = {
      capacityBytes: 0,
      availableBytes: 0,
      usedPercent: null,
      inodes: 0,
      inodesFree: 0,
    }
    const [disk] = gaugesWith({
      ...sharedDisk(60),
      filesystems: { ...noFilesystems, nodefs: empty, imagefs: empty, layout: 'shared' },
    })
    expect(disk).toMatchObject({ usedPercent: null, summary: words.gauge.notObserved })
  })
})

it('has no mark for image GC that is off', () => {
  const [disk] = gaugesWith(sharedDisk(60, { highThresholdPercent: 100 }))
  expect(disk!.facts[0]).toBe(words.gauge.imageGcOff(100))
  expect(disk!.marks.map(({ kind }) => kind)).not.toContain('gc-start')
})

it('tells the picture in words', () => {
  expect(plain(described(gaugesWith(sharedDisk(60, { capacityBytes: 100 * GiB }))[0]!))).toBe(
    `${words.gauge.now('60 %', words.gauge.bytes('60.0 GiB', '100.0 GiB', '40.0 GiB'))} Marks: ${words.gauge.marks['gc-stop']} at 80 % (imageGCLowThresholdPercent 80); ${words.gauge.marks.alert} at 80 % (policy alertPercent 80); ` +
      `${words.gauge.marks['gc-start']} at 84 % (imageGCHighThresholdPercent 85); ${words.gauge.marks.hard} at 85 % (imagefs.available<15%); ${words.gauge.marks.hard} at 90 % (nodefs.available<10%).`,
  )
})

it('of a node that evicts for inodes alone is that of the inodes', () => {
  const kindOf = (...disk: Parameters<typeof sharedDisk>) =>
    nearestGauge(auditedNode('n1', sharedDisk(...disk)), { alertPercent: 80 }, english)?.kind
  expect(kindOf(60, { inodesFreePercent: 2 })).toBe('inodes')
  expect(kindOf(60, { inodesFreePercent: 50 })).toBe('disk')
  expect(kindOf(99, { inodesFreePercent: 2 })).toBe('disk')
})
