import { releasedVolume } from '#judge/rules/cluster-gc/released-volume.ts'
import { releasedVolumeExamples } from '#test/examples/released-volume.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(releasedVolume, releasedVolumeExamples)
