import { describe, expect, it } from 'vitest'
import type { ThresholdOrigin } from '#model/prediction.ts'
import type { AuditedNode, AuditedSettings } from '#model/report.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { thresholdsView } from '#report/page/thresholds.ts'
import { pageView } from '#report/page/view.ts'
import {
  auditedNode,
  dedicatedDisks,
  filesystem,
  GiB,
  nodegroup,
  quietReport,
  settings,
  sharedDisk,
  threshold,
  unreadNode,
} from '#test/report-builder.ts'

const { words } = english

type Prediction = AuditedNode['prediction']

const three = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
} as const
const all = { ...three, 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' } as const
const ofFile: ThresholdOrigin = {
  source: 'file',
  certainty: 'certain',
  path: '/etc/kubernetes/kubelet/config.json',
}

const changed = (
  prediction: Prediction,
  change: Partial<NonNullable<Prediction['eviction']>>,
): Prediction => ({ ...prediction, eviction: { ...prediction.eviction!, ...change } })
const withSettings = (prediction: Prediction, change: Partial<AuditedSettings>): Prediction => ({
  ...prediction,
  settings: { ...prediction.settings, ...change },
})
const nodesOf = (...predictions: Prediction[]) =>
  predictions.map((prediction, index) => auditedNode(`n${index + 1}`, prediction))
const plain = (text: string) => text.replaceAll('\u00a0', ' ')
const atOnce = plain(words.setting.atOnce)

/** Every line of a cohort's table, its cells joined. */
function lines(nodes: AuditedNode[], place = 0): string[] {
  const cohort = thresholdsView(nodes, english).cohorts[place]!
  return cohort.parts.flatMap(({ part, settings: rows }) =>
    rows.map(({ name, value, isLost, comesTo, grace, reclaim, note, origin, preset }) =>
      plain(
        [
          part,
          name,
          `${isLost ? '!' : ''}${value}`,
          ...(note === null ? [comesTo, grace, reclaim] : [note]),
          origin,
          preset,
        ].join(' | '),
      ),
    ),
  )
}
const lineOf = (nodes: AuditedNode[], part: string, name: string) =>
  lines(nodes).filter(line => line.startsWith(`${part} | ${name} |`))
const hard = (nodes: AuditedNode[], signal: string) =>
  lineOf(nodes, words.thresholds.parts.hard, signal)[0]

describe('the table of a cohort', () => {
  it('has a line for every signal and every setting of image GC', () => {
    expect(lines(nodesOf(sharedDisk(50, { capacityBytes: 100 * GiB, evictionHard: all })))).toEqual(
      [
        `${words.thresholds.parts.hard} | memory.available | 100Mi | 100.0 MiB | ${atOnce} | 0 | likely configured | same`,
        `${words.thresholds.parts.hard} | nodefs.available | 10% | 10.0 GiB | ${atOnce} | 0 | likely configured | same`,
        `${words.thresholds.parts.hard} | nodefs.inodesFree | 5% | ${words.gauge.inodeCount(2621440)} | ${atOnce} | 0 | likely configured | same`,
        `${words.thresholds.parts.hard} | imagefs.available | 15% | 15.0 GiB | ${atOnce} | 0 | likely configured | same`,
        `${words.thresholds.parts.hard} | imagefs.inodesFree | 5% | ${words.gauge.inodeCount(2621440)} | ${atOnce} | 0 | likely configured | same`,
        `${words.thresholds.parts.hard} | pid.available | !none | ${words.setting.nothingWatches} | ${words.setting.unset} | none`,
        `${words.thresholds.parts.soft} | ${words.thresholds.everySignal} | none | ${words.setting.noSoft(true)} |  | none`,
        `${words.thresholds.parts.imageGc} | ${words.thresholds.fields.imageGCHighThresholdPercent} | 85 | ${words.setting.startsAbove('84 % used, 84.0 GiB')} | likely ${words.thresholds.labels.preset} | same`,
        `${words.thresholds.parts.imageGc} | ${words.thresholds.fields.imageGCLowThresholdPercent} | 80 | ${words.setting.deletesDownTo('80 % used, 80.0 GiB')} | likely ${words.thresholds.labels.preset} | same`,
        `${words.thresholds.parts.imageGc} | ${words.thresholds.fields.imageMinimumGCAge} | 2m0s | ${words.setting.minimumAge('2 min')} | likely ${words.thresholds.labels.preset} | same`,
        `${words.thresholds.parts.imageGc} | ${words.thresholds.fields.imageMaximumGCAge} | 0s | ${words.setting.noMaximumAge} | likely ${words.thresholds.labels.preset} | same`,
      ],
    )
  })

  it('shows the range where disks differ', () => {
    const nodes = nodesOf(
      sharedDisk(50, { capacityBytes: 100 * GiB }),
      sharedDisk(50, { capacityBytes: 400 * GiB }),
    )
    expect(hard(nodes, 'nodefs.available')).toContain('| 10% | 10.0–40.0 GiB |')
    expect(
      lineOf(
        nodes,
        words.thresholds.parts.imageGc,
        words.thresholds.fields.imageGCHighThresholdPercent,
      )[0],
    ).toContain(`${words.setting.startsAbove('84')}${words.node.used(' %')}, 84.0–336.0 GiB`)
    expect(thresholdsView(nodes, english).cohorts[0]!.variants).toEqual([])
  })

  it('shows a soft threshold with its grace period, beside the defaults', () => {
    const nodes = nodesOf(
      sharedDisk(50, { capacityBytes: 100 * GiB, evictionSoft: { 'nodefs.available': '16%' } }),
    )
    expect(lines(nodes).filter(line => line.startsWith('Soft'))).toEqual([
      `${words.thresholds.parts.soft} | nodefs.available | 16% | 16.0 GiB | 1 min 30 s | 0 | likely configured | none`,
      `${words.thresholds.parts.soft} | ${words.thresholds.everyOtherSignal} | none | ${words.setting.noSoft(true)} |  | none`,
    ])
  })

  it('shows what the kubelet adds only where it runs', () => {
    const prediction = sharedDisk(50)
    const added = {
      ...prediction.eviction!.thresholds[0]!,
      signal: 'allocatableMemory.available' as const,
    }
    const origin: ThresholdOrigin = { source: 'kubelet', certainty: 'certain', path: null }
    const nodes = nodesOf(
      changed(prediction, {
        thresholds: [...prediction.eviction!.thresholds, { ...added, origin }],
      }),
      sharedDisk(50),
    )
    expect(hard(nodes, 'allocatableMemory.available')).toContain(
      `| ${atOnce} | 0 | ${words.setting.onlyOn(words.origin.sources.kubelet, 1)} | –`,
    )
    expect(hard(nodes, 'containerfs.available')).toBeUndefined()
    // It follows from the others: no drift.
    expect(thresholdsView(nodes, english).cohorts[0]!.flags).toEqual([])
  })

  it('leaves out what a kubelet on Windows does not observe', () => {
    const prediction = sharedDisk(50, {
      evictionHard: {
        'memory.available': '500Mi',
        'nodefs.available': '10%',
        'imagefs.available': '15%',
      },
    })
    const nodes = [
      auditedNode('w', prediction, {
        identity: { operatingSystem: 'windows', amiFamily: 'Windows' },
      }),
    ]
    expect(lines(nodes).filter(line => line.startsWith('Hard'))).toHaveLength(3)
  })
})

describe('where a value comes from', () => {
  it.each<[string, ThresholdOrigin]>([
    ['upstream default', { source: 'upstream default', certainty: 'certain', path: null }],
    [
      'likely AMI default /etc/kubernetes/kubelet/config.json',
      { source: 'AMI default', certainty: 'likely', path: ofFile.path },
    ],
    ['file /etc/kubernetes/kubelet/config.json', ofFile],
    [
      'drop-in /etc/d/90-x.conf',
      { source: 'drop-in', certainty: 'certain', path: '/etc/d/90-x.conf' },
    ],
    ['flag', { source: 'flag', certainty: 'certain', path: null }],
    ['configured', { source: 'configured', certainty: 'certain', path: null }],
    ['the kubelet itself', { source: 'kubelet', certainty: 'certain', path: null }],
  ])('%s', (said, origin) => {
    const prediction = sharedDisk(50)
    const thresholds = prediction.eviction!.thresholds.map(one => ({ ...one, origin }))
    expect(hard(nodesOf(changed(prediction, { thresholds })), 'nodefs.available')).toMatch(
      new RegExp(` \\| 0 \\| ${said} \\| same$`),
    )
  })

  it('is counted where nodes that are set alike have it from elsewhere', () => {
    const prediction = sharedDisk(50)
    const fromFile = changed(prediction, {
      thresholds: prediction.eviction!.thresholds.map(one => ({ ...one, origin: ofFile })),
    })
    const nodes = nodesOf(prediction, prediction, fromFile)
    expect(hard(nodes, 'nodefs.available')).toMatchSnapshot()
    expect(thresholdsView(nodes, english).cohorts[0]!.flags.map(({ flag }) => flag)).not.toContain(
      words.thresholds.variants(2),
    )
  })

  it('stands beside the upstream default where that differs, by what it means', () => {
    const nodes = nodesOf(
      sharedDisk(50, {
        evictionHard: {
          ...all,
          'memory.available': '0.1Gi',
          'nodefs.available': '20%',
          'nodefs.inodesFree': '5.0%',
        },
      }),
    )
    expect(hard(nodes, 'memory.available')).toMatch(/\| 100Mi$/)
    expect(hard(nodes, 'nodefs.available')).toMatch(/\| 10%$/)
    expect(hard(nodes, 'nodefs.inodesFree')).toMatch(/\| same$/)
    const spelt = nodesOf(
      sharedDisk(50, { evictionHard: { ...all, 'memory.available': '102400Ki' } }),
    )
    expect(hard(spelt, 'memory.available')).toMatch(/\| same$/)
  })

  it('leaves the default open where the kubelet names no version', () => {
    const nodes = nodesOf(withSettings(sharedDisk(50), { kubeletMinor: null, hardDefaults: null }))
    expect(hard(nodes, 'nodefs.available')).toMatch(/\| unknown$/)
    expect(thresholdsView(nodes, english).cohorts[0]!.about).toContain(
      `${words.thresholds.kubeletUnknown}, ${words.nodeCount(1)}`,
    )
  })
})

describe('none', () => {
  const ownDisks = dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(200 * GiB, 90 * GiB), {
    evictionHard: three,
  })

  it.each<[string, Prediction, string]>([
    [
      'nothing watches',
      ownDisks,
      `!none | ${words.setting.nothingWatches} | ${words.setting.lost('by')} the configured evictionHard (likely) | 15%`,
    ],
    [
      'the twin watches, very likely',
      sharedDisk(50, { evictionHard: three }),
      `${words.setting.sisterWatches('!none | nodefs.available', false)} | ${words.setting.lost('by')} the configured evictionHard (likely) | 15%`,
    ],
    [
      `the layout is ${words.unknown}`,
      { ...ownDisks, filesystems: { ...ownDisks.filesystems, layout: null } },
      `!none | ${words.setting.watchNotKnown('nodefs.available')} | ${words.setting.lost('by')} the configured evictionHard (likely) | 15%`,
    ],
    [
      'only a soft threshold is left',
      dedicatedDisks(filesystem(20 * GiB, 10 * GiB), filesystem(200 * GiB, 90 * GiB), {
        evictionHard: three,
        evictionSoft: { 'imagefs.available': '20%' },
      }),
      `!none | ${words.setting.onlySoftWatches} | ${words.setting.lost('by')} the configured evictionHard (likely) | 15%`,
    ],
    [
      `it was ${words.setting.off}`,
      withSettings(changed(ownDisks, { lost: [] }), {
        off: [{ signal: 'imagefs.available', hard: true, value: '0%' }],
      }),
      `!${words.setting.noneWritten('0%')} | ${words.setting.nothingWatches} | ${words.setting.switchedOff} | 15%`,
    ],
    [
      'it comes to 0',
      changed(ownDisks, {
        thresholds: [
          ...ownDisks.eviction!.thresholds,
          {
            ...threshold('imagefs.available', '0.0%', { available: 1, capacity: 2, time: null }),
            origin: ofFile,
          },
        ],
      }),
      `!${words.setting.noneWritten('0.0%')} | ${words.setting.neverMet('nothing')} watches it | file /etc/kubernetes/kubelet/config.json | 15%`,
    ],
  ])('is marked where %s', (_, prediction, said) => {
    expect(hard(nodesOf(prediction), 'imagefs.available')).toBe(
      `Hard eviction | imagefs.available | ${said}`,
    )
  })

  it.each<ThresholdOrigin>([
    { ...ofFile, source: 'AMI default' },
    ofFile,
    { source: 'drop-in', certainty: 'likely', path: '/etc/d/90-x.conf' },
    { source: 'earlier files', certainty: 'certain', path: null },
    { source: 'flag', certainty: 'certain', path: null },
    { source: 'no file', certainty: 'certain', path: null },
  ])('says by what it was lost: $source', by => {
    const { lostBy, removers } = words.origin
    const said = words.setting.lost(lostBy(removers[by.source], by.path, by.certainty === 'likely'))
    const nodes = nodesOf(
      changed(ownDisks, { lost: [{ signal: 'imagefs.available', value: '15%', by }] }),
    )
    expect(hard(nodes, 'imagefs.available')).toBe(
      `Hard eviction | imagefs.available | !none | nothing watches it | ${said} | 15%`,
    )
  })

  it('counts the nodes where something else watches', () => {
    const nodes = nodesOf(ownDisks, sharedDisk(50, { evictionHard: three }))
    expect(hard(nodes, 'imagefs.available')).toContain(
      `${words.setting.on(words.setting.nothingWatches, 1)}; ${words.setting.on(words.setting.sisterWatches('nodefs.available', false), 1)}`,
    )
    expect(thresholdsView(nodes, english).cohorts[0]!.flags).toEqual([
      {
        flag: words.thresholds.unwatched(['imagefs.available', 'imagefs.inodesFree'], 1),
        isBad: true,
      },
    ])
  })

  it('is marked where image GC never starts, and not where a kubelet has no maximum age', () => {
    const nodes = nodesOf(
      withSettings(sharedDisk(50, { highThresholdPercent: 100 }), {
        imageGC: settings(100, 80).imageGC!.map(one =>
          one.field === 'imageMaximumGCAge' ? { ...one, value: null } : one,
        ),
      }),
    )
    expect(
      lineOf(
        nodes,
        words.thresholds.parts.imageGc,
        words.thresholds.fields.imageGCHighThresholdPercent,
      ),
    ).toEqual([
      `${words.thresholds.parts.imageGc} | ${words.thresholds.fields.imageGCHighThresholdPercent} | !off (100) | ${words.setting.neverStarts} | configured | 85`,
    ])
    expect(
      lineOf(nodes, words.thresholds.parts.imageGc, words.thresholds.fields.imageMaximumGCAge),
    ).toEqual([
      `${words.thresholds.parts.imageGc} | ${words.thresholds.fields.imageMaximumGCAge} | none | ${words.setting.noSuchSetting} |  | same`,
    ])
  })
})

describe('what could not be read', () => {
  it('is said with its reason, and of how many nodes: addresses and names make no other reason', () => {
    const refused = (name: string, ip: string) =>
      unreadNode(name, [
        {
          what: 'configz',
          message: `GET /nodes/${name}/proxy: dial tcp ${ip}:10250: connection refused`,
        },
      ])
    const cohort = thresholdsView(
      [refused('n1', '10.0.0.1'), refused('n2', '10.0.0.2'), auditedNode('n3', sharedDisk(50))],
      english,
    ).cohorts[0]!
    expect(cohort.notKnown).toEqual([
      `${words.thresholds.notKnownFor(words.thresholds.named(2, ['n1', 'n2'], 0), 'configz')}: GET /nodes/n1/proxy: dial tcp 10.0.0.1:10250: connection refused`,
    ])
    expect(cohort.flags).toEqual([{ flag: words.thresholds.nodesNotKnown(2), isBad: false }])
    expect(cohort.parts).toHaveLength(3)
  })

  it('leaves no table, no 0 and no none where nothing was read', () => {
    const cohort = thresholdsView([unreadNode('n1', [])], english).cohorts[0]!
    expect(cohort.parts).toEqual([])
    expect(JSON.stringify(cohort)).not.toMatch(/none|: 0|"0"/)
  })

  it('is one half where the other is known', () => {
    const prediction = withSettings(
      changed(sharedDisk(50), { thresholds: [], error: 'unsupported eviction signal x' }),
      {
        missing: {
          eviction: 'the running eviction settings do not parse: unsupported eviction signal x',
        },
      },
    )
    const nodes = nodesOf(prediction)
    expect(hard(nodes, 'nodefs.available')).toBe(
      `${words.thresholds.parts.hard} | nodefs.available | ${words.unknown} |  |  |  |  | `,
    )
    expect(lines(nodes).map(line => line.split(' | ')[2])).not.toContain('none')
    expect(thresholdsView(nodes, english).cohorts[0]!.variants).toEqual([
      `A: ${words.thresholds.named(1, ['n1'], 0)}. ${words.thresholds.evictionNotKnown('the')} running eviction settings do not parse: unsupported eviction signal x`,
    ])
  })

  it('is a capacity: the percentage stands without bytes', () => {
    const unseen = (prediction: Prediction): Prediction => ({
      ...changed(prediction, {
        thresholds: prediction.eviction!.thresholds.map(one => ({
          ...one,
          resolved: null,
          met: null,
          margin: null,
        })),
      }),
      filesystems: { ...prediction.filesystems, imagefs: null },
    })
    expect(hard(nodesOf(unseen(sharedDisk(50))), 'nodefs.available')).toContain(
      `| 10% | ${words.setting.notObserved('nodefs', null)} |`,
    )
    const both = nodesOf(sharedDisk(50, { capacityBytes: 100 * GiB }), unseen(sharedDisk(50)))
    expect(hard(both, 'nodefs.available')).toContain(
      `| 10% | 10.0 GiB; ${words.setting.notObserved('nodefs', 1)} |`,
    )
    expect(
      lineOf(
        both,
        words.thresholds.parts.imageGc,
        words.thresholds.fields.imageGCLowThresholdPercent,
      )[0],
    ).toContain(`80.0 GiB; ${words.setting.notObserved('imagefs', 1)}`)
  })
})

describe('nodes of one cohort that differ', () => {
  const usual = sharedDisk(50, { capacityBytes: 100 * GiB, evictionHard: all })
  const other = sharedDisk(50, {
    capacityBytes: 100 * GiB,
    evictionHard: { ...all, 'nodefs.available': '30%' },
    highThresholdPercent: 75,
  })

  it('are variants, named by their nodes, each other value in a line of its own', () => {
    const nodes = nodesOf(usual, usual, other)
    const cohort = thresholdsView(nodes, english).cohorts[0]!
    expect(cohort.variants).toEqual([
      `A: ${words.thresholds.named(2, ['n1', 'n2'], 0)}`,
      `B: ${words.thresholds.named(1, ['n3'], 0)}`,
    ])
    expect(cohort.flags).toEqual([{ flag: words.thresholds.variants(2), isBad: false }])
    expect(
      lines(nodes).filter(line => line.includes(`| ${words.thresholds.row('B', 1)} |`)),
    ).toEqual([
      `${words.thresholds.parts.hard} | ${words.thresholds.row('B', 1)} | 30% | 30.0 GiB | ${atOnce} | 0 | likely configured | 10%`,
      `${words.thresholds.parts.imageGc} | ${words.thresholds.row('B', 1)} | 75 | ${words.setting.startsAbove('74 % used, 74.0 GiB')} | configured | 85`,
    ])
    expect(lines(nodes)).toHaveLength(lines(nodesOf(usual)).length + 2)
  })

  it('are none where values only are spelt otherwise', () => {
    const spelt = sharedDisk(50, {
      capacityBytes: 100 * GiB,
      evictionHard: { ...all, 'memory.available': '102400Ki', 'nodefs.available': '10.0%' },
    })
    expect(thresholdsView(nodesOf(usual, spelt), english).cohorts[0]!.flags).toEqual([])
  })

  it('share a line where they share a value', () => {
    const third = sharedDisk(50, {
      capacityBytes: 200 * GiB,
      evictionHard: { ...all, 'nodefs.available': '30%' },
    })
    const nodes = nodesOf(usual, usual, other, third)
    expect(lines(nodes).filter(line => / \| [BC, ]+: /.test(line))).toEqual([
      `${words.thresholds.parts.hard} | ${words.thresholds.row('B, C', 2)} | 30% | 30.0–60.0 GiB | ${atOnce} | 0 | likely configured | 10%`,
      expect.stringMatching(/ \| [BC]: 1 node \| 75 /),
    ])
  })

  it('are counted beyond the fourth variant', () => {
    const nodes = nodesOf(
      ...Array.from({ length: 7 }, (_, index) =>
        sharedDisk(50, { highThresholdPercent: 81 + index }),
      ),
    )
    const { variants, flags } = thresholdsView(nodes, english).cohorts[0]!
    expect(variants).toHaveLength(5)
    expect(variants[4]).toMatchSnapshot()
    expect(flags[0]!.flag).toBe(words.thresholds.variants(7))
  })
})

describe('cohorts', () => {
  const identities = [
    { cluster: 'b', identity: {} },
    { cluster: 'a', identity: { group: nodegroup('other') } },
    { cluster: 'a', identity: { amiFamily: 'Bottlerocket' as const } },
    { cluster: 'a', identity: { instanceType: 'c7g.large' } },
    { cluster: 'a', identity: { group: { kind: 'Node' as const, namespace: null, name: 'x' } } },
    { cluster: 'a', identity: { group: { kind: 'Node' as const, namespace: null, name: 'y' } } },
    {
      cluster: 'a',
      identity: {
        group: { kind: 'Node' as const, namespace: null, name: 'f' },
        owner: 'fargate' as const,
      },
    },
  ]
  const nodes = [
    auditedNode('first', sharedDisk(50), { cluster: 'a' }),
    ...identities.map(({ cluster, identity }, index) =>
      auditedNode(`n${index}`, sharedDisk(50), { cluster, identity }),
    ),
    auditedNode('older', withSettings(sharedDisk(50), { kubeletMinor: '1.33' }), { cluster: 'a' }),
  ]

  it('are parted by cluster, group, image and minor, not by instance type', () => {
    expect(
      thresholdsView(nodes, english)
        .cohorts.map(({ title, about }) => `${title}: ${about}`)
        .toSorted(),
    ).toEqual([
      `${words.fleet.fargate}: a, AL2023, kubelet 1.34, ${words.nodeCount(1)}: 1 m6i.2xlarge`,
      `Nodegroup general: a, AL2023, kubelet 1.33, ${words.nodeCount(1)}: 1 m6i.2xlarge`,
      `Nodegroup general: a, AL2023, kubelet 1.34, ${words.nodeCount(2)}: 1 c7g.large, 1 m6i.2xlarge`,
      `Nodegroup general: a, Bottlerocket, kubelet 1.34, ${words.nodeCount(1)}: 1 m6i.2xlarge`,
      `Nodegroup general: b, AL2023, kubelet 1.34, ${words.nodeCount(1)}: 1 m6i.2xlarge`,
      `Nodegroup other: a, AL2023, kubelet 1.34, ${words.nodeCount(1)}: 1 m6i.2xlarge`,
      `${words.fleet.withoutGroup}: a, AL2023, kubelet 1.34, ${words.nodeCount(2)}: 2 m6i.2xlarge`,
    ])
  })

  it('stand by their trouble, the first open; the same whatever the order of nodes', () => {
    const troubled = auditedNode(
      'z',
      dedicatedDisks(filesystem(GiB, GiB), filesystem(GiB, GiB), { evictionHard: three }),
      { identity: { group: nodegroup('zzz') } },
    )
    const view = thresholdsView([...nodes, troubled], english)
    expect(view.cohorts.map(({ isOpen }) => isOpen)).toEqual([
      true,
      ...Array.from({ length: 7 }, () => false),
    ])
    expect(view.cohorts[0]!.title).toBe('Nodegroup zzz')
    expect(thresholdsView([troubled, ...nodes.toReversed()], english)).toEqual(view)
  })

  it('are all open where there are few', () => {
    expect(thresholdsView(nodes.slice(0, 2), english).cohorts.map(({ isOpen }) => isOpen)).toEqual([
      true,
      true,
    ])
  })

  it('are named beyond the fiftieth, and counted beyond that', () => {
    const many = Array.from({ length: 260 }, (_, index) =>
      auditedNode(`n${index}`, sharedDisk(50), { identity: { group: nodegroup(`g${index}`) } }),
    )
    const view = thresholdsView(many, english)
    expect(view.cohorts).toHaveLength(50)
    expect(view.moreTitle).toBe(words.thresholds.moreCohorts(210))
    expect(view.more).toHaveLength(201)
    expect(view.more[0]).toMatchSnapshot()
    expect(view.more[200]).toBe(words.andMore(10))
  })
})

describe('on the page', () => {
  const page = (nodes: AuditedNode[]) => renderPage(pageView(quietReport(nodes), english))
  const tables = (html: string) => html.match(/<details class="cohort"[\s\S]*?<\/details>/g)!

  it('of 5,000 nodes in 40 cohorts each table stays below 5 KB', () => {
    const nodes = Array.from({ length: 5000 }, (_, index) =>
      auditedNode(
        `ip-10-${index >> 8}-${index & 255}-17.eu-central-1.compute.internal`,
        sharedDisk(50, {
          capacityBytes: (20 + (index % 300)) * GiB,
          evictionHard: three,
          evictionSoft: { 'nodefs.available': '15%' },
          highThresholdPercent: index % 500 === 3 ? 70 : 85,
          lowThresholdPercent: 60,
        }),
        { identity: { group: nodegroup(`group-${index % 40}`) } },
      ),
    )
    const found = tables(page(nodes))
    expect(found).toHaveLength(40)
    expect(Math.max(...found.map(table => Buffer.byteLength(table)))).toBeLessThan(5120)
  })

  it('is a table with a caption and scopes, and marks by a word', () => {
    const [table] = tables(page(nodesOf(sharedDisk(50, { evictionHard: three }))))
    expect(table).toMatchSnapshot()
    expect(table!.match(/<th scope="col">/g)).toHaveLength(7)
    expect(table!.match(/<th scope="rowgroup"/g)).toHaveLength(3)
    for (const [row] of table!.matchAll(/<tr[^>]*><th scope="row">.*?<\/tr>/g)) {
      const cells = [...row.matchAll(/<td(?: data-label="[^"]*")?(?: colspan="(\d)")?>/g)].reduce(
        (sum, [, span]) => sum + Number(span ?? 1),
        0,
      )
      expect({ row, cells }).toEqual({ row, cells: 6 })
    }
  })

  it('escapes and bounds what comes from a node', () => {
    const hostile = `<script>alert('1')</script>"><img src=x> \u202e${'x'.repeat(5000)}`
    const evil = (prediction: Prediction): Prediction => {
      const eviction = prediction.eviction!
      const origin: ThresholdOrigin = { source: 'drop-in', certainty: 'certain', path: hostile }
      return {
        ...prediction,
        eviction: {
          ...eviction,
          thresholds: eviction.thresholds.map(one => ({
            ...one,
            value: hostile,
            minReclaim: hostile,
            origin,
          })),
          lost: eviction.lost.map(one => ({ ...one, value: hostile, by: origin })),
        },
        settings: {
          ...prediction.settings,
          imageGC: prediction.settings.imageGC!.map(one => ({ ...one, value: hostile })),
          off: [
            { signal: 'pid.available', hard: true, value: hostile },
            { signal: hostile, hard: true, value: hostile },
          ],
        },
      }
    }
    const unread = unreadNode(hostile, [{ what: hostile as 'host', message: hostile }], {
      identity: { instanceType: hostile },
    })
    const unparsed = withSettings(changed(sharedDisk(50), { error: hostile }), {
      missing: { eviction: hostile },
    })
    const nodes = [
      auditedNode('n1', evil(sharedDisk(50, { evictionHard: three }))),
      auditedNode(hostile, unparsed),
      unread,
    ]
    const shown = tables(page(nodes)).join('')
    expect(shown).not.toMatch(/<script|<img|\u202e/)
    expect(shown).toContain('&lt;script&gt;alert(&#x27;1')
    expect(shown).not.toMatch(/x{400}/)
    expect(shown.length).toBeLessThan(20_000)
  })
})
