import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { imageGcPolicyError, predictImageGc } from '#replay/image-gc.ts'
import { vectors } from '../support/vectors.ts'

const newest = featuresOf('v1.37.0')
const filesystem = (capacityBytes: number | null, availableBytes: number | null) => ({
  capacityBytes,
  availableBytes,
  usedPercent: null,
  inodes: null,
  inodesFree: null,
})
const predict = (high: number, low: number, capacityBytes: number | null, availableBytes: number | null) =>
  predictImageGc(
    { highThresholdPercent: high, lowThresholdPercent: low, hasMaximumAge: false },
    filesystem(capacityBytes, availableBytes),
    newest,
  )

/** A threshold of 100 stops the loop, not the round: the round itself goes on as with any other. */
function roundOf(high: number, low: number, { capacityBytes, availableBytes }: { capacityBytes: number; availableBytes: number }) {
  const policy = { highThresholdPercent: high, lowThresholdPercent: low, hasMaximumAge: true }
  return predictImageGc(policy, filesystem(capacityBytes, availableBytes), newest)
}

interface Input {
  policy: { imageGCHighThresholdPercent: number; imageGCLowThresholdPercent: number; imageMaximumGCAge: string }
  steps: { action: string; imageFs?: { capacityBytes: number; availableBytes: number; error?: string } }[]
}
interface Expected {
  policyError?: string
  steps?: { freedBytes: number; error: string | null }[]
}

const errors = {
  wanted: /(?:Attempted|wanted|Wanted) to free (\d+) bytes/,
  used: /^Insufficient free disk space on the node's image filesystem \((\d+)% of /,
}
const numberIn = (text: string | null, form: RegExp) => {
  const [, digits] = form.exec(text ?? '') ?? []
  return digits === undefined ? null : Number(digits)
}

/** What the arithmetic alone decides of a round: whether space is to be freed, how much, and what the errors say of it. */
describe.each(vectors<Input, Expected>('image-gc'))('%s', (_version, cases) => {
  it.each(cases)('image-gc, what the arithmetic determines: $name', ({ input: { policy, steps }, expected }) => {
    const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = policy
    expect(imageGcPolicyError({ highThresholdPercent: high, lowThresholdPercent: low })).toBe(expected.policyError ?? null)
    for (const [index, { action, imageFs }] of steps.entries()) {
      const answer = expected.steps?.[index]
      if (action !== 'garbageCollect' || !imageFs || imageFs.error !== undefined || !answer) continue
      // An error while old images go ends the round before space is looked at.
      if (answer.error?.startsWith('wanted to free images older')) continue
      const { error, ...predicted } = roundOf(high, low, imageFs)
      const wanted = numberIn(answer.error, errors.wanted)
      const used = numberIn(answer.error, errors.used)
      if (wanted !== null) expect(predicted).toMatchObject({ triggered: true, bytesToFree: wanted })
      else if (used !== null) expect(predicted).toMatchObject({ triggered: true, usagePercent: used })
      else expect(answer.error).toBe(error)
      if (predicted.triggered === true && answer.error === null)
        expect(answer.freedBytes).toBeGreaterThanOrEqual(predicted.bytesToFree ?? 0)
      // What goes by age is counted here, too.
      if (predicted.triggered === false && policy.imageMaximumGCAge === '0s') expect(answer.freedBytes).toBe(0)
    }
  })
})

describe('predictImageGc', () => {
  it.each([
    { availableBytes: 13_741_878_804, triggered: true, usagePercent: 85, bytesToFree: 3_435_469_701 },
    { availableBytes: 13_741_878_805, triggered: false, usagePercent: 84, bytesToFree: 0 },
  ])('fires above 84 % used with 85, not at 85: $availableBytes', ({ availableBytes, ...expected }) => {
    expect(predict(85, 80, 85_886_742_528, availableBytes)).toMatchObject(expected)
  })

  it('says how many bytes may still be written: that many trigger it, one less does not', () => {
    const capacity = fc.oneof(
      fc.integer({ min: 1, max: 1e6 }),
      fc.maxSafeInteger().map(number => Math.abs(number) + 1),
    )
    fc.assert(
      fc.property(capacity, fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 99 }), (capacityBytes, share, high) => {
        const availableBytes = Math.min(capacityBytes, Math.floor(capacityBytes * share))
        const { bytesUntilTrigger } = predict(high, 0, capacityBytes, availableBytes)
        const triggeredWith = (written: number) => predict(high, 0, capacityBytes, availableBytes - written).triggered
        expect(triggeredWith(bytesUntilTrigger ?? Number.NaN)).toBe(true)
        if (bytesUntilTrigger !== 0) expect(triggeredWith((bytesUntilTrigger ?? Number.NaN) - 1)).toBe(false)
      }),
    )
  })

  it('counts in whole bytes where a double cannot: a disk of 100 TiB', () => {
    const capacity = 100 * 1024 ** 4 + 1
    expect(predict(85, 80, capacity, 0).bytesToFree).toBe(Number((BigInt(capacity) * 20n) / 100n))
  })

  it('takes more available than there is for an empty disk', () => {
    expect(predict(85, 80, 1000, 2000)).toMatchObject({ usagePercent: 0, triggered: false, bytesUntilTrigger: 841 })
  })

  it('takes a missing number for 0, as the kubelet does', () => {
    expect(predict(85, 80, 1000, null)).toMatchObject({ usagePercent: 100, triggered: true, bytesToFree: 200 })
    expect(predict(85, 80, null, 5)).toMatchObject({
      triggered: false,
      usagePercent: null,
      error: 'invalid capacity 0 on image filesystem',
    })
  })

  it('knows nothing of a filesystem that was not observed', () => {
    const policy = { highThresholdPercent: 85, lowThresholdPercent: 80, hasMaximumAge: false }
    expect(predictImageGc(policy, null, newest)).toEqual({
      enabled: true,
      highThresholdPercent: 85,
      lowThresholdPercent: 80,
      triggered: null,
      usagePercent: null,
      bytesUntilTrigger: null,
      bytesToFree: null,
      error: null,
    })
  })

  it.each([
    { version: 'v1.29.15', hasMaximumAge: false, enabled: false },
    { version: 'v1.29.15', hasMaximumAge: true, enabled: false },
    { version: 'v1.30.0', hasMaximumAge: false, enabled: false },
    { version: 'v1.30.0', hasMaximumAge: true, enabled: true },
  ])('100 stops it on $version, with a maximum age $hasMaximumAge: enabled $enabled', ({ version, hasMaximumAge, enabled }) => {
    const policy = { highThresholdPercent: 100, lowThresholdPercent: 80, hasMaximumAge }
    const prediction = predictImageGc(policy, filesystem(1000, 0), featuresOf(version))
    expect(prediction).toMatchObject({ enabled, triggered: enabled, usagePercent: 100 })
  })
})
