import { marked } from 'marked'
import { describe, expect, it } from 'vitest'
import type { GateDocument, GateProblem } from '#model/gate.ts'
import { gateSarif } from '#report/gate/sarif.ts'
import { gateMarkdown, gateText } from '#report/gate/words.ts'

const harm =
  '<script>alert(1)</script>|@somebody [x](http://example.com) `$1` \u001b[31m\u202e\n::error::x\n<!-- -->'

const harmedGroup = { kind: 'Nodegroup', namespace: null, name: harm } as const

const problem: GateProblem = {
  kind: 'refused',
  ...{ stops: true, file: `a/${harm}.yaml`, line: 3, field: harm },
  ...{ cluster: harm, group: harmedGroup },
  ...{ nodes: { count: 1, sample: [harm] }, rule: null, severity: null, text: harm, detail: harm },
  values: { before: [harm, null], after: [harm] },
  most: [{ signal: harm, available: 2 ** 30, percent: 1 }],
  instead: [{ settings: { [harm]: harm }, nodes: 1 }],
  otherLine: null,
}

const hostile: GateDocument = {
  schema: 'highwater.gate/1',
  version: '0.1.0',
  takenAt: '2026-11-21T00:00:00Z',
  verdict: 'refused',
  comparedWith: 'base',
  waived: [],
  files: Array.from({ length: 500 }, () => ({
    file: harm,
    kinds: ['NodeConfig' as const],
    unread: null,
    nodes: 1,
    reach: harm,
  })),
  groups: Array.from({ length: 500 }, () => ({
    ...{ cluster: harm, group: harmedGroup, nodes: 1, refused: 1, worse: 0 },
    ...{ unread: 0, better: 0, unchanged: 0, imageGcs: 0, evictions: 0 },
    settings: Array.from({ length: 20 }, () => ({
      field: harm,
      values: { before: [harm, null], after: [harm] },
    })),
  })),
  problems: Array.from({ length: 1_000 }, () => ({
    ...problem,
    nodes: { count: 1, sample: [harm] },
    text: `${harm}${'x'.repeat(10_000)}`,
  })),
}

describe('a gate on hostile names', () => {
  it('is a comment without markup of the names, below the limit of GitHub', async () => {
    const text = gateMarkdown(hostile)
    expect(text.length).toBeLessThan(65_536)
    for (const mark of ['\u202e', '\u001b']) expect(text).not.toContain(mark)
    const html = await marked.parse(text)
    expect(html).not.toMatch(/<script|<a |<img/)
    expect(html).not.toContain('@somebody')
  })

  it('is text that controls no terminal', () => {
    const text = gateText(hostile, heading => heading)
    for (const mark of ['\u202e', '\u001b']) expect(text).not.toContain(mark)
    expect(text.split('\n').filter(line => /^::/.test(line))).toEqual([])
  })

  it('is SARIF whose URIs are paths', () => {
    const { results } = JSON.parse(gateSarif(hostile)).runs[0]
    const { uri } = results[0].locations[0].physicalLocation.artifactLocation
    expect(uri).toMatch(/^[\w%./()'*!~-]+$/)
    expect(JSON.stringify(results[0])).not.toContain('\u001b')
  })
})

it('names the values of the field before and after, those of all groups together', () => {
  const of = (name: string, before: (string | null)[]): GateProblem => ({
    ...problem,
    ...{
      kind: 'worse',
      file: 'a.yaml',
      field: 'evictionHard.nodefs.available',
      ...{ text: 'Too small.', detail: null },
    },
    ...{ cluster: 'prod', group: { ...harmedGroup, name } },
    ...{ values: { before, after: ['10'] }, most: [], instead: [] },
  })
  const problems = [of('general', ['10%', null]), of('batch', ['10%']), of('gpu', ['5%', '4%'])]
  const shown =
    'Too small. (evictionHard.nodefs.available: 10% or no threshold or 5% or others → 10)'
  expect(gateText({ ...hostile, problems }, text => text)).toContain(shown)
  expect(gateMarkdown({ ...hostile, files: [], problems })).toContain('Too small.')
  const head = gateMarkdown({ ...hostile, files: [], problems }).split('\n')[0]
  expect(head).toBe('## ❌ Do not merge: a.yaml:3 leads to "Too small" on 3 nodes')
  const unknown = problems.map(one => ({ ...one, values: null }))
  expect(gateText({ ...hostile, groups: [], problems: unknown }, text => text)).not.toContain('→')
})

it('shows nodes that are not judged, and values without a finding, by group', () => {
  const group = {
    ...hostile.groups[0]!,
    ...{ cluster: 'prod', group: { ...harmedGroup, name: 'general' } },
    ...{ nodes: 3, refused: 0, unread: 2, unchanged: 1 },
  }
  const settings = [{ field: 'maxPods', values: { before: [null], after: ['50'] } }]
  const groups = [
    { ...group, settings },
    { ...group, settings: [] },
  ]
  const document = { ...hostile, files: [], problems: [], groups }
  expect(
    gateText(document, text => text)
      .split('\n')
      .slice(-5, -1),
  ).toEqual([
    'Groups',
    '  prod/general: 3 nodes: 2 not judged, 1 unchanged',
    '    maxPods: not set → 50',
    '  prod/general: 3 nodes: 2 not judged, 1 unchanged',
  ])
  const rows = gateMarkdown(document)
    .split('\n')
    .filter(line => line.startsWith('| prod'))
  expect(rows).toEqual([
    '| prod/general | 3 | maxPods: not set → 50 | ⚪ not judged on 2 nodes |',
    '| prod/general | 3 | unknown: not read | ⚪ not judged on 2 nodes |',
  ])
})

it('names the values that a threshold may have, those that hold in each group', () => {
  const of = (name: string, more: Partial<GateProblem>): GateProblem => ({
    ...{ ...problem, kind: 'eviction', field: null, text: 'It evicts.', detail: null },
    ...{ cluster: 'prod', group: { ...harmedGroup, name }, values: null, most: [], instead: [] },
    ...more,
  })
  const textOf = (...problems: GateProblem[]) => gateMarkdown({ ...hostile, files: [], problems })
  const [signal, GiB] = ['nodefs.available', 2 ** 30]
  const roomy = { signal, available: 40 * GiB, percent: 40 }
  const small = { signal, available: 3.29 * GiB, percent: 41 }
  expect(textOf(of('a', { most: [roomy] }), of('b', { most: [small] }))).toContain(
    'It evicts. Now nodefs.available is 3.3 GiB (40%): set less than that.',
  )
  const field = 'evictionHard.nodefs.available'
  const runs = (now: string) => ({
    field,
    values: { before: [now], after: ['15Gi'] },
    most: [small],
  })
  expect(textOf(of('a', runs('10%')))).toContain("(41%): set less than that, such as today's 10%.")
  expect(textOf(of('a', runs('10%')), of('b', runs('5%')))).toContain('(41%): set less than that.')
  const few = { signal: 'nodefs.inodesFree', available: 900, percent: null }
  const low = { signal: 'memory.available', available: 1023 * 1024 ** 2 - 1, percent: 7 }
  expect(textOf(of('a', { most: [few, low] }))).toContain(
    'Now nodefs.inodesFree is 900 inodes and memory.available is 1023.0 MiB (7%): set less than that.',
  )
  const pair = { settings: { a: '85', b: '80' }, nodes: 2 }
  expect(textOf(of('a', { instead: [pair] }), of('b', { instead: [pair] }))).toContain(
    'It evicts. Write a 85 and b 80 instead.',
  )
  const other = { settings: { a: '80' }, nodes: 1 }
  expect(textOf(of('a', { instead: [pair] }), of('b', { instead: [other, pair] }))).toContain(
    'It evicts. Write a 85 and b 80 on 2 nodes of prod/a and 2 nodes of prod/b, a 80 on 1 node of prod/b instead.',
  )
})

it('names the line of the other field of a pair', () => {
  const pair = { ...problem, file: 'a.yaml', otherLine: 7, text: 'Refused.', most: [], instead: [] }
  const shown = { ...hostile, files: [], groups: [], problems: [pair] }
  expect(gateText(shown, text => text)).toContain('Refused. (the other field is on line 7)')
  expect(gateMarkdown(shown)).toContain('Refused. (the other field is on line 7)')
})

it('names settings that one reason leaves without effect in one entry', () => {
  const of = (field: string, line: number, name: string): GateProblem => ({
    ...problem,
    ...{ kind: 'no-effect', file: 'a.sh', line, field, text: 'nothing reads it.', detail: null },
    ...{ cluster: 'prod', group: { ...harmedGroup, name }, values: null },
  })
  const problems = [of('maxPods', 3, 'general'), of('podPidsLimit', 4, 'general')]
  const text = gateMarkdown({
    ...hostile,
    files: [],
    problems: [...problems, of('maxPods', 3, 'batch')],
  })
  expect(text.split('\n').filter(line => line.startsWith('- **'))).toEqual([
    '- **a.sh:3** maxPods, podPidsLimit (line 4) take no effect: nothing reads it.',
    '- **a.sh:3** maxPods, podPidsLimit *2 nodes in 2 groups: prod/general (1), prod/batch (1)*',
  ])
  const group = {
    ...hostile.groups[0]!,
    cluster: 'prod',
    group: { ...harmedGroup, name: 'general' },
  }
  expect(gateMarkdown({ ...hostile, files: [], problems, groups: [group] })).toContain(
    '❌ 2 settings without effect on 1 node',
  )
})

it('gives no verdict on files that are not read, or that reach no node', () => {
  const file = { file: 'main.tf', kinds: [], unread: 'Terraform' as const, nodes: 0, reach: 'why' }
  const unread: GateProblem = { ...problem, kind: 'unread', stops: false, field: null }
  const read = { ...file, file: 'a.yaml', kinds: ['NodeConfig' as const], unread: null }
  const headOf = (files: GateDocument['files'], groups: GateDocument['groups']) =>
    gateMarkdown({
      ...{ ...hostile, files, groups },
      verdict: files.includes(file) ? 'unread' : 'ok',
      problems: files.includes(file) ? [unread, { ...unread, field: 'maxPods' }] : [],
    }).split('\n')[0]
  const groups = hostile.groups.slice(0, 1)
  expect([
    headOf([file], []),
    headOf([read], []),
    headOf([read, file], groups),
    headOf([read], groups),
  ]).toEqual([
    '## ⚪ Not judged: 1 file and 1 value could not be read',
    '## ⚪ Not judged: no node of the snapshot is reached',
    '## ⚪ No node gets worse by what was read, but not all is judged: 1 file and 1 value',
    '## ✅ Merge: no node gets worse',
  ])
})
