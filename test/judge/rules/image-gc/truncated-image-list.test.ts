import { describe, expect, it } from 'vitest'
import { truncatedImageList } from '#judge/rules/image-gc/truncated-image-list.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { judge } from '#test/rules/gc-thresholds.ts'

/** Source: pkg/kubelet/apis/config/v1beta1/defaults.go NodeStatusMaxImages. */
const defaultMost = 50

const images = (count: number) => ({
  node: {
    status: {
      images: Array.from({ length: count }, (_, index) => ({
        names: [`app:${index}`],
        sizeBytes: 1,
      })),
    },
  },
})

itJudgesExamples(truncatedImageList, { bad: images(defaultMost), good: images(defaultMost - 1) })

describe('truncated-image-list', () => {
  const listed = (count: number) => ({
    status: { images: Array.from({ length: count }, () => ({ names: [] })) },
  })
  const present = (count: number) => ({ images: Array.from({ length: count }, () => ({})) })

  it.each([
    [49, undefined, null, 'pass', ''],
    [50, undefined, null, 'fail', 'possible'],
    [50, undefined, present(50), 'pass', ''],
    [50, undefined, present(51), 'fail', 'certain'],
    [50, -1, null, 'pass', ''],
    [50, 100, null, 'pass', ''],
  ] as const)(
    '%i listed, at most %s: %j',
    (count, nodeStatusMaxImages, runtime, expected, confidence) => {
      const outcome = judge(truncatedImageList, {
        node: listed(count),
        configuration: { nodeStatusMaxImages },
        runtime,
      })
      expect(outcome.state).toBe(expected)
      if (outcome.state === 'fail') expect(outcome.failing.confidence).toBe(confidence)
    },
  )
})
