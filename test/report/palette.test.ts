/** Segments of a bar can be told apart, also by readers who do not see all colors. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { segmentKinds } from '#report/parts/gauge.ts'

const css = readFileSync('templates/report.css', 'utf8')
const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)')

/** Machado, Oliveira and Fernandes 2009, severity 1: what a reader with the deficiency sees, in linear RGB. */
const sight = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deuteranopia: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritanopia: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
}

type Color = [number, number, number]

const colorOf = (theme: string, name: string): Color => {
  const hex = new RegExp(`--${name}: #([0-9a-f]{6})`).exec(theme)?.[1]
  if (hex === undefined) throw new Error(`no color ${name}`)
  const linear = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [linear(0), linear(2), linear(4)]
}

const seen = ([r, g, b]: Color, m: number[]): Color => {
  const row = (i: number) => Math.min(1, Math.max(0, m[i]! * r + m[i + 1]! * g + m[i + 2]! * b))
  return [row(0), row(3), row(6)]
}

const luminance = ([r, g, b]: Color) => 0.2126 * r + 0.7152 * g + 0.0722 * b

/** CIE L*a*b*, D65. */
function lab([r, g, b]: Color): Color {
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047)
  const y = f(luminance([r, g, b]))
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

const distance = (a: Color, b: Color) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
const solid = segmentKinds.filter(kind => kind !== 'unknown')

it('has six sizes of type on the screen', () => {
  const screen = css.split('@media print')[0]!
  const sizes = [...screen.matchAll(/font(?:-size)?: [^;}]*?(\d[\d.]*)px/g)].map(([, size]) => size)
  expect(sizes.length).toBeGreaterThan(40)
  expect([...new Set(sizes)].toSorted()).toEqual(['12', '14', '16', '18', '22', '38'])
})

describe.each([
  ['light', light],
  ['dark', dark],
])('%s', (_, theme) => {
  it.each(solid)('%s stands out from the card: 3 to 1 (WCAG 2.2, 1.4.11)', kind => {
    const [a, b] = [luminance(colorOf(theme, kind)), luminance(colorOf(theme, 'card'))]
    expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toBeGreaterThanOrEqual(3)
  })

  it.each(Object.entries(sight))('neighbours differ with %s', (_name, matrix) => {
    const colors = solid.map(kind => lab(seen(colorOf(theme, kind), matrix)))
    for (const [index, color] of colors.slice(1).entries())
      expect(distance(color, colors[index]!), solid[index]).toBeGreaterThanOrEqual(14)
  })
})
