import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { rulesDocument } from '#tools/rules-document.ts'

describe.each(rules.map(rule => [rule.id, rule] as const))('%s', (id, rule) => {
  it('has a test that begins with its examples', () => {
    const test = readFileSync(`test/judge/rules/${rule.family}/${id}.test.ts`, 'utf8')
    expect(test).toMatch(/^itJudgesExamples\(/m)
  })

  it('stands in one file, in the folder of its family', () => {
    const files = globSync('src/judge/rules/*/*.ts')
    const found = files.filter(file => readFileSync(file, 'utf8').includes(`  id: '${id}',`))
    expect(found.map(file => basename(dirname(file)))).toEqual([rule.family])
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

  it('holds every rule that a file has', () => {
    const ids = globSync('src/judge/rules/*/*.ts').flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/^ {2}id: '(.+)',$/gm)].map(([, id]) => id),
    )
    expect(ids.toSorted()).toEqual(rules.map(({ id }) => id))
  })

  it('is what docs/rules.md says', async () => {
    await expect(rulesDocument(rules)).toMatchFileSnapshot('../../docs/rules.md')
  })
})
