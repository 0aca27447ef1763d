/** Translations are data that never block: what is missing or out of date is a warning, what could not be shown is an error. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { languageIds } from '#model/language.ts'
import en from '#report/languages/en.messages.json' with { type: 'json' }
import type { RuleTexts } from '#report/languages/language.ts'
import { type Messages, parsedMessage, translate } from '#report/languages/messages.ts'

const translations = languageIds.filter(id => id !== 'en')
const dataOf = (id: string, part: string) =>
  JSON.parse(readFileSync(`src/report/languages/${id}.${part}.json`, 'utf8'))
const catalogues = translations.map((id): [string, Messages] => [id, dataOf(id, 'messages')])
const ruleTexts = translations.map((id): [string, RuleTexts] => [id, dataOf(id, 'rules')])

/** By path, `page.title(headline, clusters)`. */
function entriesOf(messages: Messages, path = ''): [path: string, text: string][] {
  return Object.entries(messages).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[`${path}${key}`, value] as [string, string]]
      : entriesOf(value, `${path}${key}.`),
  )
}

const keyOf = (path: string) => path.replace(/\(.*\)$/, '')

/** Names of the values that a message uses. */
function valuesIn(elements: ReturnType<ReturnType<typeof parsedMessage>['getAst']>): string[] {
  return elements.flatMap(element => [
    // Types 0 (text) and 7 (#) name no value.
    ...(element.type === 0 || element.type === 7 ? [] : [element.value]),
    ...('options' in element
      ? Object.values(element.options).flatMap(({ value }) => valuesIn(value))
      : []),
  ])
}

function warn(title: string, names: string[]): void {
  if (names.length > 0) console.warn(`${title}: ${names.join(', ')}`)
}

it.each([['en', en as Messages], ...catalogues] as const)(
  'messages of %s can be shown',
  (id, messages) => {
    const entries = entriesOf(messages)
    const mistakes = entries.flatMap(([path, text]) => {
      const names = /\((.*)\)$/.exec(path)?.[1]?.split(', ')
      if (names === undefined) return []
      const known = names.flatMap(name => [name, `${name}Clauses`, `${name}Count`])
      const unknown = valuesIn(parsedMessage(text, id).getAst()).filter(
        name => !known.includes(name),
      )
      return unknown.map(name => `${path}: {${name}}`)
    })
    expect(mistakes).toEqual([])
    const has = new Set(entries.map(([path]) => keyOf(path)))
    const wanted = new Set(entriesOf(en).map(([path]) => keyOf(path)))
    warn(`${id}: messages shown in English`, [...wanted.difference(has)])
    warn(`${id}: messages that are not used`, [...has.difference(wanted)])
  },
)

it.each(ruleTexts)('rules of %s have all their texts', (id, texts) => {
  for (const text of Object.values(texts))
    for (const part of ['title', 'why', 'fix'] as const) expect(text?.[part]).toMatch(/\S/)
  const english = rules.map(({ id: rule, docs: { title, why, fix } }) => ({
    rule,
    hash: createHash('sha256')
      .update(JSON.stringify([title, why, fix]))
      .digest('hex')
      .slice(0, 8),
  }))
  const ids = new Set(english.map(({ rule }) => rule))
  const missing = english.filter(({ rule }) => texts[rule] === undefined)
  const changed = english.filter(({ rule, hash }) => (texts[rule]?.english ?? hash) !== hash)
  warn(
    `${id}: rules shown in English`,
    missing.map(({ rule }) => rule),
  )
  warn(
    `${id}: rules that do not exist`,
    Object.keys(texts).filter(rule => !ids.has(rule)),
  )
  warn(
    `${id}: rules whose English text has changed (its hash for "english")`,
    changed.map(({ rule, hash }) => `${rule} ${hash}`),
  )
  const keysOf = (titles: object = {}) => new Set(Object.keys(titles))
  for (const [wrong, of] of [
    ['shown in English', (ours: Set<string>, theirs: Set<string>) => ours.difference(theirs)],
    ['that no rule has', (ours: Set<string>, theirs: Set<string>) => theirs.difference(ours)],
  ] as const)
    warn(
      `${id}: titles ${wrong}`,
      rules.flatMap(({ id: rule, titles }) =>
        [...of(keysOf(titles), keysOf(texts[rule]?.titles))].map(key => `${rule}.${key}`),
      ),
    )
})

it('shows data in place of English', () => {
  const { unknown, andMore, causes } = translate(
    {
      separators: { list: '、' },
      unknown: '素',
      'andMore(count)': '{count, plural, =0 {なし} other {# 件}}',
      causes: {
        'set(settings)': '{settings}{settingsCount, plural, =1 {} other {!}} {settingsClauses}',
      },
    },
    'ja',
  )
  expect([unknown, andMore(0), andMore(1234), causes.set(['a', 'b'])]).toEqual([
    '素',
    'なし',
    '1,234 件',
    'a、b! a; b',
  ])
})

it('stays English where the data has no message, or one with other values', () => {
  const { unknown, andMore, causes } = translate({ 'andMore(count, of)': '{count} {of}' }, 'ja')
  expect([unknown, andMore(2), causes.set(['a', 'b'])]).toEqual([
    'unknown',
    'and 2 more',
    'set a, b',
  ])
})

it('takes values by name, messages without values, and names with hyphens', () => {
  const { causes, steps } = translate(
    {
      causes: { 'value(value, path)': '{value} = {path}' },
      steps: { actions: { 'read-again()': 'nochmal lesen' } },
    },
    'de',
  )
  expect(causes.value('imageMinimumGCAge', '2m')).toBe('2m = imageMinimumGCAge')
  expect(steps.actions['read-again']()).toBe('nochmal lesen')
})

it.each(catalogues)('steps of %s with and without their values can be shown', (id, messages) => {
  const { steps } = translate(messages, id)
  const owner = 'Deployment shop/api'
  for (const text of [
    steps.actions['ask-owner'](owner, null, null, null),
    steps.actions['set-memory'](owner, null, '2.0 GiB', null),
    steps.drain('shop/a', null),
    steps.drain('shop/a', 'shop/b'),
    steps.holds('logs', '3.0 GiB', ['/var/log']),
    steps.unusedDisk('/dev/nvme1n1', null),
    steps.effect('restarts', 2, 0),
    steps.effect('restarts', 0, 1),
  ])
    expect(text).not.toMatch(/[{}]|null|undefined/)
  expect(steps.actions['ask-owner'](owner, null, null, null)).toContain(owner)
  expect(steps.drain('shop/a', 'shop/b')).toMatch(/shop\/a.*shop\/b/)
})
