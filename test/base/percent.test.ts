import { expect, it } from 'vitest'
import { percentNumber, usedPercentOf } from '#base/percent.ts'

it.each([
  [0, '0'],
  [0.04, '<0.1'],
  [73.04, '73'],
  [88.96, '89'],
  [99.95, '99.9'],
  [100, '100'],
  [1234.56, '1,234.6'],
])('%d reads %s', (percent, text) => expect(percentNumber(percent)).toBe(text))

it.each([
  [200, 24, 88],
  [20, 20, 0],
  [20, -1, 100],
  [20, 30, 0],
  [0, 0, null],
  [null, 1, null],
  [20, null, null],
])('a disk of %s with %s available is used to %s percent', (capacity, available, used) => {
  expect(usedPercentOf(capacity, available)).toBe(used)
})
