import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { holdersDocument } from '#tools/holders-document.ts'
import { rulesDocument } from '#tools/rules-document.ts'

it('docs/holders.md is the table of holders', async () => {
  await expect(holdersDocument()).toMatchFileSnapshot('../../docs/holders.md')
})

describe.each(rules.map(rule => [rule.id, rule] as const))('%s', (id, rule) => {
  it('has a test that begins with its examples', () => {
    const test = readFileSync(`test/judge/rules/${rule.family}/${id}.test.ts`, 'utf8')
    expect(test).toMatch(/^itJudgesExamples\(/m)
  })

  it('stands in a file of its name, in the folder of its family', () => {
    const file = `src/judge/rules/${rule.family}/${id}.ts`
    expect(globSync(file)).toEqual([file])
    expect(readFileSync(file, 'utf8')).toContain(`id: '${id}'`)
  })

  it('says what it is, why, how to end it, and on what it relies', () => {
    for (const text of [rule.docs.title, rule.docs.why, rule.docs.fix]) expect(text).toMatch(/\w/)
    expect(rule.docs.sources).not.toEqual([])
    expect(rule.docs.title).not.toMatch(/[.\n]$/)
  })
})

describe('the shelf', () => {
  it('is sorted and gives no id twice', () => {
    const ids = rules.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].toSorted())
  })

  it('holds every rule that has a file', () => {
    const files = globSync('src/judge/rules/*/*.ts').map(file => file.replace(/^.*\/|\.ts$/g, ''))
    expect(files.toSorted()).toEqual(rules.map(({ id }) => id))
  })

  it('is what docs/rules.md says', async () => {
    await expect(rulesDocument(rules)).toMatchFileSnapshot('../../docs/rules.md')
  })
})
