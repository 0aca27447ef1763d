import { describe, expect, it } from 'vitest'
import { nearest } from '#base/text.ts'
import { explanationText, rulesTable } from '#cli/explain.ts'
import { explainedRules } from '#pipeline/audit/shelves.ts'
import { inProcess } from '#test/in-process.ts'

const all = explainedRules()
const plain = { hasColour: false, columns: 80 }
const explained = (id: string) => all.find(rule => rule.id === id)!

describe('an explanation', () => {
  it.each([
    ['alert-before-image-gc', ['alertPercent', 'assumedGrowthPercent']],
    ['stranded-disk', ['strandedGiB', 'strandedPercent']],
    ['critical-pod-among-first-victims', ['criticalPods']],
    ['image-gc-due', []],
    ['peer-drift', ['baseline']],
  ])('of %s names the policy keys %j', (id, keys) => {
    expect(explained(id).policy.map(({ key }) => key)).toEqual(keys)
  })
})

describe('highwater explain', () => {
  it('tells a rule in full, in lines that fit', async () => {
    const { code, stdout, stderr } = await inProcess(['explain', 'eviction-before-image-gc'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const flat = stdout.replace(/\s+/g, ' ')
    const { docs } = explained('eviction-before-image-gc')
    for (const said of [
      docs.title,
      docs.why,
      docs.fix,
      ...docs.sources,
      'HIGH, of the family image-gc',
      'Needs configz, stats/summary',
    ])
      expect(flat).toContain(said)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('wraps to the columns there are', () => {
    for (const columns of [50, 100]) {
      const lines = all.flatMap(rule =>
        explanationText(rule, { hasColour: false, columns }).split('\n'),
      )
      // A word that is too long for a line stays whole, beside its label.
      expect(lines.filter(line => line.length > columns && line.slice(10).includes(' '))).toEqual(
        [],
      )
      expect(lines.some(line => line.length > columns - 10)).toBe(true)
    }
  })

  it('has colours only on request', () => {
    expect(explanationText(explained('peer-drift'), plain)).not.toContain('\u001b')
    expect(explanationText(explained('peer-drift'), { ...plain, hasColour: true })).toContain(
      '\u001b[33mMEDIUM',
    )
    expect(rulesTable(all, { ...plain, hasColour: true })).toContain('\u001b[1mimage-gc')
  })

  it('without a rule lists every one under its family', async () => {
    const { code, stdout } = await inProcess(['explain'])
    expect(code).toBe(0)
    for (const { id, docs } of all) {
      expect(stdout).toMatch(new RegExp(`^  (critical|high|medium|low|info) +${id}$`, 'm'))
      expect(stdout.replace(/\s+/g, ' ')).toContain(docs.title)
    }
    expect(stdout.indexOf('narrow-gc-band')).toBeLessThan(stdout.indexOf('\neviction\n'))
  })

  it('with a family lists that one', async () => {
    const { code, stdout } = await inProcess(['explain', 'drift'])
    expect(code).toBe(0)
    expect(stdout).toContain('peer-drift')
    expect(stdout).not.toContain('eviction-due')
  })

  it.each([
    [['explain', '--format', 'json'], all.map(({ id }) => id)],
    [['explain', 'peer-drift', '--format', 'json'], ['peer-drift']],
  ])('%j prints the documentation as data', async (args, ids) => {
    const document = JSON.parse((await inProcess(args)).stdout)
    expect(document.schema).toBe('highwater.rules/1')
    expect(document.rules.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(document.rules.at(-1)).toEqual(JSON.parse(JSON.stringify(explained(ids.at(-1)!))))
  })

  it('of an unknown rule: exit 2, one paragraph with the nearest names', async () => {
    const { code, stdout, stderr } = await inProcess(['explain', 'evicton-before-image-gc'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatchSnapshot()
  })

  it.each([
    ['peer-drfit', ['peer-drift']],
    ['Image-GC-Due', ['image-gc-due']],
    ['pull-failing', ['pull-failing-now']],
    ['qqqq', []],
    ['', []],
  ])('takes %j for %j', (written, names) => {
    expect(
      nearest(written, ['peer-drift', 'image-gc-due', 'image-gc-dead', 'pull-failing-now']),
    ).toEqual(names)
  })
})
