import { featuresOf } from '#facts/kubelet/features.ts'
import { nodeRule } from '#judge/rule.ts'
import { bounded } from '#judge/text.ts'

export const unsupportedVersion = nodeRule({
  id: 'unsupported-version',
  family: 'kernel',
  severity: 'medium',
  needs: [],
  docs: {
    title: 'The kubelet has a version that is not known here',
    why: 'What is said of this node follows the rules of the nearest version that is known, 1.24 to 1.37: thresholds, defaults and order may differ. A kubelet older than that gets no repairs from anyone.',
    fix: 'Upgrade an old kubelet with its node; for a new one upgrade highwater.',
    sources: ['src/facts/kubelet/features.ts', 'kubernetes.io/releases/version-skew-policy'],
  },
  examples: { bad: { identity: { kubeletVersion: 'v1.23.17' } }, good: { identity: { kubeletVersion: 'v1.24.0' } } },

  *judge({ identity: { kubeletVersion } }) {
    const { minor, exact, rulesOfMinor } = featuresOf(kubeletVersion)
    if (minor === null) yield { unknown: 'node: its status names no kubelet version that is known' }
    else if (!exact)
      yield {
        consequence: `The kubelet of 1.${minor} is judged by the rules of 1.${rulesOfMinor}: what it will do may differ from what is said of this node.`,
        evidence: [{ what: 'kubelet version', value: bounded(kubeletVersion ?? '') }],
      }
  },
})
