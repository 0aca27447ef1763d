import { describe, expect, it } from 'vitest'
import { summaryText } from '#cli/summary.ts'
import { causesOf } from '#judge/causes.ts'
import { hardThresholds, imageGcThresholds } from '#judge/rule.ts'
import type {
  CauseGroup,
  CommandEffect,
  Finding,
  HolderCause,
  Step,
  StepAction,
} from '#model/finding.ts'
import { english } from '#report/languages/language.ts'
import { renderMail } from '#report/mail/mail.ts'
import { mailView, usualSize } from '#report/mail/view.ts'
import { pageView } from '#report/page/view.ts'
import { causeOnNode, causesAndOutlook } from '#report/parts/causes.ts'
import { outlookView } from '#report/parts/outlook.ts'
import {
  causeText,
  commandsView,
  firstStep,
  immediateFirst,
  stepsText,
} from '#report/parts/steps.ts'
import {
  adviceWith,
  auditedNode,
  clusterResult,
  dedicatedDisks,
  deltaWith,
  filesystem,
  finding,
  lastRun,
  morningReport,
  nodegroup,
  quietReport,
  sharedDisk,
  withCauses,
} from '#test/report-builder.ts'

const morning = morningReport()
const high = (value: number) => ({
  config: { imageGCHighThresholdPercent: value, imageGCLowThresholdPercent: value - 10 },
  durable: [],
})
const on = (rule: string, cluster: string, group: string, more: Partial<Finding> = {}) =>
  finding('medium', {
    id: `${rule} ${cluster} ${group}`,
    rule,
    cluster,
    subject: nodegroup(group),
    nodes: { count: 1, sample: [`${cluster}-${group}`] },
    ...more,
  })
const setting = (value: number): Partial<Finding> => ({
  cause: imageGcThresholds,
  fix: high(value),
  steps: adviceWith(`highwater plan ${value}`),
})
const commandsIn = ({ steps }: Pick<CauseGroup, 'steps'>) =>
  steps.flatMap(({ commands }) => commands.map(({ command }) => command))

describe('a drain in several groups', () => {
  it('names twenty pods that end', () => {
    const findings = ['a', 'b', 'c'].map(group =>
      on('eviction-due', 'prod', group, {
        cause: hardThresholds,
        steps: [
          {
            ...adviceWith(`kubectl drain ${group}`)[0]!,
            action: {
              id: 'drain',
              lost: {
                pods: Array.from({ length: 9 }, (_, pod) => `${group}/${pod}`),
                data: ['x/y'],
              },
            },
          },
        ],
      }),
    )
    const [cause] = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
    expect(cause?.steps).toHaveLength(1)
    const { pods, data } = cause!.steps[0]!.action.lost!
    expect([pods.length, pods.at(-1), data]).toEqual([20, 'c/1', ['x/y']])
    expect(commandsIn(cause!)).toHaveLength(3)
  })
})

it('a command that stands alone is of a shown step, and a drain says beside it what it loses', () => {
  const step = (action: StepAction, kind: Step['kind'], effect: CommandEffect): Step => ({
    ...adviceWith('')[0]!,
    ...{ kind, action, commands: [{ place: 'ci', command: action.id, effect }] },
  })
  const prune: Step = { ...step({ id: 'prune-images' }, 'free', 'plans'), commands: [] }
  const lost = { pods: ['ci/test-0', 'ci/test-1'], data: [] }
  const drain = step({ id: 'drain', lost }, 'free', 'changes')
  const look = step({ id: 'list-deletions' }, 'read-more', 'reads')
  const set: Step = { ...step({ id: 'set-fields' }, 'set', 'plans'), commands: [] }
  const findings = [
    on('eviction-due', 'ci', 'a', { cause: hardThresholds, steps: [prune, set, drain, look] }),
  ]
  const [found] = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
  expect(firstStep(found!.steps)?.action.id).toBe('list-deletions')
  expect(firstStep([prune, set, drain])).toBeUndefined()
  expect(firstStep([drain, set])?.action.id).toBe('drain')
  expect(commandsView(found!.steps, english)[0]).toEqual({
    command: 'drain',
    effect: expect.stringMatching(/^changes \(.*end for good \(ci\/test-0 and ci\/test-1\)\)$/),
  })
})

it('names each source and each owner that one step has', () => {
  const alike = (group: string, action: StepAction) =>
    on('a', 'prod', group, {
      cause: hardThresholds,
      steps: [{ ...adviceWith(`see ${group}`)[0]!, action }],
    })
  const textOf = (...actions: StepAction[]) => {
    const findings = actions.map((action, index) => alike(`g${index}`, action))
    const [cause] = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
    expect(commandsIn(cause!)).toHaveLength(actions.length)
    return stepsText(cause!.steps, findings[0]!, null, english).replaceAll('\u00a0', ' ')
  }
  const larger = { id: 'larger-disk' as const, bytes: 40 * 1024 ** 3, place: '/dev/xvda' }
  expect(
    textOf(
      { ...larger, source: 'EC2NodeClass a' },
      { ...larger, source: 'EC2NodeClass b' },
      { ...larger, source: 'EC2NodeClass b', place: '/dev/xvdb' },
    ),
  ).toContain(
    'volumeSize 40.0 GiB for /dev/xvda in EC2NodeClass a; EC2NodeClass b, /dev/xvda; EC2NodeClass b, /dev/xvdb',
  )
  expect(textOf({ ...larger, source: 'EC2NodeClass a' }, larger)).toContain(
    'for /dev/xvda in EC2NodeClass or launch template',
  )
  const claim = (place: string) => ({ id: 'expand-claim' as const, place })
  expect(textOf(claim('data-db-0'))).toMatch(/expand PVC data-db-0 to/)
  expect(textOf(claim('data-db-0'), claim('data-db-1'))).toMatch(
    /expand PVC data-db-0 and data-db-1 to/,
  )
  const owner = { kind: 'pod' as const, namespace: 'shop', workload: 'Job load', volume: null }
  const restart = (pod: string, more = {}): StepAction => ({
    ...{ id: 'ask-owner', owner: { ...owner, pod, ...more } },
  })
  expect(textOf(restart('load-1'), restart('load-2'))).toMatch(/Job shop\/load(?!,)/)
  expect(textOf(restart('load-1'), restart('b', { workload: 'Job bake' }))).toContain(
    'Job shop/load and Job shop/bake',
  )
})

describe('a step that several findings have', () => {
  const GiB = 1024 ** 3
  const mergedSteps = (...actions: StepAction[]) => {
    const findings = actions.map((action, index) =>
      on('a', 'prod', `g${index}`, {
        cause: hardThresholds,
        steps: [{ ...adviceWith(`see ${index}`)[0]!, action }],
      }),
    )
    const [cause] = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
    return cause!.steps
  }
  const textOf = (...actions: StepAction[]) =>
    stepsText(mergedSteps(...actions), null, null, english, 'without commands').replaceAll(
      '\u00a0',
      ' ',
    )
  const owner = (workload: string) => ({
    ...{ kind: 'pod' as const, namespace: 'shop', pod: `${workload}-1`, volume: 'work' },
    workload: `Deployment ${workload}`,
  })

  it('has each size with its own place', () => {
    const larger = { id: 'larger-disk' as const, place: '/dev/xvda' }
    expect(
      textOf(
        { ...larger, bytes: 380 * GiB, source: 'EC2NodeClass b', usdPerMonth: 14 },
        { ...larger, bytes: 40 * GiB, source: 'EC2NodeClass a', usdPerMonth: 1.6 },
      ),
    ).toMatch(
      /volumeSize 380\.0 GiB for \/dev\/xvda in EC2NodeClass b \(about 14 USD .*\); EC2NodeClass a: 40\.0 GiB \(about 1\.60 USD/,
    )
  })

  it('has each amount with its own owner', () => {
    const limit = { id: 'set-ephemeral-storage' as const }
    expect(
      textOf(
        { ...limit, bytes: 3 * GiB, owner: owner('a') },
        { ...limit, bytes: 9 * GiB, owner: owner('b') },
      ),
    ).toBe(
      'give Deployment shop/a requests and limits of ephemeral-storage above 3.0 GiB, limits with room to grow; Deployment shop/b: 9.0 GiB',
    )
  })

  it('names no place and no amount that its text leaves out', () => {
    const restart = { id: 'restart-pod' as const }
    expect(
      textOf(
        { ...restart, bytes: 3 * GiB, owner: owner('a'), place: '/x' },
        { ...restart, bytes: 9 * GiB, owner: owner('b'), place: '/y' },
      ),
    ).toBe(
      'restart the pods of Deployment shop/a and Deployment shop/b on these nodes: what it holds is free then',
    )
  })

  it('is one, whatever pods can write to on its nodes', () => {
    const [a, b] = ['/a (Job x/a)', '/b (Job x/b)']
    const look = { id: 'read-devices' as const, place: '/dev/sdb' }
    expect(
      mergedSteps({ ...look, mounts: [a, b] }, { ...look, mounts: [b] }).map(
        ({ action }) => action.mounts,
      ),
    ).toEqual([[a, b]])
    expect(
      mergedSteps({ ...look, mounts: [a, b] }, { ...look, mounts: [b], hasMoreMounts: true })[0],
    ).toMatchObject({ action: { hasMoreMounts: true } })
  })

  it.each<[string, StepAction, StepAction]>([
    ['inodes', { id: 'larger-disk', unit: 'inodes' }, { id: 'larger-disk', bytes: 40 * GiB }],
    ['an unknown size', { id: 'larger-disk' }, { id: 'larger-disk', bytes: 40 * GiB }],
    ['another limit', { id: 'limit-processes', limit: 100 }, { id: 'limit-processes', limit: 900 }],
  ])('is another one where its text says something else: %s', (_, one, other) => {
    expect(mergedSteps(one, other).map(({ action }) => action)).toEqual([one, other])
  })
})

it('a larger disk for two nodes has the size of each', () => {
  const gibibyte = 1024 ** 3
  const larger = (gib: number, usdPerMonth: number) => ({
    cause: hardThresholds,
    steps: [
      {
        ...adviceWith('highwater predict')[0]!,
        action: { id: 'larger-disk' as const, bytes: gib * gibibyte, usdPerMonth },
      },
    ],
  })
  const findings = [on('a', 'prod', 'x', larger(40, 1.6)), on('a', 'prod', 'y', larger(380, 14.4))]
  const [cause] = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
  expect(stepsText(cause!.steps, findings[0]!, null, english)).toMatch(
    /volumeSize 40\.0\sGiB to 380\.0\sGiB \(differs by node\) .*1\.60 to 14\sUSD/,
  )
})

const images: HolderCause = {
  ...{ kind: 'holder', holder: 'images-in-use', filesystem: 'nodefs', freedBy: 'nothing' },
  ...{ amount: { unit: 'bytes', low: 1, high: 1 }, owner: null, place: null },
}

describe('a node below the size of its peers', () => {
  const gibibyte = 1024 ** 3
  const larger = (gib: number): Step[] =>
    adviceWith('highwater predict').map(step => ({
      ...{ ...step, kind: 'resize' },
      action: { id: 'larger-disk', bytes: gib * gibibyte },
    }))
  const freeing = larger(0).map(step => ({
    ...step,
    kind: 'free' as const,
    action: { id: 'prune-images' as const },
  }))
  const [peerBytes, actualBytes] = [100 * gibibyte, 20 * gibibyte]
  const device = { kind: 'device', what: 'below-peers', device: null, declaredBytes: null } as const
  const small = on('a', 'prod', 'x', {
    cause: { ...device, peerBytes, actualBytes },
    steps: larger(100),
  })
  const causesOn = (sample: string[]) => {
    const due = on('eviction-due', 'prod', 'x', {
      nodes: { count: sample.length, sample },
      ...{ cause: images, severity: 'critical' },
      steps: [...freeing, ...larger(40)],
    })
    const findings = [due, small]
    const all = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
    const stepsOn = (name: string) =>
      causeOnNode(
        {
          ...all[0]!,
          findings: findings.filter(({ id }) => all[0]!.findings.includes(id)),
          sizes: findings.filter(({ id }) => !all[0]!.findings.includes(id)),
        },
        { cluster: 'prod', name },
      ).steps.map(({ action }) => [action.id, action.bytes])
    return { all, stepsOn }
  }

  it('keeps what frees space now, then has their size', () => {
    const { all, stepsOn } = causesOn(['prod-x'])
    expect(all).toHaveLength(1)
    expect(stepsOn('prod-x')).toEqual([
      ['prune-images', undefined],
      ['larger-disk', peerBytes],
    ])
    expect(causeText(all[0]!.cause, english)).toMatch(
      /has 20\.0\sGiB, the median of its peers is 100/,
    )
  })

  it('has their size alone, if other nodes have the same finding', () => {
    const { all, stepsOn } = causesOn(['prod-x', 'prod-y'])
    expect(all.map(({ cause }) => cause.kind)).toEqual(['holder', 'device'])
    const resizing = all[0]!.steps.filter(({ kind }) => kind === 'resize')
    expect(resizing.map(({ action }) => action.nodes)).toEqual([['prod-y', 'prod-x']])
    expect(stepsOn('prod-x')).toEqual([
      ['prune-images', undefined],
      ['larger-disk', peerBytes],
    ])
    expect(stepsOn('prod-y')).toEqual([
      ['prune-images', undefined],
      ['larger-disk', 40 * gibibyte],
    ])
  })
})

describe('a disk of the wrong size on some nodes of a finding', () => {
  const sized = (name: string, sample: string[], more: Partial<Finding> = {}) =>
    on(name, 'prod', name, {
      nodes: { count: sample.length, sample },
      cause: {
        ...{ kind: 'device', what: 'wrong-volume', device: null },
        ...{ declaredBytes: 100, actualBytes: 20 },
      },
      steps: adviceWith(name).map(step => ({ ...step, kind: 'resize' as const })),
      ...more,
    })
  const due = (more: Partial<Finding> = {}) =>
    on('eviction-due', 'prod', 'due', {
      nodes: { count: 3, sample: ['x', 'y', 'z'] },
      ...{ cause: images, severity: 'critical' },
      steps: adviceWith('own'),
      ...more,
    })
  const commandsOf = (...findings: Finding[]) => {
    const causes = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
    return commandsIn(causes.find(({ rule }) => rule === 'eviction-due')!)
  }

  it.each<[string, Finding[], string[]]>([
    ['on one', [due(), sized('a', ['x'])], ['own', 'a']],
    ['on two', [due(), sized('a', ['x']), sized('b', ['y', 'z'])], ['own', 'b']],
    ['on none', [due(), sized('a', ['w'])], ['own']],
    ['in another cluster', [due(), sized('a', ['x'], { cluster: 'test' })], ['own']],
    [
      'and of something that no size ends',
      [due({ cause: { ...hardThresholds, fields: ['maxPods'] } }), sized('a', ['x'])],
      ['own'],
    ],
  ])('has its steps beside: %s', (_, findings, commands) => {
    expect(commandsOf(...findings)).toEqual(commands)
  })
})

it.each([
  [['restart-kubelet', 'replace-node'], 'restart-kubelet'],
  [['clean-with-owner', 'restart-kubelet'], 'clean-with-owner'],
  [['replace-node', 'larger-disk'], 'replace-node'],
] as const)('puts no restart of the kubelet before what frees a disk: %j', (ids, first) => {
  const steps = ids.map(
    (id): Step => ({
      ...{ kind: 'set', ends: 'all', disturbs: 'nothing', commands: [] },
      action: { id, ...(id === 'restart-kubelet' && { variant: 'idle' as const }) },
    }),
  )
  expect(immediateFirst(steps)[0]?.action.id).toBe(first)
})

describe('causes', () => {
  it('have each finding once, the worst first', () => {
    const causes = causesOf(morning)
    expect(causes.flatMap(({ findings }) => findings).toSorted()).toEqual(
      morning.document.findings.map(({ id }) => id).toSorted(),
    )
    const order = ['critical', 'high', 'medium', 'low', 'info']
    const ranks = causes.map(({ severity }) => order.indexOf(severity))
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
  })

  it('are one for a default that is the same in every cluster, with the values of most nodes first', () => {
    const findings = ['a', 'b', 'c'].map((cluster, index) =>
      on('alert-before-image-gc', cluster, 'general', setting(index === 2 ? 66 : 80)),
    )
    const nodes = findings.map(({ cluster, nodes: { sample } }) =>
      auditedNode(sample[0]!, sharedDisk(40), { cluster }),
    )
    const causes = causesOf(quietReport(nodes, { findings }))
    expect(causes).toHaveLength(1)
    const [{ cause, settings, nodes: where, ...group }] = causes as [CauseGroup]
    expect({ cause, count: where.count, clusters: where.places.length }).toEqual({
      cause: { ...imageGcThresholds, isDefault: true },
      count: 3,
      clusters: 3,
    })
    expect(settings[0]).toMatchObject({ path: 'imageGCHighThresholdPercent', now: ['85'] })
    expect(settings[0]!.values.map(({ value, subjects }) => [value, subjects.length])).toEqual([
      ['80', 2],
      ['66', 1],
    ])
    expect(commandsIn(group)).toEqual(['highwater plan 80', 'highwater plan 66'])
  })

  const leak = (bytes: number, more: Partial<HolderCause> = {}): Partial<Finding> => ({
    cause: {
      kind: 'holder',
      holder: 'leftover-snapshots',
      filesystem: 'imagefs',
      freedBy: 'nothing',
      amount: { unit: 'bytes', low: bytes, high: bytes },
      owner: null,
      place: null,
      ...more,
    },
  })
  const grouped = (findings: Finding[]) =>
    causesOf(quietReport([], { findings })).map(group =>
      group.findings.map(id => findings.find(one => one.id === id)?.rule),
    )

  it('are one for a holder that the platform frees, wherever it is and however much', () => {
    const findings = [on('eviction-due', 'a', 'x', leak(7)), on('image-gc-due', 'b', 'y', leak(8))]
    expect(grouped(findings)).toEqual([['eviction-due', 'image-gc-due']])
  })

  it('are one for each workload that has to act', () => {
    const layers = (workload: string) =>
      leak(7, {
        holder: 'writable-layers',
        owner: { kind: 'container', namespace: 'shop', pod: 'p', container: 'c', workload },
      })
    const findings = [
      on('eviction-due', 'a', 'x', layers('Deployment a')),
      on('eviction-loop', 'a', 'x', layers('Deployment a')),
      on('useless-eviction', 'a', 'y', layers('Deployment b')),
    ]
    expect(grouped(findings)).toEqual([['eviction-due', 'eviction-loop'], ['useless-eviction']])
  })

  it('are different for thresholds of different disks', () => {
    const findings = ['nodefs', 'imagefs'].map(disk =>
      on(disk, 'a', 'x', {
        cause: { ...hardThresholds, fields: [`evictionHard.${disk}.available`] },
      }),
    )
    expect(grouped(findings)).toEqual([['imagefs'], ['nodefs']])
  })

  const nodefs = (from: string, to: string, name: string, severity: Finding['severity']) => ({
    node: auditedNode(name, sharedDisk(40, { evictionHard: { 'nodefs.available': from } }), {
      cluster: 'prod',
    }),
    finding: on(name, 'prod', name, {
      ...{ severity, nodes: { count: 1, sample: [name] } },
      cause: { ...hardThresholds, fields: ['evictionHard.nodefs.available'] },
      fix: { config: { evictionHard: { 'nodefs.available': to } }, durable: [] },
    }),
  })

  it.each([
    ['other values now', ['30%', '10%', 'critical'], ['10%', '5%', 'low'], 2],
    ['lower and raise it', ['10%', '5%', 'low'], ['10%', '15%', 'high'], 2],
    ['lower it', ['30%', '10%', 'critical'], ['30%', '15%', 'low'], 1],
  ] as const)('of one field: %s', (_, [from, to, severity], [from2, to2, severity2], count) => {
    const both = [nodefs(from, to, 'a', severity), nodefs(from2, to2, 'b', severity2)]
    const report = quietReport(
      both.map(({ node }) => node),
      { findings: both.map(({ finding }) => finding) },
    )
    expect(causesOf(report)).toHaveLength(count)
  })

  const signal = 'evictionHard.nodefs.available'
  const imageGc = { fix: high(66), cause: { ...hardThresholds, fields: [signal] } }
  it.each([
    ['the node of one that lowers it', '30%', '10%', ['a'], 1],
    ['the node of one that raises it', '10%', '15%', ['a'], 1],
    ['another node, with the same value', '30%', '10%', ['c'], 2],
    ['that node and another one', '30%', '10%', ['a', 'c'], 2],
  ])('with one that does not set its field: of %s', (_, from, to, sample, count) => {
    const set = nodefs(from, to, 'a', 'critical')
    const other = nodefs(from, to, 'c', 'low')
    const open = on('eviction-before-image-gc', 'prod', 'x', {
      ...{ ...imageGc, severity: 'high' },
      nodes: { count: sample.length, sample },
    })
    const report = quietReport([set.node, other.node], { findings: [set.finding, open] })
    expect(causesOf(report)).toHaveLength(count)
  })

  it('with the values of all nodes of a finding', () => {
    const [a, b] = [nodefs('10%', '15%', 'a', 'high'), nodefs('30%', '15%', 'b', 'high')]
    const both = { ...a.finding, nodes: { count: 2, sample: ['a', 'b'] } }
    const [cause] = causesOf(quietReport([a.node, b.node], { findings: [both] }))
    expect(cause?.settings).toMatchObject([{ path: signal, now: ['10%', '30%'] }])
  })

  it('are one for reservations that differ by the size of the node', () => {
    const findings = ['893Mi', '1465Mi'].map(memory =>
      on('reserved-below-eks-formula', 'prod', memory, {
        ...{ family: 'reservations', severity: 'low' },
        cause: { ...hardThresholds, fields: ['kubeReserved'] },
        fix: { config: { kubeReserved: { memory } }, durable: [] },
      }),
    )
    expect(causesOf(quietReport([], { findings }))).toHaveLength(1)
  })

  it.each([
    ['the same nodes', 'a', [['eviction-due', 'alert-before-image-gc']]],
    ['other nodes', 'b', [['eviction-due'], ['alert-before-image-gc']]],
  ])('are one for one change of %s', (_, name, groups) => {
    const change = (rule: string, node: string, cause: Partial<Finding>) =>
      on(rule, 'prod', 'general', {
        ...setting(70),
        steps: adviceWith('highwater plan 70').map(step => ({
          ...step,
          action: { ...step.action, id: 'set-fields' as const },
        })),
        nodes: { count: 1, sample: [node] },
        ...cause,
      })
    const findings = [
      change('eviction-due', 'a', { cause: hardThresholds, severity: 'critical' }),
      change('alert-before-image-gc', name, {}),
    ]
    expect(grouped(findings)).toEqual(groups)
  })

  it('that are settings of which nothing was seen stand behind what was seen, and are called settings', () => {
    const advice = on('alert-before-image-gc', 'prod', 'general', setting(80))
    const seen = on('local-storage-limit-exceeded', 'prod', 'general', {
      seen: '1 pod went over its own limit.',
    })
    const report = { ...quietReport([]), nodes: [] }
    report.document.findings = [advice, seen]
    report.document.causes = causesOf(report)
    expect(report.document.causes.map(({ rule }) => rule)).toEqual([seen.rule, advice.rule])
    const labels = pageView(report, english).causes.shown.map(
      ({ statementLabel }) => statementLabel,
    )
    expect(labels).toEqual([english.words.causes.cause, english.words.causes.advice])
  })

  it('with one setting are named by what was seen, also if another node has less room', () => {
    const nodes = [60, 75, 89].map(used =>
      auditedNode(`c-${used}`, sharedDisk(used), { cluster: 'c' }),
    )
    const findings = [
      on('alert-before-image-gc', 'c', '89', setting(80)),
      on('disk-pressure-passed', 'c', '60', { ...setting(80), seen: '1 pod was evicted.' }),
      on('between', 'c', '75', { seen: 'A pull failed.' }),
    ]
    const causes = causesOf(quietReport(nodes, { findings }))
    expect(causes.map(({ rule }) => rule)).toEqual(['disk-pressure-passed', 'between'])
  })

  it.each([
    ['evicted for what they use, and others that may be', 'One pod was evicted.', 2],
    ['that may be evicted', undefined, 1],
  ])('are apart for pods %s', (_, seen, count) => {
    const requests: Partial<Finding> = {
      cause: {
        ...{ kind: 'setting', layer: 'workload', isDefault: false },
        fields: ['resources.requests.ephemeral-storage'],
      },
    }
    const findings = [
      on('pods-evicted', 'a', 'x', { ...requests, ...(seen !== undefined && { seen }) }),
      on('no-requests', 'a', 'x', requests),
    ]
    expect(causesOf(quietReport([], { findings }))).toHaveLength(count)
  })

  it('of disks that were not measured name the node with most writers', () => {
    const findings = ['a', 'b'].map((group, index) =>
      on('unmeasured-disk', 'prod', group, {
        cause: {
          ...{ kind: 'device', what: 'unmeasured', device: '/dev/sdb' },
          ...{ actualBytes: null, declaredBytes: null },
        },
        steps: [
          {
            ...adviceWith('lsblk')[0]!,
            action: {
              id: 'read-devices',
              mounts: ['/a (Job x/a)', '/b (Job x/b)'].slice(0, index),
            },
          },
        ],
        subject: nodegroup('workers'),
      }),
    )
    const [cause] = causesOf(quietReport([], { findings }))
    expect(cause?.findings[0]).toBe('unmeasured-disk prod b')
  })

  it('of the node nearest to eviction come first within a severity', () => {
    const nodes = [60, 89].map(used => auditedNode(`c-${used}`, sharedDisk(used), { cluster: 'c' }))
    const findings = ['60', '89'].map(used => on(`rule-${used}`, 'c', used))
    expect(causesOf(quietReport(nodes, { findings })).map(({ rule }) => rule)).toEqual([
      'rule-89',
      'rule-60',
    ])
  })

  it('of the node whose disk fills first at observed growth come before those', () => {
    const rate = 4 * 1024 ** 3
    const growth = {
      nodefs: {
        ...{ isSeen: true as const, readings: 5, falls: 0, overMs: 96 * 3_600_000 },
        bytesPerHour: { min: rate, median: rate, max: rate },
      },
    }
    const nodes = [60, 89].map(used =>
      auditedNode(`c-${used}`, sharedDisk(used), { cluster: 'c', ...(used === 60 && { growth }) }),
    )
    const findings = ['60', '89'].map(used => on(`rule-${used}`, 'c', used))
    const [first] = causesOf(quietReport(nodes, { findings }))
    expect(first?.rule).toBe('rule-60')
  })
})

describe('without observed growth', () => {
  const nodes = [2, 40, 60, 89, 91].map(used => auditedNode(`n${used}`, sharedDisk(used)))
  const outlook = outlookView(quietReport(nodes), english)

  it('there is headroom and no time', () => {
    expect(outlook.rows.map(({ name }) => name)).toEqual(['n91', 'n89'])
    for (const { state, note, isNow } of outlook.rows)
      if (!isNow) expect(`${state} ${note}`).not.toMatch(/\d (?:s|min|h|d)\b|within|in about/)
    expect(outlook.evicting).toBe(2)
  })

  it('nodes that evict stand in the verdict, also if all their findings are waived', () => {
    const report = quietReport(nodes, { waived: [finding('critical')] })
    const { headline } = pageView(report, english).verdict
    for (const part of [english.words.verdict.nothingFound, english.words.next.bands.now(2)])
      expect(headline).toContain(part)
    const summary = summaryText({ report, ruleErrors: [] }, { hasColour: false, language: english })
    for (const line of [headline, english.words.mail.waived(1)]) expect(summary).toContain(line)
  })

  it('no time stands in mail, subject or list', () => {
    const mail = renderMail(quietReport(nodes, { findings: [finding('high')] }), [])
    const { next } = mailView(quietReport(nodes), [], usualSize, {
      owner: null,
      unsubscribe: [],
      language: english,
    }).verdict
    for (const text of [mail.subject, mail.brief, ...next.map(({ state }) => state)])
      expect(text).not.toMatch(/in \d+\u00a0(?:min|h|d)|within \d/)
  })
})

describe('numbers', () => {
  it('are the same on page, in mail, terminal and document', () => {
    const { verdict, causes, findings, clusters } = pageView(morning, english)
    const mail = mailView(morning, [], usualSize, {
      owner: null,
      unsubscribe: [],
      language: english,
    })
    const records = causesOf(morning)
    expect(mail.verdict.headline).toBe(verdict.headline)
    expect(causes.count).toBe(String(records.length))
    expect(findings.count).toBe(String(morning.document.findings.length))
    expect(records.flatMap(record => record.findings)).toHaveLength(
      morning.document.findings.length,
    )
    expect(clusters.count).toBe(String(morning.document.clusters.length))
    expect(mail.verdict.tally.map(({ count }) => Number(count))).toEqual(
      verdict.tally.map(({ count }) => Number(count)),
    )
  })
})

it('a mail of 5,000 nodes in 32 clusters stays below 60 KB and names at most 12 causes', () => {
  const clusters = Array.from({ length: 32 }, (_, index) => clusterResult(`cluster-${index}`))
  const nodes = Array.from({ length: 5000 }, (_, index) =>
    auditedNode(
      `ip-10-0-${index >> 8}-${index & 255}.ec2.internal`,
      sharedDisk(20 + (index % 75)),
      { cluster: `cluster-${index % 32}` },
    ),
  )
  const findings = clusters.flatMap(({ name }) =>
    Array.from({ length: 30 }, (_, index) =>
      on(`rule-${index}`, name, `group-${index}`, {
        cause: { kind: 'world', event: 'growth', subject: `rule-${index}` },
      }),
    ),
  )
  const report = quietReport(nodes, { findings, clusters })
  const { html } = renderMail(report, [])
  expect(Buffer.byteLength(html)).toBeLessThan(60_000)
  const { causes } = mailView(report, [], usualSize, {
    owner: null,
    unsubscribe: [],
    language: english,
  })
  expect(causes!.cards.length + causes!.lines.length).toBeLessThanOrEqual(12)
})

describe('a cause in the mail', () => {
  const near = auditedNode('b-x', sharedDisk(89), { cluster: 'b' })
  const calm = auditedNode('a-x', sharedDisk(40), { cluster: 'a' })
  const mailed = (findings: Finding[]) =>
    mailView(quietReport([calm, near], { findings }), [], usualSize, {
      owner: null,
      unsubscribe: [],
      language: english,
    }).causes!

  it('shows the command for the node that it names: the nearest to eviction', () => {
    const findings = ['a', 'b'].map(cluster =>
      on('alert-before-image-gc', cluster, 'x', {
        ...setting(80),
        severity: cluster === 'a' ? 'high' : 'medium',
        family: 'image-gc',
        steps: adviceWith(`highwater plan --cluster ${cluster}`),
      }),
    )
    expect(commandsIn(causesOf(quietReport([calm, near], { findings }))[0]!)[0]).toContain('a')
    const [card] = mailed(findings).cards
    expect(card!.where).toContain('first b-x')
    expect(card!.commands).toEqual(['highwater plan --cluster b'])
  })

  it('on a line names the node of the verdict that it is for, and has its number there and on the page', () => {
    const worse = Array.from({ length: 3 }, (_, index) =>
      on(`rule-${index}`, 'a', 'x', { severity: 'high' }),
    )
    const findings = [
      ...worse,
      ...['a', 'b'].map(cluster =>
        on('alert-before-image-gc', cluster, 'x', { ...setting(80), family: 'image-gc' }),
      ),
    ]
    const report = quietReport([calm, near], { findings })
    const { lines } = mailed(findings)
    expect(lines.map(({ number, where }) => [number, where.includes('first b-x')])).toEqual([
      ['4.', true],
    ])
    const { causes, outlook } = pageView(report, english)
    expect(causes.shown.map(({ number }) => number)).toEqual(['1.', '2.', '3.', '4.'])
    expect(outlook.rows.find(({ name }) => name === 'b-x')?.step?.number).toBe('cause 4:')
  })

  it('that is not shown stands with the node of the verdict', () => {
    const nodes = [83, 84].map(used => auditedNode(`n-${used}`, sharedDisk(used), { cluster: 'b' }))
    const findings = [
      ...[0, 1, 2, 3].map(index => on(`rule-${index}`, 'a', 'x', { severity: 'critical' })),
      on('alert-before-image-gc', 'b', 'x', {
        ...{ ...setting(80), family: 'image-gc', nodes: { count: 1, sample: ['n-83'] } },
        steps: adviceWith('highwater plan'),
      }),
    ]
    const { next } = mailView(quietReport(nodes, { findings }), [], usualSize, {
      ...{ owner: null, unsubscribe: [], language: english },
    }).verdict
    expect(next.map(({ name, fill }) => [name, fill])).toEqual([
      ['n-84', null],
      ['n-83', 'cause 5: lower it'],
    ])
  })

  it('is not called better while its node evicts', () => {
    const evicting = auditedNode('b-x', sharedDisk(97), { cluster: 'b' })
    const due = on('eviction-due', 'b', 'x', { severity: 'critical', family: 'eviction' })
    const delta = deltaWith([[due.id, { change: 'better', why: ['fewer nodes'] }]])
    const next = auditedNode('b-x', sharedDisk(84), { cluster: 'b' })
    const labels = [next, evicting].map(node => {
      const report = {
        ...quietReport([node], { findings: [due] }),
        before: { ...lastRun(), delta },
      }
      const options = { owner: null, unsubscribe: [], language: english }
      return mailView(report, [], usualSize, options).causes?.cards[0]?.label
    })
    expect(labels).toEqual([english.words.changes.labels.better, null])
  })

  it('on a line says that its command replaces a node, and that it is one of several', () => {
    const [advice] = adviceWith('kubectl delete node x')
    const command = { place: 'a', command: 'kubectl delete node x', effect: 'replaces', nodes: 1 }
    const others = { ...command, command: 'kubectl delete node y' }
    const steps = [{ ...advice!, commands: [command, others, { ...others, command: 'z' }] }]
    const findings = Array.from({ length: 4 }, (_, index) =>
      on(`rule-${index}`, 'a', 'x', { steps: index === 3 ? (steps as Finding['steps']) : [] }),
    )
    const [line] = mailed(findings).lines
    expect(line!.step).toMatch(/ \(replaces 1 node, 1 of 3 commands\)$/)
  })

  it('on a line says that its command is for one of the nodes', () => {
    const [advice] = adviceWith('kubectl delete node x')
    const command = { place: 'a', command: 'kubectl delete node x', effect: 'replaces', nodes: 1 }
    const steps = [{ ...advice!, commands: [command] }] as Finding['steps']
    const nodes = { count: 6, sample: ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6'] }
    const findings = Array.from({ length: 4 }, (_, index) =>
      on(`rule-${index}`, 'a', 'x', index === 3 ? { steps, nodes } : { steps: [] }),
    )
    const [line] = mailed(findings).lines
    expect(line!.step).toMatch(/ \(replaces 1 node, command for 1 of 6 nodes\)$/)
  })

  it('has a step on a card and on a line', () => {
    const findings = Array.from({ length: 8 }, (_, index) =>
      on(`rule-${index}`, 'a', 'x', {
        docs: {
          ...finding('low').docs,
          fix: `Step ${index} of (101 - x) % (with a remark). Then look.`,
        },
      }),
    )
    const { cards, lines } = mailed(findings)
    expect([...cards, ...lines].map(({ step }) => step)).toEqual(
      [0, 1, 2, 3].map(index => `step ${index} of (101 - x) % (with a remark)`),
    )
  })

  it('has the price of a disk on a card, not on a line', () => {
    const [step] = adviceWith('highwater predict')
    const action = { id: 'larger-disk', bytes: 40 * 1024 ** 3, usdPerMonth: 1.6 } as const
    const findings = Array.from({ length: 4 }, (_, index) =>
      on(`rule-${index}`, 'a', 'x', { steps: [{ ...step!, action }] }),
    )
    const { cards, lines } = mailed(findings)
    expect(cards[0]?.step).toContain('USD')
    expect(lines[0]?.step).toContain('40.0')
    expect(lines[0]?.step).not.toContain('USD')
  })
})

it.each([
  ['one change ends both', { ...adviceWith('plan')[0]!, action: { id: 'set-fields' as const } }, 1],
  ['a plan sets other fields too', adviceWith('plan')[0]!, 2],
])('two causes of which %s: %i', (_, step, count) => {
  const same = { fix: high(70), steps: [step] }
  const findings = [
    on('a', 'prod', 'web', { ...same, cause: imageGcThresholds }),
    on('b', 'prod', 'web', { ...same, cause: hardThresholds }),
  ]
  const causes = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
  expect(causes).toHaveLength(count)
})

it('puts the cause of the next node before the second cause of the first', () => {
  const nodes = [97, 88, 40].map(used =>
    auditedNode(`c-${used}`, sharedDisk(used), { cluster: 'c' }),
  )
  const findings = (
    [
      ['first', '97', 'critical'],
      ['second', '97', 'high'],
      ['near', '88', 'high'],
      ['calm', '40', 'high'],
    ] as const
  ).map(([rule, used, severity]) => on(rule, 'c', used, { severity, seen: 'It happened.' }))
  const causes = causesOf(quietReport(nodes, { findings }))
  expect(causes.map(({ rule }) => rule)).toEqual(['first', 'near', 'second', 'calm'])
})

it('puts a setting of a node that was named behind the cause of the next node', () => {
  const nodes = [97, 92, 88].map(used =>
    auditedNode(`c-${used}`, sharedDisk(used), { cluster: 'c' }),
  )
  const findings = [
    on('first', 'c', '97', { severity: 'critical', seen: 'It happened.' }),
    on('setting', 'c', '97', {
      ...{ ...setting(80), severity: 'high' },
      nodes: { count: 2, sample: ['c-97', 'c-88'] },
    }),
    on('near', 'c', '92', { severity: 'high', seen: 'It happened.' }),
  ]
  const causes = causesOf(quietReport(nodes, { findings }))
  expect(causes.map(({ rule }) => rule)).toEqual(['first', 'near', 'setting'])
})

it('keeps a critical node that was not read among what is critical', () => {
  const gap = { cause: { kind: 'unread', source: 'node', reason: 'refused' } } as const
  const findings = [
    {
      ...on('gap', 'prod', 'web', gap),
      family: 'coverage' as const,
      severity: 'critical' as const,
    },
    on('critical', 'prod', 'api', { severity: 'critical', seen: 'A pod was evicted.' }),
    on('high', 'prod', 'web', { severity: 'high', seen: 'A pod was evicted.' }),
  ]
  const causes = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
  expect(causes.map(({ rule }) => rule)).toEqual(['critical', 'gap', 'high'])
})

it('names the next node before it says that a node with a cause was not read', () => {
  const near = auditedNode('c-88', sharedDisk(88), { cluster: 'c' })
  const gap: Partial<Finding> = {
    ...{ family: 'coverage', severity: 'critical' },
    cause: { kind: 'unread', source: 'node', reason: 'refused' },
  }
  const findings = [
    on('refused', 'c', '41', { severity: 'critical', seen: 'It refuses its files.' }),
    on('gap', 'c', '41', gap),
    on('near', 'c', '88', { severity: 'high', seen: 'It happened.' }),
    on('calm', 'c', '40', { severity: 'high', seen: 'It happened.' }),
  ]
  const causes = causesOf(quietReport([near], { findings }))
  expect(causes.map(({ rule }) => rule)).toEqual(['refused', 'near', 'gap', 'calm'])
})

it('ranks what was seen above a node that was not read', () => {
  const gap = { cause: { kind: 'unread', source: 'node', reason: 'forbidden' } } as const
  const findings = [
    { ...on('gap', 'prod', 'web', gap), family: 'coverage' as const, severity: 'high' as const },
    { ...on('seen', 'prod', 'web', { seen: 'A pod was evicted.' }), severity: 'medium' as const },
    { ...on('unseen', 'prod', 'web', {}), severity: 'medium' as const },
  ]
  const causes = causesOf({ ...quietReport([]), document: { ...morning.document, findings } })
  expect(causes.map(({ rule }) => rule)).toEqual(['seen', 'gap', 'unseen'])
})

describe('of a node with a disk for images', () => {
  const GiB = 1024 ** 3
  const disks = dedicatedDisks(filesystem(900 * GiB, 800 * GiB), filesystem(200 * GiB, 28 * GiB), {
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
  })
  const node = auditedNode('split', disks, { cluster: 'prod' })
  const onSplit = (rule: string, more: Partial<Finding>) =>
    on(rule, 'prod', 'split', { nodes: { count: 1, sample: ['split'] }, ...more })
  const of = (
    filesystem: 'nodefs' | 'imagefs',
    unit: 'bytes' | 'inodes',
    holder: HolderCause['holder'] = 'kubelet',
  ): Partial<Finding> => ({
    cause: {
      ...{ kind: 'holder', holder, filesystem, freedBy: 'image-gc' },
      ...{ amount: { unit, low: 1, high: 1 }, owner: null, place: null },
    },
  })
  const threshold = (signal: string): Partial<Finding> => ({
    cause: { ...hardThresholds, fields: [`evictionHard.${signal}`] },
  })

  it.each<[string, Partial<Finding>]>([
    ['the threshold of the other disk', threshold('nodefs.available')],
    ['what holds the other disk', of('nodefs', 'bytes')],
    ['inodes', of('imagefs', 'inodes')],
    ['memory', threshold('memory.available')],
  ])('the cause is that of the disk that is next to break, not %s', (_, other) => {
    const findings = [
      onSplit('other', { ...other, family: 'eviction', severity: 'critical' }),
      onSplit('own', {
        ...of('imagefs', 'bytes', 'images-in-use'),
        family: 'eviction',
        severity: 'high',
      }),
    ]
    const report = withCauses(quietReport([node], { findings }))
    const { causes, outlook } = causesAndOutlook(report, english)
    expect(causes[outlook.rows[0]!.cause!]?.rule).toBe('own')
  })
})

it.each([
  ['resources.requests.ephemeral-storage', 0],
  ['maxPods', null],
])('of a full disk is the request of a pod, too, and no other setting: %s', (field, index) => {
  const held = { nodefs: { cause: images, steps: [] } }
  const node = auditedNode('c-82', sharedDisk(82), { cluster: 'c', held })
  const findings = [
    on('disk-pressure-passed', 'c', '82', {
      ...{ family: 'eviction', severity: 'high' },
      cause: { ...hardThresholds, fields: [field] },
    }),
  ]
  const report = withCauses(quietReport([node], { findings }))
  expect(causesAndOutlook(report, english).outlook.rows[0]!.cause).toBe(index)
})

describe('where a cause is', () => {
  const whereOf = (findings: Finding[]) => {
    const report = { ...quietReport([]), document: { ...morning.document, findings } }
    const causes = causesOf(report)
    const all = { ...report, document: { ...report.document, causes } }
    const { cards } = mailView(all, [], usualSize, {
      owner: null,
      unsubscribe: [],
      language: english,
    }).causes!
    const [cause] = cards
    return [causes[0]!.nodes.ofRule, cause!.where]
  }
  const pressure = (group: string) =>
    on('repeated-pressure', 'prod', group, { ...setting(80), severity: 'high' })
  const alerts = ['a', 'b', 'c'].map(group =>
    on('alert-before-image-gc', 'prod', group, setting(80)),
  )

  it('names the node that has it, and counts those with the same setting', () => {
    expect(whereOf([pressure('b'), ...alerts])).toEqual([
      1,
      'prod-b, Nodegroup b, cluster prod; the same setting on 2 more nodes',
    ])
    expect(whereOf([pressure('b'), pressure('c'), ...alerts])).toEqual([
      2,
      '2 nodes in 1 cluster, first prod-b; the same setting on 1 more node',
    ])
    expect(whereOf(alerts)).toEqual([undefined, '3 nodes in 1 cluster, first prod-a'])
  })

  it.each([
    ['high', 'the same cause on 1 more node'],
    ['medium', 'less urgent on 1 more node'],
  ] as const)('counts those with the same holder, here of severity %s', (severity, shared) => {
    const holder = { cause: images, severity: 'high' as const }
    const [first, other] = [
      on('disk-nearly-full', 'prod', 'b', holder),
      on('inode-growth', 'prod', 'c', { ...holder, severity }),
    ]
    expect(whereOf([first, other])[1]).toBe(`prod-b, Nodegroup b, cluster prod; ${shared}`)
  })
})
