import { line, nodeRule, settingIn } from '#judge/rule.ts'
import { wholeFile } from '#model/finding.ts'
import type { NextStartPrediction } from '#model/prediction.ts'

export const invalidKubeletConfiguration = nodeRule({
  id: 'invalid-kubelet-configuration',
  family: 'configuration',
  severity: 'critical',
  cause: settingIn('kubelet', wholeFile),
  steps: ['correct-file'],
  needs: ['nextStart'],
  title: 'The kubelet refuses the configuration on its disk',
  why: 'The kubelet reads its files only when it starts, and exits if it finds them invalid. A running node shows nothing of it; after the next restart or reboot it stays NotReady, its pods are replaced elsewhere after five minutes, and the API server answers 503 for its kubelet.',
  fix: 'Correct the file (or the user data that writes it) before anything restarts the kubelet.',
  sources: [
    'pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration',
    'pkg/kubelet/eviction/helpers.go ParseThresholdConfig',
    'pkg/kubelet/images/image_gc_manager.go NewImageGCManager',
  ],

  *judge({ nextStart, identity, doubts }) {
    const [first] = nextStart.errors
    if (first === undefined) {
      if (doubts.nextStart !== undefined) yield { unknown: doubts.nextStart }
      return
    }
    const version = identity.kubeletVersion ?? 'of this node'
    const config = fix(nextStart)
    yield {
      ...(config
        ? {
            cause: settingIn(
              'kubelet',
              wholeFile,
              'imageGCLowThresholdPercent',
              'imageGCHighThresholdPercent',
            ),
            seen: `its files have imageGCHighThresholdPercent ${nextStart.imageGCHighThresholdPercent} and imageGCLowThresholdPercent ${nextStart.imageGCLowThresholdPercent}, which must be less; until that is corrected, restart neither kubelet nor node: the kubelet would exit`,
          }
        : {
            steps: [
              {
                id: 'correct-file',
                ...(nextStart.files[0] !== undefined && { place: nextStart.files[0] }),
                message: first,
              },
            ],
          }),
      // A file that was not read could replace the refused value.
      confidence: doubts.nextStart === undefined ? 'certain' : 'likely',
      consequence: `At its next start the kubelet ${version} exits: ${nextStart.errors.length === 1 ? first : `[${nextStart.errors.join(', ')}]`}`,
      evidence: [
        ...nextStart.files.map(path => line('host', 'read from', path)),
        ...nextStart.errors.map(error => line('computed', 'refused', error)),
        line('node', 'node condition Ready', identity.ready ?? 'not reported'),
      ],
      fix: config,
    }
  },
})

const isPercent = (value: number | null): value is number =>
  value !== null && value >= 0 && value <= 100

/** Undefined unless the intent is clear: high is in range, and low is not below high. */
function fix({
  imageGCHighThresholdPercent: high,
  imageGCLowThresholdPercent: low,
}: NextStartPrediction) {
  if (!isPercent(high) || low === null || low < high || high === 0) return undefined
  return {
    config: {
      imageGCLowThresholdPercent: Math.max(0, high - 10),
      imageGCHighThresholdPercent: high,
    },
  }
}
