/**
 * Every regular expression of src takes time linear in its input. A cheap proof decides most of them; recheck decides the others: it derives
 * attack strings from the expression and counts a matcher's steps. Runs recheck's plain JavaScript, neither Java nor a native program.
 */

import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { RegExpParser } from '@eslint-community/regexpp'
import { parse, type Token } from 'acorn'
import { describe, expect, it, vi } from 'vitest'
import { isLogPattern, logPatternForm } from '#facts/logrotate.ts'
import { isPlainlyLinear } from '#test/linear-proof.ts'

interface Found {
  source: string
  flags: string
  /** `file:line`, or the file alone. */
  place: string
  /** The search goes on behind each match: flag g, or an argument of `split`. */
  isRepeated: boolean
}

const files = globSync('src/**/*.{ts,mjs,cjs}').filter(file => !file.endsWith('.d.ts'))

function literalsIn(file: string): Found[] {
  const text = readFileSync(file, 'utf8')
  const found: Found[] = []
  const before: string[] = []
  parse(file.endsWith('.ts') ? stripTypeScriptTypes(text) : text, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    allowHashBang: true,
    onToken: token => {
      const { type, value, loc } = token as Token & { value: { pattern: string; flags: string } }
      const isSplit = before.slice(-2).join('') === 'split('
      if (type.label === 'regexp')
        found.push({
          source: value.pattern,
          flags: value.flags,
          place: `${file}:${loc?.start.line}`,
          isRepeated: value.flags.includes('g') || isSplit,
        })
      before.push(type.label === 'name' ? String(value) : type.label)
    },
  })
  return found
}

const builtIn = (file: string) => readFileSync(file, 'utf8').split('new RegExp(').length - 1

/** Expressions that a module puts together, as it makes them. */
async function builtBy(file: string): Promise<Found[]> {
  const found: Found[] = []
  vi.resetModules()
  vi.stubGlobal(
    'RegExp',
    class extends RegExp {
      constructor(pattern: RegExp | string, flags = '') {
        super(pattern, flags)
        const isRepeated = flags.includes('g')
        found.push({ source: String(pattern), flags, place: file, isRepeated })
      }
    },
  )
  try {
    const module: object = await import(/* @vite-ignore */ `../../${file}`)
    callLate({ ...module })
  } finally {
    vi.unstubAllGlobals()
  }
  return found
}

/** Calls that put an expression together when they are made, each with all that it chooses from. */
function callLate(module: Record<string, unknown>): void {
  const one = (name: string) => module[name] as (...args: unknown[]) => unknown
  const keysOf = (name: string) => Object.keys(module[name] ?? {})
  for (const name of ['isImageName', 'isImageSource', 'isImageRepository'])
    if (name in module) one(name)('a')
  for (const name of keysOf('logrotateDirectives')) one('isLogrotateValue')(name, 'a')
  for (const field of keysOf('plannableForms'))
    for (const path of [field, `${field}.memory`, `${field}.memory.available`])
      one('isPlannableValue')(path, 'a')
}

/** recheck also stops its attacks by the clock, which a busy machine makes differ. The limits of steps stay. */
const noClock = { attackTimeout: null, incubationTimeout: null, seedingTimeout: null }

async function verdictOn({ source, flags, isRepeated }: Found): Promise<string> {
  vi.stubEnv('RECHECK_BACKEND', 'pure')
  const { check } = await import('recheck')
  // recheck does not know flag v: a class without its subtraction takes more, and is as long.
  const [pattern, known] = flags.includes('v')
    ? [source.replace(/\[(\[.*?\])--\[.*?\]\]/, '$1'), flags.replace('v', 'u')]
    : [source, flags]
  const narrow = withNarrowWindows(pattern)
  const result = await check(isRepeated ? everyMatchOf(narrow) : narrow, known.replace('g', ''), {
    timeout: 600_000,
    maxIteration: 3,
    randomSeed: 1,
    ...noClock,
  })
  if (result.status === 'vulnerable')
    return `${result.complexity.summary}, as for ${result.attack.pattern}`
  return result.status === 'safe' ? 'linear' : `not decided: ${result.error?.kind}`
}

/** A bounded window adds a constant factor and no degree, so a narrow one stands for it: recheck takes gigabytes for 80 characters. */
const withNarrowWindows = (source: string) => source.replaceAll(/\{([01]),\d{2,}\}/g, '{$1,4}')

/** One match of it takes the steps of all matches of `source`: each begins behind the one before. Nothing behind it can fail. */
const everyMatchOf = (source: string) => `^(?:(?:${source})|[^])*`

/** One search for several forms takes as long as the searches for each together. */
function alternativesOf(found: Found): Found[] {
  if (found.isRepeated) return [found]
  const { alternatives } = new RegExpParser().parsePattern(found.source, 0, undefined, {
    unicode: found.flags.includes('u'),
    unicodeSets: found.flags.includes('v'),
  })
  const refersBack = /\\[1-9k]/.test(found.source)
  return refersBack ? [found] : alternatives.map(({ raw }) => ({ ...found, source: raw }))
}

const written = ({ source, flags }: Found, isRepeated: boolean) =>
  `${isRepeated ? 'each ' : ''}/${source.replaceAll('\\/', '/')}/${[...flags.replace('g', '')].sort().join('')}`

/** Quadratic, on text of at most 250 characters: scripts match the same expression by POSIX rules, without backtracking. */
const onShortText = `^(${logPatternForm})$`

describe('regular expressions', () => {
  it('of a pattern of logs gets short text only', () => {
    expect(isLogPattern(`/var/log/${'a'.repeat(200)}`)).toBe(true)
    expect(isLogPattern(`/var/log/${'a'.repeat(250)}`)).toBe(false)
  })

  it('finds what is not linear', async () => {
    const verdictOf = (source: string, flags = '') =>
      verdictOn({ source, flags, place: '', isRepeated: flags.includes('g') })
    expect(await verdictOf(String.raw`^\s*x?\s*$`, 'm')).toMatch(/degree polynomial/)
    expect(await verdictOf('^(a|a)*$')).toMatch(/exponential/)
  })

  it.each(['x(?:.*y)?', '(?<=(y.*)?)x', String.raw`\bx(?!.*y)`])(
    'finds %s, which is linear once and quadratic for all matches',
    async source => {
      const found = { source, flags: 'g', place: '' }
      expect(await verdictOn({ ...found, isRepeated: true })).toMatch(/degree polynomial/)
    },
  )

  it.each(['x[^y]*', '(?<!a)a+b', '"[^"]*"?'])(
    'finds no fault in all matches of %s',
    async source => {
      expect(await verdictOn({ source, flags: 'g', place: '', isRepeated: true })).toBe('linear')
    },
  )

  it.each([
    String.raw`\s+$`,
    String.raw`^\s*x?\s*$`,
    'a*b',
    'x{1,60}y{1,60}z',
    '(?=a*b)c',
    '(?<!a)b+c',
    'x.*y',
    'x[^y]*z',
    '^.*x.*y',
    'xa*b*a*y',
    '^a*[ab]*c',
    '^a*(?:b|c*)a*d',
    'ca*(?:b|c*)a*d',
    'x(?=[^z]*z)',
    '(?<=x.*)y',
    '(?:a|b){12}c',
    '^(a+)+$',
    '^(?:a|a)*',
    String.raw`^(a*)\1b`,
  ])('has no cheap proof of %s', source => {
    expect(isPlainlyLinear(source, '')).toBe(false)
  })

  it.each([
    'x[^x]*y',
    String.raw`dial \S*:10250: (?:refused|timeout)`,
    '"[^"]*";[^"]*x',
    '(?:"|\'-")[^"]*x',
    '(?<!a)xa+b',
    '(?<!a)a+b+c',
    '^[^x]*x.*y',
    '^a*b*c',
    'x(?=[^x]*z)',
    '(?:x[^x]*|y)z',
    String.raw`x\s+[\w.]+\s+y`,
  ])('has a cheap proof of %s', source => {
    expect(isPlainlyLinear(source, '')).toBe(true)
    expect(isPlainlyLinear(source, 'u')).toBe(false)
  })

  it('has no cheap proof of one loop that may begin on each line', () => {
    expect(isPlainlyLinear('^[^x]*y', '')).toBe(true)
    expect(isPlainlyLinear('^[^x]*y', 'm')).toBe(false)
    expect(isPlainlyLinear('(?<![^x])[^x]+y', '')).toBe(true)
  })

  it('of src are linear, every one', { timeout: 1_800_000 }, async () => {
    const literals = files.flatMap(literalsIn)
    expect(literals.length).toBeGreaterThan(400)
    const built: Found[] = []
    for (const file of files.filter(one => builtIn(one) > 0)) {
      const made = await builtBy(file)
      expect(made.length, file).toBeGreaterThanOrEqual(builtIn(file))
      built.push(...made)
    }
    const each = new Map(
      [...literals, ...built]
        .flatMap(alternativesOf)
        .map(one => [written(one, one.isRepeated), one] as const),
    )
    const isShort = ({ source }: Found) => source === onShortText
    expect([...each.values()].filter(isShort)).toHaveLength(1)
    // One search takes no longer than the search for all matches.
    const isKnown = (one: Found) => !one.isRepeated && each.has(written(one, true))
    const suspicious = [...each].filter(
      ([, one]) =>
        !isKnown(one) &&
        !isPlainlyLinear(withNarrowWindows(one.source), one.flags) &&
        !isShort(one),
    )
    expect(suspicious.length).toBeLessThan(150)
    const slow: string[] = []
    for (const [name, found] of suspicious) {
      const verdict = await verdictOn(found)
      if (verdict !== 'linear') slow.push(`${found.place} ${name}: ${verdict}`)
    }
    expect(slow).toEqual([])
  })
})
