import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { diffText } from '#cli/diff.ts'
import type { DiffDocument, ListedChange } from '#model/delta.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess, runCommand } from '#test/in-process.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

/** Nothing is wrong with it but what a test says. */
const sound = { imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }
const early = { takenAt: '2026-11-20T07:00:00Z' }
const late = { takenAt: '2026-11-21T07:00:00Z' }
const soundNode = (name: string) => ({ name, configuration: sound })

const diff = (...args: string[]) => inProcess(['diff', ...args])
async function diffJson(...args: string[]) {
  const { code, stdout, stderr } = await diff(...args, '--format', 'json')
  return { code, stderr, document: JSON.parse(stdout) as DiffDocument }
}
const timed = (text: string, takenAt: string) =>
  text.replace(/"takenAt": *"[^"]*"/, `"takenAt": ${JSON.stringify(takenAt)}`)
const rulesOf = (found: ListedChange[]) => found.map(({ rule }) => rule)

/** The findings.json that an audit of the snapshot writes. */
async function findingsOf(snapshot: string, ...args: string[]): Promise<string> {
  const path = join(temporaryFolder(), 'yesterday.txt')
  const { stdout } = await inProcess([
    'audit',
    '--snapshot',
    snapshot,
    '--out',
    temporaryFolder(),
    '--format',
    'json',
    ...args,
  ])
  writeFileSync(path, stdout)
  return path
}

function policyFile(text: string): string {
  const path = join(temporaryFolder(), 'highwater.yaml')
  writeFileSync(path, text)
  return path
}

describe('highwater diff of two snapshots', () => {
  it('tells what is new, and what was fixed the other way round', async () => {
    const [old, now] = [
      savedSnapshot([soundNode('a')], early),
      savedSnapshot([{ name: 'a' }], { ...late, name: 'now.ndjson.gz' }),
    ]
    const { code, stderr, document } = await diffJson(old, now)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(document).toMatchObject({
      schema: 'highwater.diff/1',
      old: { file: old, kind: 'snapshot', takenAt: '2026-11-20T07:00:00Z', inputErrors: [] },
      new: { file: now, kind: 'snapshot', takenAt: '2026-11-21T07:00:00Z', inputErrors: [] },
      clusters: [{ name: 'prod', after: { grade: 'C' } }],
      nodes: { gone: [], come: [], notReadNow: [] },
      notes: [],
    })
    expect(rulesOf(document.findings.new)).toEqual(['alert-before-image-gc'])
    const back = await diffJson(now, old)
    expect(rulesOf(back.document.findings.fixed)).toEqual(['alert-before-image-gc'])
    expect(back.document.notes).toEqual([expect.stringContaining('wrong way round')])
  })

  it('has the keys that its documentation names, in that order', async () => {
    const file = savedSnapshot([{ name: 'a' }])
    const { document } = await diffJson(file, file)
    expect(Object.keys(document)).toEqual([
      'schema',
      'old',
      'new',
      'clusters',
      'findings',
      'unchanged',
      'nodes',
      'notes',
      'kubeletUpgrades',
    ])
    const documented = readFileSync(new URL('../../src/model/delta.ts', import.meta.url), 'utf8')
    for (const key of [
      ...Object.keys(document),
      ...Object.keys(document.findings),
      ...Object.keys(document.nodes),
    ])
      expect(documented).toContain(`"${key}":`)
  })

  it('lists what a newer kubelet changes on replaced nodes, by group', async () => {
    const negative = { ...sound, imageMinimumGCAge: '-1s' }
    const old = savedSnapshot(
      [
        { name: 'a', kubeletVersion: 'v1.33.2', configuration: negative },
        { ...soundNode('b'), kubeletVersion: 'v1.33.2' },
        { ...soundNode('c'), kubeletVersion: 'v1.33.5' },
      ],
      early,
    )
    const now = savedSnapshot([{ ...soundNode('d'), kubeletVersion: 'v1.36.1' }], late)
    const { document } = await diffJson(old, now)
    const upgrades = document.kubeletUpgrades ?? []
    expect(upgrades.map(({ from, to, nodes }) => ({ from, to, nodes: nodes.sample }))).toEqual([
      { from: 'v1.33.2', to: 'v1.36.1', nodes: ['a'] },
      { from: 'v1.33.2', to: 'v1.36.1', nodes: ['b'] },
      { from: 'v1.33.5', to: 'v1.36.1', nodes: ['c'] },
    ])
    expect(upgrades[0]).toMatchObject({
      group: { kind: 'Nodegroup', name: 'workers' },
      basis: 'configz',
      errors: [expect.stringContaining('imageMinimumGCAge')],
    })
    expect(upgrades[1]?.errors).toEqual([])
    const { stdout } = await diff(old, now)
    expect(stdout).toContain('Kubelet upgrades (3)')
    expect(stdout).toContain('prod, nodegroup workers: v1.33.2 → v1.36.1 (a)')
    expect(stdout).toContain('kubelet v1.36.1 would not start')
    expect((await diffJson(now, old)).document.kubeletUpgrades).toEqual([])
    expect((await diffJson(await findingsOf(old), now)).document.kubeletUpgrades).toBeNull()
  })

  it('gives equal bytes for equal inputs', async () => {
    const args = [
      savedSnapshot([soundNode('a'), { name: 'b' }], early),
      savedSnapshot([{ name: 'b' }, { name: 'a' }], late),
    ]
    expect((await diff(...args, '--format', 'json')).stdout).toBe(
      (await diff(...args, '--format', 'json')).stdout,
    )
  })

  it('takes nothing for fixed that was not read: exit 3', async () => {
    const [old, now] = [
      savedSnapshot([{ name: 'a' }], early),
      savedSnapshot([{ name: 'a', unread: ['configz', 'summary', 'pods'] }], late),
    ]
    const { code, document } = await diffJson(old, now)
    expect(code).toBe(3)
    expect(document.findings.fixed).toEqual([])
    expect(rulesOf(document.findings.cannotTell)).toContain('alert-before-image-gc')
    expect(rulesOf(document.findings.new)).toEqual(['unread-node'])
    expect(document.nodes.notReadNow).toMatchObject([
      { node: 'a', coverage: 'notRead', before: 'read' },
    ])
    expect(rulesOf((await diffJson(now, old)).document.findings.newlySeen)).toContain(
      'alert-before-image-gc',
    )
  })

  it('judges both by the policy: a waiver that ran out in between has expired', async () => {
    const [old, now] = [savedSnapshot([{ name: 'a' }], early), savedSnapshot([{ name: 'a' }], late)]
    const waiver = (until: string) =>
      policyFile(`waivers:\n  - { rule: alert-before-image-gc, until: ${until}, reason: known }\n`)
    const { document } = await diffJson(old, now, '--policy', waiver('2026-11-20'))
    expect(document.findings.waiverExpired).toMatchObject([
      {
        rule: 'alert-before-image-gc',
        why: ['the waiver expired after 2026-11-20; its reason was: known'],
      },
    ])
    expect(document.findings.new).toEqual([])
    expect(document.clusters[0]).toMatchObject({ before: { grade: 'A' }, after: { grade: 'C' } })
    expect(
      (await diffJson(old, now, '--policy', waiver('2026-12-01'))).document.unchanged,
    ).toMatchObject({ waived: 1 })
  })

  it.each([
    ['none', 0],
    ['high', 0],
    ['medium', 1],
    ['info', 1],
  ])('--fail-on %s of a new finding of medium severity: exit %i', async (severity, code) => {
    const files = [savedSnapshot([soundNode('a')], early), savedSnapshot([{ name: 'a' }], late)]
    expect((await diff(...files, '--fail-on', severity)).code).toBe(code)
    expect((await diff(...files.toReversed(), '--fail-on', severity)).code).toBe(0)
  })

  it('--fail-on counts what is worse, and goes before what could not be read', async () => {
    const old = savedSnapshot([{ name: 'a' }, soundNode('b')], early)
    const now = savedSnapshot(
      [{ name: 'a' }, { name: 'b' }, { name: 'c', unread: ['summary'] }],
      late,
    )
    const { code, document } = await diffJson(
      old,
      now,
      '--fail-on',
      'medium',
      '--node',
      'a',
      '--node',
      'b',
    )
    expect(rulesOf(document.findings.worse)).toContain('alert-before-image-gc')
    expect(code).toBe(1)
    expect((await diff(old, now, '--fail-on', 'medium')).code).toBe(1)
    expect((await diff(old, now)).code).toBe(0)
    expect((await diff(old, now, '--fail-on-unread', 'node')).code).toBe(3)
  })

  it('is cut to the selection', async () => {
    const [old, now] = [
      savedSnapshot([soundNode('a'), soundNode('b')], early),
      savedSnapshot([{ name: 'a' }, soundNode('b')], late),
    ]
    expect(rulesOf((await diffJson(old, now, '--node', 'a')).document.findings.new)).toContain(
      'alert-before-image-gc',
    )
    expect((await diffJson(old, now, '--node', 'b')).document.findings.new).toEqual([])
    expect((await diffJson(old, now, '--nodegroup', 'work*')).document.findings.new).not.toEqual([])
  })

  it('goes on behind a broken line, names it, and takes no node for gone: exit 3', async () => {
    const [old, now] = [
      savedSnapshot([{ name: 'a' }, { name: 'b' }], early),
      savedSnapshot([{ name: 'a' }, '{"kind":"No'], late),
    ]
    const { code, document } = await diffJson(old, now)
    expect(code).toBe(3)
    expect(document.new.inputErrors).toEqual([expect.stringContaining('line 4')])
    expect(document.nodes.gone).toEqual([])
    expect(document.notes).toEqual([expect.stringContaining('NEW may not list')])
  })
})

describe('highwater diff of findings', () => {
  it('knows them by their content, gzipped or on one line, whatever they are called', async () => {
    const now = savedSnapshot([{ name: 'a' }], late)
    const old = await findingsOf(savedSnapshot([soundNode('a')], early))
    const text = readFileSync(old, 'utf8')
    writeFileSync(`${old}.ndjson`, JSON.stringify(JSON.parse(text)))
    writeFileSync(`${old}.dat`, gzipSync(text))
    for (const file of [old, `${old}.ndjson`, `${old}.dat`]) {
      const { code, document } = await diffJson(file, now)
      expect({ code, kind: document.old.kind }).toEqual({ code: 0, kind: 'findings' })
      expect(rulesOf(document.findings.new)).toEqual(['alert-before-image-gc'])
      expect(document.notes.join(' ')).toContain('OLD is a findings.json')
    }
  })

  it('tells a waiver that was set since', async () => {
    const snapshot = savedSnapshot([{ name: 'a' }])
    const waiver = policyFile(
      'waivers:\n  - { rule: alert-before-image-gc, until: 2026-12-31, reason: known }\n',
    )
    const { document } = await diffJson(
      await findingsOf(snapshot),
      await findingsOf(snapshot, '--policy', waiver),
    )
    expect(document.findings.waivedSince).toMatchObject([
      { why: ['waived until 2026-12-31: known'] },
    ])
    expect([...document.findings.fixed, ...document.findings.fixedOrGone]).toEqual([])
  })

  it('can be cut to clusters, and not to nodes', async () => {
    const file = await findingsOf(savedSnapshot([{ name: 'a' }]))
    expect((await diffJson(file, file, '--cluster', 'pro*')).document.clusters).toHaveLength(1)
    expect(await diff(file, file, '--node', 'a')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('need two snapshots'),
    })
  })

  it('shows nothing of a name that would move a terminal', async () => {
    const file = await findingsOf(savedSnapshot([{ name: 'a' }]))
    const evil = readFileSync(file, 'utf8').replaceAll('"prod"', '"pr\\u001b[2Jod"')
    writeFileSync(`${file}.evil`, evil)
    const { stdout } = await diff(file, `${file}.evil`)
    expect(stdout).toContain('pr [2Jod')
    expect(stdout).not.toContain('\u001b')
    writeFileSync(`${file}.time`, timed(readFileSync(file, 'utf8'), '(\u001b[2J) 2026'))
    const { stdout: shown, stderr } = await diff(file, `${file}.time`)
    expect(shown + stderr).not.toContain('\u001b')
  })
})

describe('bad input', () => {
  it.each<[string, (folder: string) => string[], RegExp]>([
    [
      'a file that is not there',
      () => ['none.ndjson', 'none.ndjson'],
      /none\.ndjson: there is no such file/,
    ],
    ['one file', folder => [folder], /missing required argument 'new'/],
    ['a folder', folder => [folder, folder], /cannot be read \(EISDIR\)/],
    [
      'no JSON',
      folder => [file(folder, 'hello'), file(folder, 'hello')],
      /has no node that could be audited: line 1/,
    ],
    ['an empty file', folder => [file(folder, ''), file(folder, '')], /is empty/],
    [
      'another document',
      folder => [file(folder, '{"schema":"highwater.bench/1"}'), folder],
      /is of schema "highwater\.bench\/1"; compared are/,
    ],
    [
      'a broken document',
      folder => [file(folder, '{"schema":"highwater.findings/1"}'), folder],
      /says that it is highwater\.findings\/1, but run/,
    ],
    [
      'a node that neither has',
      () => [savedSnapshot([{ name: 'a' }]), savedSnapshot([{ name: 'a' }]), '--node', 'x'],
      /No node is named x/,
    ],
    ['an unknown severity', () => ['a', 'b', '--fail-on', 'awful'], /'awful' is invalid/],
  ])('%s: exit 2, in a sentence', async (_, args, message) => {
    const { code, stdout, stderr } = await diff(...args(temporaryFolder()))
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    })
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  const file = (folder: string, text: string) => {
    const path = join(folder, 'input')
    writeFileSync(path, text)
    return path
  }
})

describe('the text', () => {
  it('fits a terminal, worst first, with what came of grades and nodes', async () => {
    const old = savedSnapshot([soundNode('a'), { name: 'b' }, { name: 'gone' }], early)
    const now = savedSnapshot(
      [{ name: 'a' }, { name: 'b', unread: ['summary'] }, { name: 'come' }],
      late,
    )
    const { stdout } = await diff(old, now)
    for (const line of stdout.split('\n'))
      if (!/^(OLD|NEW) /.test(line)) expect(line.length).toBeLessThanOrEqual(80)
    for (const said of [
      'OLD  2026-11-20 07:00 UTC  snapshot',
      '3/3 → 2/3',
      'Worse (',
      'Nodes gone (1): prod/gone',
      'Nodes come (1): prod/come',
      'prod/b, partly, read before: summary: HTTP 503: connection refused',
    ])
      expect(stdout).toContain(said)
  })

  it('tells a reason once, of however many nodes', async () => {
    const names = ['a', 'b', 'c']
    const old = savedSnapshot(names.map(soundNode), early)
    const now = savedSnapshot(
      names.map(name => ({ name, unread: ['summary'] })),
      late,
    )
    expect((await diff(old, now)).stdout.match(/HTTP 503/g)).toHaveLength(1)
    expect((await diff(old, now)).stdout).toContain(
      'prod, 3 nodes, a, b, …, partly, read before: summary',
    )
  })

  it('says so where nothing changed', async () => {
    const path = savedSnapshot([{ name: 'a' }])
    expect((await diff(path, path)).stdout).toMatch(/Nothing changed: \d+ as before\n$/)
  })

  it('shows ten of a list, and how many more there are', async () => {
    const { document } = await diffJson(
      savedSnapshot([soundNode('a')], early),
      savedSnapshot([{ name: 'a' }], late),
    )
    const [one] = document.findings.new
    const many = {
      ...document,
      findings: { ...document.findings, new: Array.from({ length: 12 }, () => one!) },
    }
    expect(diffText(many, { hasColour: false, columns: 80 })).toMatch(
      /New \(12\)[\s\S]*… and 2 more/,
    )
    expect(diffText(many, { hasColour: true, columns: 80 })).toContain('\u001b[33m  MEDIUM')
  })

  it('is the same of a process of its own', async () => {
    const [old, now] = [
      savedSnapshot([soundNode('a')], early),
      savedSnapshot([{ name: 'a' }], late),
    ]
    const own = await runCommand(['diff', old, now, '--fail-on', 'medium'])
    expect(own).toEqual(await diff(old, now, '--fail-on', 'medium'))
    expect(own.code).toBe(1)
  })
})
