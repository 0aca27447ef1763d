import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseLogRotatePolicy } from '#replay/configuration/validation/fields.ts'
import {
  isRotationOn,
  type LogFile,
  type LogRotationPass,
  rotateContainerLog,
} from './rotate-container-log.ts'

const files = (...names: string[]): LogFile[] =>
  names.map(name => ({ name, sizeBytes: name === '0.log' ? 2048 : 10 }))

const rotated = (
  maxFiles: number,
  before: LogFile[],
  pass: Partial<LogRotationPass> = {},
  maxSize = '1Ki',
) =>
  rotateContainerLog(parseLogRotatePolicy(maxSize, maxFiles), {
    log: '0.log',
    files: before,
    isRunning: true,
    timestamp: 'now',
    ...pass,
  })

const names = (after: LogFile[]) => after.map(({ name }) => name)

describe('parseLogRotatePolicy', () => {
  it.each([
    ['10Mi', 10_485_760n, true],
    ['0', 0n, true],
    ['-1', -1n, false],
    ['-10Mi', -10_485_760n, false],
    ['10k', 10_000n, true],
  ])('%s is %s bytes, and rotation is on: %s', (text, maxSizeBytes, isOn) => {
    const policy = parseLogRotatePolicy(text, 2)
    expect(policy).toEqual({ maxSizeBytes, maxFiles: 2 })
    expect(isRotationOn(policy)).toBe(isOn)
  })

  it.each(['1.5Gi', '0.5', '1.0Ki'])(
    'trap 39: a quantity that is none of upstream’s fast whole numbers is refused: %s',
    text => {
      expect(() => parseLogRotatePolicy(text, 5)).toThrow(
        `failed to parse container log max size "${text}": invalid max log size`,
      )
    },
  )

  it('says what upstream says of a text that is no quantity', () => {
    expect(() => parseLogRotatePolicy('10KB', 5)).toThrowErrorMatchingSnapshot()
  })

  it.each([1, 0, -3])(
    'trap 39: the live file counts, so %i files are refused, whatever the size',
    maxFiles => {
      expect(() => parseLogRotatePolicy('x', maxFiles)).toThrow(
        `invalid MaxFiles ${maxFiles}, must be > 1`,
      )
    },
  )
})

describe('rotateContainerLog', () => {
  it.each([
    { sizeBytes: 1023, after: ['0.log'] },
    { sizeBytes: 1024, after: ['0.log', '0.log.now'] },
    { sizeBytes: 6_500_000, after: ['0.log', '0.log.now'] },
  ])(
    'trap 39: looks once an interval: $sizeBytes bytes of 1Ki leave $after',
    ({ sizeBytes, after }) => {
      const left = rotated(5, [{ name: '0.log', sizeBytes }])
      expect(names(left)).toEqual(after)
      expect(left.at(-1)?.sizeBytes).toBe(sizeBytes)
      expect(left[0]?.sizeBytes).toBe(after.length === 1 ? sizeBytes : 0)
    },
  )

  const history = files('0.log', '0.log.1.gz', '0.log.2.gz', '0.log.3.gz', '0.log.4')

  it.each([
    [2, ['0.log', '0.log.now']],
    [3, ['0.log', '0.log.4.gz', '0.log.now']],
    [4, ['0.log', '0.log.3.gz', '0.log.4.gz', '0.log.now']],
    [5, ['0.log', '0.log.2.gz', '0.log.3.gz', '0.log.4.gz', '0.log.now']],
    [6, ['0.log', '0.log.1.gz', '0.log.2.gz', '0.log.3.gz', '0.log.4.gz', '0.log.now']],
    [9, ['0.log', '0.log.1.gz', '0.log.2.gz', '0.log.3.gz', '0.log.4.gz', '0.log.now']],
  ])('trap 39: keeps at most %i files, the live one among them', (maxFiles, after) => {
    expect(names(rotated(maxFiles, history))).toEqual(after)
  })

  it('compresses what it keeps and does not know how small that gets', () => {
    expect(rotated(5, history)).toContainEqual({ name: '0.log.4.gz', sizeBytes: null })
    expect(rotated(5, history)).toContainEqual({ name: '0.log.3.gz', sizeBytes: 10 })
  })

  it('removes the oldest by name, in whatever order the files come', () => {
    expect(names(rotated(3, files('0.log.9', '0.log', '0.log.1')))).toEqual([
      '0.log',
      '0.log.9.gz',
      '0.log.now',
    ])
  })

  it('clears leftovers with a rotation, and only then', () => {
    const leftovers = files('0.log.1', '0.log.1.gz', '0.log.2.tmp')
    expect(names(rotated(5, [...files('0.log'), ...leftovers]))).toEqual([
      '0.log',
      '0.log.1.gz',
      '0.log.now',
    ])
    expect(names(rotated(5, [{ name: '0.log', sizeBytes: 1 }, ...leftovers]))).toEqual([
      '0.log',
      ...names(leftovers),
    ])
  })

  it('leaves the files of another instance alone', () => {
    expect(names(rotated(2, files('0.log', '0.logs', '1.log', '1.log.1', '10.log.1')))).toEqual([
      '0.log',
      '0.log.now',
      '0.logs',
      '1.log',
      '1.log.1',
      '10.log.1',
    ])
  })

  it.each([
    { what: 'exited', pass: { isRunning: false }, maxSize: '1Ki' },
    { what: 'kept from rotation', pass: {}, maxSize: '-1' },
  ])('does nothing to a container that is $what', ({ pass, maxSize }) => {
    expect(rotated(5, history, pass, maxSize)).toEqual(history)
  })

  it('opens a log that is missing, and rotates it where any size is enough', () => {
    expect(rotated(5, [])).toEqual([{ name: '0.log', sizeBytes: 0 }])
    expect(names(rotated(5, [], {}, '0'))).toEqual(['0.log', '0.log.now'])
    expect(rotated(5, [], { reopenFails: true }, '0')).toEqual([])
  })

  it('has removed and compressed already where the new log cannot be opened', () => {
    expect(rotated(4, history, { reopenFails: true })).toEqual([
      { name: '0.log', sizeBytes: 2048 },
      { name: '0.log.3.gz', sizeBytes: 10 },
      { name: '0.log.4.gz', sizeBytes: null },
    ])
  })

  it('leaves a log of unknown size as it is', () => {
    expect(rotated(5, [{ name: '0.log', sizeBytes: null }], {}, '0')).toEqual([
      { name: '0.log', sizeBytes: null },
    ])
  })

  it('never keeps more files than it may, once it has rotated', () => {
    const file = fc.record({
      name: fc.constantFrom(
        '0.log',
        ...Array.from({ length: 12 }, (_, n) => [
          `0.log.${n}`,
          `0.log.${n}.gz`,
          `0.log.${n}.tmp`,
        ]).flat(),
      ),
      sizeBytes: fc.option(fc.double({ noNaN: true })),
    })
    fc.assert(
      fc.property(
        fc.uniqueArray(file, { selector: ({ name }) => name }),
        fc.integer({ min: 2, max: 8 }),
        (before, maxFiles) => {
          const after = rotated(maxFiles, before)
          if (names(after).includes('0.log.now')) expect(after.length).toBeLessThanOrEqual(maxFiles)
          expect(new Set(names(after)).size).toBe(after.length)
        },
      ),
    )
  })
})
