import { describe, expect, it } from 'vitest'
import { bytes, isPrintable, percent, plural, shorten, span, unlinked } from '#judge/text.ts'

describe('bounded', () => {
  it.each([
    ['short', 10, 'short'],
    ['exactly ten', 11, 'exactly ten'],
    ['longer than ten', 10, 'longer ...'],
    ['a\nb\u0007c\u202ed', 20, 'a b c d'],
    ['\ud83d', 20, '\ufffd'],
    ['a\u00a0b\u2003c\u2800\u3164d\u115f\u1160\uffa0e', 20, 'a b c d e'],
  ])('shows %j within %i as %j', (text, length, shown) => {
    expect(shorten(text, length)).toBe(shown)
  })
})

it.each(['a\u202eb', 'a\u00a0b', 'a\u3000b', 'a\u2800', 'a\u3164', 'a\u115f'])(
  'finds what hides in %j',
  text => {
    expect(isPrintable(text)).toBe(false)
    expect(isPrintable('a b 결제')).toBe(true)
  },
)

it('leaves no address that a mail program makes a link of', () => {
  expect(unlinked('see HTTPS://a.example/x, xhttp://b')).toBe(
    'see HTTPS[:]//a.example/x, xhttp[:]//b',
  )
})

it.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1.0 KiB'],
  [16_106_128_000, '15.0 GiB'],
  [-1_073_741_824, '-1.0 GiB'],
])('writes %i bytes for sentences', (count, sentence) => {
  expect(bytes(count)).toBe(sentence)
})

it.each([
  [1, '1 %'],
  [0.999999999, '1 %'],
  [2.345, '2.3 %'],
  [0.04, '<0.1 %'],
  [99.95, '99.9 %'],
  [-5, '-5 %'],
])('writes %d percent as %s', (value, text) => {
  expect(percent(value)).toBe(text)
})

describe('span', () => {
  it.each([
    [0, '0 s'],
    [119_949, '119.9 s'],
    [120_000, '2 min'],
    [750_000, '12.5 min'],
    [7_199_000, '120 min'],
    [7_200_000, '2 h'],
  ])('%d ms are %s', (ms, words) => {
    expect(span(ms)).toBe(words)
  })
})

it.each([
  [1, 'pod in deletion', '1 pod in deletion'],
  [0, 'node', '0 nodes'],
  [2, 'finished pod', '2 finished pods'],
  [2, 'pod in deletion', '2 pods in deletion'],
  [2, 'version of an API group', '2 versions of an API group'],
])('counts %i of a %s as %s', (count, noun, text) => {
  expect(plural(count, noun)).toBe(text)
})
