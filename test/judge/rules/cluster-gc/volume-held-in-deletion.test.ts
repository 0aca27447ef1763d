import { volumeHeldInDeletion } from '#judge/rules/cluster-gc/volume-held-in-deletion.ts'
import { heldVolumeExamples } from '#test/examples/volume-held-in-deletion.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

itJudgesExamples(volumeHeldInDeletion, heldVolumeExamples)
