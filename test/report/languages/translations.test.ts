/** Translations are data that never block: what is missing or out of date is a warning, what could not be shown is an error. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { languageIds } from '#model/language.ts'
import { en } from '#report/languages/en.ts'
import type { RuleTexts } from '#report/languages/language.ts'
import { type Messages, parsedMessage, translate } from '#report/languages/translation.ts'

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

/** By path; a message with values has their number: `page.title/2`. */
function englishKeys(catalogue: object, path = ''): string[] {
  return Object.entries(catalogue).flatMap(([key, value]) => {
    if (typeof value === 'function') return [`${path}${key}/${value.length}`]
    if (typeof value === 'object' && value !== null) return englishKeys(value, `${path}${key}.`)
    return value === null ? [] : [`${path}${key}`]
  })
}

const keyOf = (path: string) =>
  path.replace(/\((.*)\)$/, (_, names: string) => `/${names === '' ? 0 : names.split(', ').length}`)

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

it.each(catalogues)('messages of %s can be shown', (id, messages) => {
  const entries = entriesOf(messages)
  const mistakes = entries.flatMap(([path, text]) => {
    const names = /\((.*)\)$/.exec(path)?.[1]?.split(', ')
    if (names === undefined) return []
    const known = names.flatMap(name => [name, `${name}Clauses`, `${name}Count`])
    const unknown = valuesIn(parsedMessage(text, id).getAst()).filter(name => !known.includes(name))
    return unknown.map(name => `${path}: {${name}}`)
  })
  expect(mistakes).toEqual([])
  const has = new Set(entries.map(([path]) => keyOf(path)))
  const wanted = new Set(englishKeys(en))
  warn(`${id}: messages shown in English`, [...wanted.difference(has)])
  warn(`${id}: messages that are not used`, [...has.difference(wanted)])
})

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
})

const source = {
  separators: { list: ', ', clauses: '; ' },
  plain: 'plain',
  nested: { files: (count: number) => `${count} files`, late: (by: string) => `late by ${by}` },
  named: (names: string[], more: number) => `${names.join(', ')} and ${more} more`,
}

it('shows data in place of English', () => {
  const messages = {
    separators: { list: '、' },
    plain: '素',
    nested: { 'files(count)': '{count, plural, =0 {なし} other {# 件}}' },
    'named(names, more)':
      '{names}{namesCount, plural, =1 {} other {!}} {namesClauses} {more, number}',
  }
  const { plain, nested, named } = translate(source, messages, 'ja')
  expect([plain, nested.files(0), nested.files(1234), named(['a', 'b'], 5000)]).toEqual([
    '素',
    'なし',
    '1,234 件',
    'a、b! a; b 5,000',
  ])
})

it('stays English where the data has no message, or one with other values', () => {
  const messages = { nested: { 'files(count, of)': '{count} {of}' } }
  const { plain, nested, named } = translate(source, messages, 'ja')
  expect([plain, nested.files(2), nested.late('1 d'), named(['a'], 1)]).toEqual([
    'plain',
    '2 files',
    'late by 1 d',
    'a and 1 more',
  ])
})

it('takes messages without values, and names with hyphens', () => {
  const english = { separators: en.separators, actions: { 'replace-node': () => 'replace it' } }
  const messages = { actions: { 'replace-node()': 'ersetzen' } }
  expect(translate(english, messages, 'de').actions['replace-node']()).toBe('ersetzen')
})

it.each(catalogues)('steps of %s with and without their values can be shown', (id, messages) => {
  const { steps } = translate(en, messages, id)
  const owner = 'Deployment shop/api'
  for (const text of [
    steps.actions['ask-owner'](owner),
    steps.actions['set-memory'](owner, null, '2.0 GiB'),
    steps.drain('shop/a', null),
    steps.drain('shop/a', 'shop/b'),
    steps.holds('logs', '3.0 GiB', ['/var/log']),
    steps.unusedDisk('/dev/nvme1n1', null),
    steps.effect('restarts', 2),
  ])
    expect(text).not.toMatch(/[{}]|null|undefined/)
  expect(steps.actions['ask-owner'](owner)).toContain(owner)
  expect(steps.drain('shop/a', 'shop/b')).toMatch(/shop\/a.*shop\/b/)
})
