import { describe, expect, it } from 'vitest'
import { foldedLine, shownBlock, shownLine, wrapText } from '#report/text.ts'

describe('shownLine', () => {
  it('leaves alone what people write', () => {
    expect(shownLine('노드 ip-10-0-1-17 \u{1f468}\u200d\u{1f680} <b>', 80)).toBe(
      '노드 ip-10-0-1-17 \u{1f468}\u200d\u{1f680} <b>',
    )
  })
  it('shows characters that would hide or turn the text', () => {
    expect(shownLine('a\u202eb\u200bc\u0000d\ud800', 80)).toBe(
      'a<U+202E>b<U+200B>c<U+0000>d<U+D800>',
    )
    expect(shownLine('a\u2800b\u3164c', 80)).toBe('a<U+2800>b<U+3164>c')
  })
  it('puts lines into one', () => expect(shownLine('a\r\n\t\u2028b', 80)).toBe('a b'))
  it.each([
    ['x'.repeat(10), 'x'.repeat(10)],
    ['x'.repeat(39), 'x'.repeat(39)], // the mark is as long
    ['x'.repeat(40), `${'x'.repeat(10)}… (cut: 40 characters in all)`],
    [`${'x'.repeat(9)}\u{1f4a5}${'y'.repeat(29)}`, `${'x'.repeat(9)}… (cut: 40 characters in all)`], // no half of a pair
  ])('cuts after ten: %s', (text, shown) => expect(shownLine(text, 10)).toBe(shown))
  it('makes the mark only for a longer text', () => {
    let made = 0
    const mark = () => `${++made} more`
    for (const text of ['x'.repeat(10), 'x'.repeat(40)]) shownLine(text, 10, mark)
    expect(made).toBe(1)
  })
})

it('keeps the lines of a block', () => {
  expect(shownBlock('a:\r\n\tb\u2066\u2800', 80)).toBe('a:\n\tb<U+2066><U+2800>')
})

describe('foldedLine', () => {
  it('is one line without anything invisible, never longer than its text', () => {
    expect(foldedLine(' a\r\n\tb\u202e\u0000c\u2028\ud800 \u00a0\u2800d\u001b[31m', 80)).toBe(
      'a b c d [31m',
    )
  })
  it('is cut with a mark and a count', () =>
    expect(foldedLine('x'.repeat(1200), 10)).toBe(
      `${'x'.repeat(10)}… (cut: 1,200 characters in all)`,
    ))
  it('is cut at a word, if one ends near the limit', () => {
    const cut = (text: string, limit: number) => foldedLine(text, limit, () => '…')
    expect(cut('14 USD a month more for each', 21)).toBe('14 USD a month more…')
    expect(cut(`a ${'x'.repeat(40)}`, 30)).toBe(`a ${'x'.repeat(28)}…`)
    // Not within parentheses.
    expect(cut('in place of workers (its diskSize cannot be changed)', 34)).toBe(
      'in place of workers…',
    )
  })
})

describe('wrapText', () => {
  it.each([
    ['aaa bbb ccc', 'aaa bbb\nccc\n'],
    ['  aaa bbb ccc', '  aaa\n  bbb\n  ccc\n'],
    ['x\n  - aaa b c', 'x\n  - aaa\n    b c\n'],
    ['x\n  [A] aa b c', 'x\n  [A] aa\n    b c\n'],
    ['a name-that-is-too-long b', 'a\nname-that-is-too-long\nb\n'],
    ['84\u00a0% ab cd', '84 % ab\ncd\n'],
    ['a\n\n\n\nb   \n\n', 'a\n\nb\n'],
  ])('breaks %j after at most eight columns', (text, wrapped) =>
    expect(wrapText(text, 8)).toBe(wrapped),
  )
})
