import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { severities } from '#model/finding.ts'
import { segmentTones, severityMark } from '#report/mail/picture.ts'

const precompile = 'templates/precompile.ts'
const compiled = 'src/report/compiled-templates.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'highwater-templates-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('templates/precompile.ts', () => {
  it('has run on the templates as they are now (npm run build)', () => {
    const target = join(folder, 'new', 'compiled.js')
    execFileSync(process.execPath, [precompile, '--to', target])
    expect(readFileSync(compiled, 'utf8')).toBe(readFileSync(target, 'utf8'))
  })

  it.each([
    {
      mistake: 'a syntax error',
      file: 'partials/node.hbs',
      source: 'a\n{{#if bars}}\nb',
      says: /partials\/node\.hbs: Parse error on line 3/,
    },
    {
      mistake: 'an unknown partial',
      file: 'report.hbs',
      source: '<p>\n{{> nobody}}',
      says: /report\.hbs:2: unknown partial "nobody"/,
    },
    {
      mistake: 'an unknown helper',
      file: 'partials/bar.hbs',
      source: '{{shout title}}',
      says: /partials\/bar\.hbs:1: unknown helper "shout"/,
    },
    {
      mistake: 'an unknown block',
      file: 'partials/bar.hbs',
      source: '\n{{#bars}}x{{/bars}}',
      says: /partials\/bar\.hbs:2: unknown helper "bars"/,
    },
    {
      mistake: 'a calculation',
      file: 'report.hbs',
      source: '{{#if (lookup a b)}}x{{/if}}',
      says: /report\.hbs:1: unknown helper "lookup"/,
    },
    {
      mistake: 'a script',
      file: 'email.hbs',
      source: '<p>\n<script>alert(1)</script>',
      says: /email\.hbs:1: "<script" has no place here/,
    },
    {
      mistake: 'a remote image',
      file: 'partials/bar.hbs',
      source: '<img src="https://x">',
      says: /bar\.hbs:1: "src=" has no place/,
    },
    {
      mistake: 'unescaped output',
      file: 'report.hbs',
      source: 'x\n\n{{{title}}}',
      says: /report\.hbs:3: unescaped output/,
    },
    {
      mistake: 'an ampersand for it',
      file: 'report.hbs',
      source: '{{&title}}',
      says: /report\.hbs:1: unescaped output/,
    },
    {
      mistake: 'an unknown variable, in a condition too',
      file: 'email.hbs',
      source: '<p>\n{{#if verdikt.worst}}x{{/if}}',
      says: /email\.hbs:2: unknown variable "verdikt\.worst"/,
    },
    {
      mistake: 'an unknown variable handed to a partial',
      file: 'report.hbs',
      source: '{{> verdict verdikt}}',
      says: /report\.hbs:1: unknown variable "verdikt"/,
    },
    {
      mistake: 'an unknown variable in the text of the mail',
      file: 'email.txt.hbs',
      source: 'a\n\n{{headlin}}',
      says: /email\.txt\.hbs:3: unknown variable "headlin"/,
    },
    {
      mistake: 'escaped HTML in the text of the mail',
      file: 'email.txt.hbs',
      source: '{{> severity this}}',
      says: /email\.txt\.hbs:1: unknown partial "severity"/,
    },
    {
      mistake: 'a partial chosen by data',
      file: 'report.hbs',
      source: '{{> (which)}}',
      says: /report\.hbs:1: unknown/,
    },
  ])('refuses $mistake, says where, and leaves no file', ({ file, source, says }) => {
    cpSync('templates', folder, { recursive: true })
    writeFileSync(join(folder, file), source)
    const target = join(folder, 'compiled.js')
    const { status, stderr } = spawnSync(
      process.execPath,
      [precompile, '--from', folder, '--to', target],
      { encoding: 'utf8' },
    )
    expect(stderr).toMatch(says)
    expect(status).toBe(1)
    expect(existsSync(target)).toBe(false)
  })
})

/** WCAG 2.2, relative luminance. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map(at => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light! + 0.05) / (dark! + 0.05)
}

const pageStyle = readFileSync('templates/report.css', 'utf8')
const themes = [...pageStyle.matchAll(/:root \{([^}]*)\}/g)].map(([, body]) =>
  Object.fromEntries(
    [...body!.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, colour]) => [name!, colour!]),
  ),
)

describe('templates/report.css', () => {
  it('has three themes: light, dark and paper', () => expect(themes).toHaveLength(3))
  it.each(['ink', 'muted', 'link', 'critical', 'high', 'medium', 'low', 'info', 'none', 'unread'])(
    'keeps the text colour %s readable on every ground (WCAG AA)',
    name => {
      for (const theme of themes)
        for (const ground of ['paper', 'card', 'code'])
          expect(contrast(theme[name]!, theme[ground]!)).toBeGreaterThanOrEqual(4.5)
    },
  )
  it.each(['used', 'used-image-gc', 'used-pressure'])(
    'keeps the shape colour %s apart from its card (WCAG AA)',
    name => {
      for (const theme of themes)
        expect(contrast(theme[name]!, theme.card!)).toBeGreaterThanOrEqual(2.8)
    },
  )
  it('fetches nothing', () => expect(pageStyle).not.toMatch(/@import|url\(/))
})

describe('the colours of the mail', () => {
  const [light, dark] = themes
  const tones = [...severities, 'none', 'unread'] as const
  const mailStyle = readFileSync('templates/email.css', 'utf8')
  const sources = [
    'email.hbs',
    'partials/email-cause.hbs',
    'partials/email-line.hbs',
    'partials/email-picture.hbs',
    'partials/email-severity.hbs',
  ].map(file => readFileSync(`templates/${file}`, 'utf8'))

  it('are those of the page, in the light', () => {
    for (const tone of tones) expect(severityMark(tone).tone).toBe(light![tone])
    for (const [, colour] of sources.join('').matchAll(/(#[0-9a-f]{6})/g))
      expect(Object.values(light!)).toContain(colour)
    for (const [kind, tone] of Object.entries(segmentTones))
      expect(tone).toBe(light![kind === 'unknown' ? 'used' : kind])
  })
  it('are those of the page, in the dark', () => {
    for (const [, colour] of mailStyle.matchAll(/(#[0-9a-f]{6})/g))
      expect(Object.values(dark!)).toContain(colour)
    for (const name of [...tones, 'ink', 'muted', 'link'])
      expect(mailStyle).toMatch(
        new RegExp(`\\.${name}\\b[^}]*\\{ color: ${dark![name]} !important`),
      )
  })
  it('have a shape each, so that no reader needs them', () => {
    expect(new Set(tones.map(tone => severityMark(tone).glyph)).size).toBe(tones.length)
  })
})
