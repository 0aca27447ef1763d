import { invalidKubeletConfiguration } from '#judge/rules/configuration/invalid-kubelet-configuration.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

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
