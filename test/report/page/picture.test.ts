import { expect, it } from 'vitest'
import { hardThresholds, imageGcThresholds } from '#judge/rule.ts'
import type { CauseGroup, CauseSetting, Step } from '#model/finding.ts'
import { renderPage } from '#report/compiled-templates.js'
import { english } from '#report/languages/language.ts'
import { pageView } from '#report/page/view.ts'
import { causeOnNode, type FoundCause, reasonOf, stepLinesOf } from '#report/parts/causes.ts'
import { fillTexts } from '#report/parts/ledger.ts'
import { stepLines, withNote } from '#report/parts/steps.ts'
import {
  adviceWith,
  auditedNode,
  diskLedger,
  finding,
  GiB,
  morningReport,
  sharedDisk,
} from '#test/report-builder.ts'

const plain = (text: string | undefined) => (text ?? '').replaceAll('\u00a0', ' ')

/** The node's first hard threshold acts at 85 %. */
it.each([
  [80, false],
  [85, false],
  [88, true],
])('with an alert at %i % says that eviction comes before it: %s', (alertPercent, isSaid) => {
  const about = pageView({ ...morningReport(), alertPercent }, english).picture?.about ?? ''
  expect(about.includes(english.words.picture.beforeAlert(false))).toBe(isSaid)
})

it.each([
  ['memory', sharedDisk(20, { memoryAvailableBytes: 0 }), '100.0 MiB must be freed'],
  [
    'a soft threshold',
    sharedDisk(80, {
      evictionHard: { 'nodefs.available': '10%' },
      evictionSoft: { 'nodefs.available': '30%' },
    }),
    'GiB must be freed',
  ],
])('says how much must be freed where no part of the bar shows it: %s', (_, prediction, words) => {
  const { picture } = pageView(
    { ...morningReport(), nodes: [auditedNode('a', prediction)] },
    english,
  )
  expect(plain(picture?.about)).toContain(words)
})

it('explains the red part of the bar where there is one', () => {
  const view = pageView(morningReport(), english)
  const { over } = english.words.picture
  const picture = view.picture!
  const overrun = { x: '85%', width: '3%', y: 0 }
  const legend = [{ kind: 'images', label: 'images', amount: '1.0 GiB', isUnknown: false }]
  const pageOf = (part: typeof overrun | null) =>
    renderPage({
      ...view,
      picture: { ...picture, legend, bar: { ...picture.bar, over: part } },
    } as never)
  expect(pageOf(overrun)).toContain(over)
  expect(pageOf(null)).not.toContain(over)
})

const found = (cause: FoundCause['cause'], settings: CauseSetting[], seen?: string) => {
  const [step] = adviceWith('highwater plan')
  return {
    cause,
    settings,
    steps: [{ ...step!, action: { id: 'set-fields' }, disturbs: 'kubelet-restart' }],
    findings: [finding('high', { seen })],
  } as unknown as FoundCause
}
const setting = (path: string, now: string[], value: string): CauseSetting => ({
  path,
  now,
  values: [{ value, subjects: [] }],
})

it('shows the value that runs beside the value to set, and what the value does, without repeating it', () => {
  const lowered = setting('evictionHard.nodefs.available', ['30%'], '10%')
  const wrong = found(hardThresholds, [lowered], 'The default would not evict.')
  const [line] = stepLinesOf(wrong, english)
  expect(line).toMatchObject({
    text: 'set evictionHard.nodefs.available 30% → 10%',
    note: 'restarts the kubelet',
  })
  expect(reasonOf(wrong, english)).toBe('The default would not evict')
  expect(reasonOf(found(hardThresholds, [lowered]), english)).toBeNull()
})

const sortOf: Record<string, Pick<Step, 'kind' | 'disturbs'>> = {
  'larger-disk': { kind: 'resize', disturbs: 'node-replaced' },
  'look-on-node': { kind: 'read-more', disturbs: 'nothing' },
  'prune-images': { kind: 'free', disturbs: 'kubelet-restart' },
  'replace-node': { kind: 'replace', disturbs: 'node-replaced' },
  'restart-pod': { kind: 'free', disturbs: 'pods' },
  'enlarge-node-class': { kind: 'set', disturbs: 'node-replaced' },
}

it.each([
  [['larger-disk', 'restart-pod'], /^Now: restart .* free then\. Then: give .* \(moves pods /],
  [
    ['look-on-node', 'enlarge-node-class'],
    /^Now: look .* \(reads only\)\. Then: give .* \(moves pods /,
  ],
  [
    ['look-on-node', 'replace-node'],
    /^What to do: 1\. look .* \(reads only\)\. 2\. replace .* \(moves pods /,
  ],
  [['prune-images'], /^What to do: let .* \(restarts the kubelet\)$/],
  [['enlarge-node-class', 'look-on-node'], /^What to do: 1\. give .* 2\. look .* \(reads only\)$/],
])('puts what helps at once before what lasts: %s', (ids, expected) => {
  const steps = ids.map(id => ({ ...sortOf[id]!, action: { id }, commands: [], ends: 'all' }))
  const lines = stepLines(steps as Step[], null, null, english)
  expect(lines.map(line => `${line.key}: ${withNote(line, english)}`).join('. ')).toMatch(expected)
})

it.each([
  ['04:40', 1, /; DiskPressure since 2026-09-27 04:40 UTC; 1 pod evicted, at 04:40 UTC;/],
  ['04:20', 1, /; 1 pod evicted earlier, at 04:20 UTC;/],
  // The record keeps no more.
  ['04:20', 24, /; 24 or more pods evicted earlier, last 04:20 UTC;/],
  [null, 0, /; by its use and threshold it evicts; the node reports no DiskPressure/],
])('says whether the eviction was observed: a pod at %s', (time, count, expected) => {
  const [one] = morningReport().nodes
  const node = auditedNode('a', sharedDisk(99))
  const at = (text: string) => `2026-09-27T${text}:00Z`
  const seen = (text: string) => ({
    pressures: [{ condition: 'DiskPressure' as const, since: at('04:40') }],
    happened: Array.from({ length: count }, () => ({
      ...({ at: at(text), what: 'evicted', subject: 'x/y', message: '' } as const),
      resource: 'memory',
    })),
  })
  const nodes = [{ ...node, ...(time !== null && seen(time)) }, ...(one ? [one] : [])]
  const { picture } = pageView({ ...morningReport(), nodes }, english)
  expect(picture?.about).toMatch(expected)
})

it('puts place and step of the worst cause into the verdict if no shown node has it', () => {
  const owner = { id: 'set-ephemeral-storage' } as const
  const limit = finding('critical', {
    rule: 'own-limit',
    cluster: 'prod',
    subject: { kind: 'Node', namespace: null, name: 'far' },
    nodes: { count: 1, sample: ['far'] },
    steps: [{ kind: 'ask-owner', action: owner, commands: [], ends: 'all', disturbs: 'pods' }],
  })
  const causes: CauseGroup[] = [
    {
      ...{ cause: { kind: 'world', event: 'pods-evicted', subject: null }, rule: 'own-limit' },
      ...{ severity: 'critical', findings: [limit.id], settings: [], steps: limit.steps },
      nodes: { count: 1, sample: ['far'], places: [] },
    } as never,
  ]
  const document = { ...morningReport().document, findings: [limit], causes }
  const { first } = pageView({ ...morningReport(), document, nodes: [] }, english).verdict
  expect(first?.text).toMatch(/^Node far, cluster prod: /)
  expect(first?.steps).toMatchObject([
    { key: 'What to do', text: expect.stringMatching(/ephemeral-storage \(restarts pods\)$/) },
  ])
})

it('gives a node the size and the value of its own finding', () => {
  const [step] = adviceWith('highwater predict')
  const sized = (name: string, bytes: number) =>
    finding('high', {
      subject: { kind: 'Node', namespace: null, name },
      nodes: { count: 1, sample: [name] },
      steps: [{ ...step!, action: { id: 'larger-disk', bytes } }],
    })
  const findings = [sized('small', 40 * 1024 ** 3), sized('large', 380 * 1024 ** 3)]
  const subjects = findings.map(({ cluster, subject }) => ({ cluster, subject }))
  const cause = {
    ...found({ ...hardThresholds, fields: ['imageGCHighThresholdPercent'] }, [
      {
        path: 'imageGCHighThresholdPercent',
        now: ['85'],
        values: subjects.map((subject, index) => ({ value: `7${index}`, subjects: [subject] })),
      },
    ]),
    findings,
    steps: findings[0]!.steps,
  }
  const own = causeOnNode(cause, { cluster: findings[0]!.cluster, name: 'large' })
  expect(own.steps[0]?.action.bytes).toBe(380 * 1024 ** 3)
  expect(own.settings[0]?.values.map(({ value }) => value)).toEqual(['71'])
  expect(causeOnNode(cause, { cluster: 'another', name: 'large' })).toBe(cause)
})

it('names the values of several nodes as the reason', () => {
  const mixed = setting('imageGCHighThresholdPercent', ['85', '90'], '70')
  const cause = found(imageGcThresholds, [mixed])
  expect(stepLinesOf(cause, english)[0]?.text).toContain('set imageGCHighThresholdPercent 70')
  expect(reasonOf(cause, english)).toContain('imageGCHighThresholdPercent is 85, 90')
})

it.each([
  ['more than the holder has for certain', [2, 3, 3], ', 3.0 GiB not measured'],
  ['less than that', [2, 1, 1], null],
  ['known by two bounds', [2, 1, 3], '; the rest was not measured'],
  ['more than little', [0.5, 3, 3], ', 3.0 GiB not measured'],
] as const)('says how much is not measured where it is %s', (_, gib, words) => {
  const [low, unreadLow, unreadHigh] = gib
  const ledger = diskLedger(
    ['images-in-use', low * GiB, 12 * GiB],
    ['unread', unreadLow * GiB, unreadHigh * GiB],
  )
  const text = plain(
    english.words.clauses(fillTexts(auditedNode('a', sharedDisk(75)), ledger, english)),
  )
  const least = low < 1 ? '512.0 MiB' : '2.0 GiB'
  expect(text.startsWith(`images in use ${least} to 12.0 GiB`)).toBe(true)
  if (words === null) expect(text).not.toContain('not measured')
  else expect(text).toContain(words)
})

it('says that nothing was measured where two bounds say nothing', () => {
  const ledger = diskLedger(['images-in-use', GiB, 60 * GiB], ['unread', GiB, 50 * GiB])
  const texts = fillTexts(auditedNode('a', sharedDisk(75)), ledger, english)
  expect(plain(texts[0] ?? '')).toMatch(/^not measured \S+ GiB \(images in use up to 60\.0 GiB\)$/)
})

it('says first what is known of a node that was not read in full, then why it was not', () => {
  const unread = found({ kind: 'unread', source: 'node', reason: 'forbidden' }, [], 'It is full.')
  const document = {
    ...morningReport().document,
    findings: unread.findings,
    causes: [
      {
        ...{ ...unread, findings: unread.findings.map(({ id }) => id) },
        nodes: { count: 1, sample: ['a'], places: [] },
      } as never,
    ],
  }
  const { causes } = pageView({ ...morningReport(), document, nodes: [] }, english)
  expect(causes.shown[0]?.statement).toBe('It is full (a right is missing).')
})
