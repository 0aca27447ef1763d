import { featuresOf } from '#facts/kubelet/features.ts'
import { type VersionSkew, versionSkew } from '#facts/kubernetes/version-skew.ts'
import { contextRule, line, plural, seenFirst, worldCause } from '#judge/rule.ts'

export const unsupportedVersion = contextRule({
  id: 'unsupported-version',
  family: 'kernel',
  severity: 'medium',
  cause: worldCause('version-skew'),
  steps: ['upgrade-group'],
  title: 'The kubelet has a version that is not supported here',
  why: 'Supported are the kubelets that were compared with upstream, 1.29 to 1.37; for others nothing is predicted. An older kubelet gets no repairs from anyone. Nor does anyone test a kubelet that is newer than its control plane, or more than three minors older (two before control plane 1.28). At the end of extended support, 26 months after its release, EKS upgrades a control plane by itself and leaves the nodes as they are: the distance grows.',
  fix: 'Upgrade an old kubelet with its node; for a new one upgrade highwater. Upgrade the control plane first, then the nodes.',
  sources: [
    'src/facts/kubelet/features.ts',
    'kubernetes.io/releases/version-skew-policy',
    'docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html',
  ],

  fact: ({ identity: { kubeletVersion } }) => ({ kubeletVersion }),

  *judge({ kubeletVersion }, { eks, failed }) {
    const { minor, exact } = featuresOf(kubeletVersion)
    if (minor === null) yield { unknown: 'node: its status names no kubelet version that is known' }
    else if (!exact)
      yield {
        severity: 'low',
        ...seenFirst(
          `Kubernetes 1.${minor} is not supported: its replay is unknown.`,
          'Nothing is predicted for this node; its conditions, events, pods and statistics are judged.',
        ),
        evidence: [line('node', 'kubelet version', kubeletVersion ?? '')],
      }
    const controlPlane = eks?.version ?? null
    const unread = controlPlane === null ? failed('cluster') : null
    if (unread !== null) yield { unknown: unread }
    const skew = versionSkew(kubeletVersion, controlPlane)
    if (!skew || skew.state === 'supported') return
    yield {
      title: 'The kubelet is too far from its control plane',
      consequence: consequenceOf(skew),
      evidence: [
        line('node', 'kubelet version', kubeletVersion ?? ''),
        line('object', 'EKS control plane version', controlPlane ?? ''),
        line('computed', 'minors that the kubelet may be older', skew.allowedBehind),
      ],
    }
  },
})

function consequenceOf({ state, kubeletMinor, controlPlaneMinor, allowedBehind }: VersionSkew) {
  if (state === 'newer')
    return `The kubelet of 1.${kubeletMinor} is newer than its control plane, 1.${controlPlaneMinor}: it may use what that API server does not have.`
  return `The kubelet of 1.${kubeletMinor} is ${plural(controlPlaneMinor - kubeletMinor, 'minor')} older than its control plane, 1.${controlPlaneMinor}, and ${allowedBehind} are supported: the node may stop working at any upgrade, and EKS makes one by itself when the control plane's support ends.`
}
