import { describe, expect, it } from 'vitest'
import { invalidKubeletConfiguration } from '#judge/rules/configuration/invalid-kubelet-configuration.ts'
import type { NextStartPrediction } from '#model/prediction.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { outcomeFor } from '#test/rule-outcome.ts'

const file = '/etc/kubernetes/kubelet/config.json'

itJudgesExamples(invalidKubeletConfiguration, {
  bad: {
    nextStart: {
      files: [file],
      errors: [
        'invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) 50 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 50',
      ],
      imageGCHighThresholdPercent: 50,
      imageGCLowThresholdPercent: 50,
      settings: null,
    },
  },
  good: {
    nextStart: {
      files: [file],
      errors: [],
      imageGCHighThresholdPercent: 50,
      imageGCLowThresholdPercent: 40,
      settings: null,
    },
  },
})

describe('invalid-kubelet-configuration', () => {
  const nextStart = (
    high: number | null,
    low: number | null,
    ...errors: string[]
  ): NextStartPrediction => ({
    files: [
      '/etc/kubernetes/kubelet/config.json',
      '/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf',
    ],
    errors,
    imageGCHighThresholdPercent: high,
    imageGCLowThresholdPercent: low,
    settings: null,
  })

  it('is unknown, not passed, where the files were not read', () => {
    expect(outcomeFor(invalidKubeletConfiguration, {})).toMatchSnapshot()
  })

  it('passes files that the kubelet takes', () => {
    expect(outcomeFor(invalidKubeletConfiguration, { nextStart: nextStart(50, 40) }).state).toBe(
      'pass',
    )
  })

  it('is unknown where something could still keep the kubelet from starting, and fails on what surely does', () => {
    const doubts = {
      nextStart: 'whether this kubelet version knows the feature gate Foo is not known',
    }
    expect(
      outcomeFor(invalidKubeletConfiguration, { nextStart: nextStart(50, 40), doubts }),
    ).toEqual({ state: 'unknown', reason: doubts.nextStart })
    expect(
      outcomeFor(invalidKubeletConfiguration, { nextStart: nextStart(50, 50, 'refused'), doubts }),
    ).toMatchObject({ state: 'fail', failing: { confidence: 'likely' } })
  })

  it("gives the kubelet's own words and the files", () => {
    const outcome = outcomeFor(invalidKubeletConfiguration, {
      nextStart: nextStart(50, 50, 'first error', 'second error'),
    })
    expect(outcome).toMatchObject({
      state: 'fail',
      failing: {
        consequence:
          'At its next start the kubelet v1.34.1-eks-0000000 exits: [first error, second error]',
        evidence: [
          { what: 'read from' },
          { what: 'read from' },
          { kind: 'computed', what: 'refused', value: 'first error' },
          { value: 'second error' },
          {},
        ],
      },
    })
  })

  it.each([
    [50, 50, { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 40 }],
    [50, 80, { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 40 }],
    [5, 80, { imageGCHighThresholdPercent: 5, imageGCLowThresholdPercent: 0 }],
    [0, 0, undefined],
    [85, 80, undefined],
    [120, 130, undefined],
    [null, null, undefined],
  ])('for high %s and low %s proposes %j', (high, low, config) => {
    const outcome = outcomeFor(invalidKubeletConfiguration, {
      nextStart: nextStart(high, low, 'refused'),
    })
    expect(outcome.state === 'fail' && outcome.failing.fix?.config).toEqual(config)
  })

  it('names the refused values of the files as the cause', () => {
    const outcome = outcomeFor(invalidKubeletConfiguration, {
      nextStart: nextStart(50, 50, 'refused'),
    })
    expect(outcome).toMatchObject({
      failing: {
        seen: expect.stringContaining('ThresholdPercent 50 and imageGCLowThresholdPercent 50'),
        cause: { fields: ['configuration', expect.stringContaining('Low'), expect.anything()] },
      },
    })
  })
})
