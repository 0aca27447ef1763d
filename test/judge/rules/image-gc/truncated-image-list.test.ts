import { truncatedImageList } from '#judge/rules/image-gc/truncated-image-list.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

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
