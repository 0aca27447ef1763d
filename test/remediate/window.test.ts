import { describe, expect, it } from 'vitest'
import { weekdays } from '#model/policy/defaults.ts'
import type { ChangeWindow } from '#model/policy.ts'
import { isWindowOpen, windowsText } from '#remediate/run/window.ts'

const window = (more: Partial<ChangeWindow> = {}): ChangeWindow => ({
  days: [...weekdays],
  from: '09:00',
  to: '17:00',
  timezone: 'UTC',
  ...more,
})
const openAt = (windows: ChangeWindow[], time: string) => isWindowOpen(windows, new Date(time))

describe('a window', () => {
  it('is open at any time where the policy has none', () => {
    expect(openAt([], '2026-11-21T03:00:00Z')).toBe(true)
  })

  it.each([
    { time: '08:59:59', open: false },
    { time: '09:00:00', open: true },
    { time: '16:59:59', open: true },
    { time: '17:00:00', open: false },
  ])('from 09:00 to 17:00 at $time: $open', ({ time, open }) => {
    expect(openAt([window()], `2026-11-21T${time}Z`)).toBe(open)
  })

  it('may be the whole day', () => {
    const whole = [window({ from: '00:00', to: '24:00', days: ['sat'] })]
    expect(openAt(whole, '2026-11-21T00:00:00Z')).toBe(true)
    expect(openAt(whole, '2026-11-21T23:59:59Z')).toBe(true)
    expect(openAt(whole, '2026-11-22T00:00:00Z')).toBe(false)
  })

  // 2026-11-20 is a Friday.
  it.each([
    { time: '2026-11-20T21:59:00Z', open: false },
    { time: '2026-11-20T22:00:00Z', open: true },
    { time: '2026-11-21T03:59:00Z', open: true },
    { time: '2026-11-21T04:00:00Z', open: false },
    { time: '2026-11-21T22:30:00Z', open: false },
    { time: '2026-11-20T03:00:00Z', open: false },
  ])('over midnight belongs to the day on which it begins: $time: $open', ({ time, open }) => {
    expect(openAt([window({ days: ['fri'], from: '22:00', to: '04:00' })], time)).toBe(open)
  })

  it('that begins on Sunday ends on Monday', () => {
    expect(
      openAt([window({ days: ['sun'], from: '22:00', to: '04:00' })], '2026-11-23T01:00:00Z'),
    ).toBe(true)
  })

  it('is one of several', () => {
    const several = [
      window({ days: ['mon'] }),
      window({ days: ['sat'], from: '02:00', to: '03:00' }),
    ]
    expect(openAt(several, '2026-11-21T02:30:00Z')).toBe(true)
    expect(openAt(several, '2026-11-21T10:00:00Z')).toBe(false)
  })

  it('goes by the day and the hour of its own zone', () => {
    const tokyo = [window({ days: ['sun'], from: '00:00', to: '02:00', timezone: 'Asia/Tokyo' })]
    expect(openAt(tokyo, '2026-11-21T14:59:00Z')).toBe(false)
    expect(openAt(tokyo, '2026-11-21T15:00:00Z')).toBe(true)
  })
})

describe('a window in Berlin, where clocks change on 2026-03-29 and 2026-10-25', () => {
  const from9 = [window({ timezone: 'Europe/Berlin' })]

  it('keeps its hours in winter and in summer', () => {
    expect([openAt(from9, '2026-03-28T07:59:00Z'), openAt(from9, '2026-03-28T08:00:00Z')]).toEqual([
      false,
      true,
    ])
    expect([openAt(from9, '2026-03-29T06:59:00Z'), openAt(from9, '2026-03-29T07:00:00Z')]).toEqual([
      false,
      true,
    ])
  })

  const night = [window({ from: '02:00', to: '03:00', timezone: 'Europe/Berlin' })]

  it('is not open in the night that has no such hour', () => {
    expect(openAt(night, '2026-03-29T00:59:59Z')).toBe(false)
    expect(openAt(night, '2026-03-29T01:00:00Z')).toBe(false)
  })

  it('is open twice in the night that has it twice', () => {
    const times = [
      '2026-10-24T23:59:00Z',
      '2026-10-25T00:00:00Z',
      '2026-10-25T01:59:00Z',
      '2026-10-25T02:00:00Z',
    ]
    expect(times.map(time => openAt(night, time))).toEqual([false, true, true, false])
  })
})

it('has the words of the policy', () => {
  expect(windowsText([window({ timezone: 'Europe/Berlin' })])).toMatchSnapshot()
  expect(windowsText([window({ days: ['mon', 'fri'], from: '22:00', to: '04:00' })])).toBe(
    'mon, fri 22:00 to 04:00 UTC',
  )
})
