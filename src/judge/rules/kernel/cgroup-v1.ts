import { featuresOf } from '#facts/kubelet/features.ts'
import { line, nodeRule, worldCause } from '#judge/rule.ts'
import { kernelOf } from '#judge/subject/kernel.ts'

export const cgroupV1 = nodeRule({
  id: 'cgroup-v1',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('cgroup-v1'),
  steps: ['create-group'],
  needs: ['host'],
  title: 'The node runs cgroup v1, which its kubelet refuses',
  why: 'From 1.35 on the kubelet exits at its start on cgroup v1, unless failCgroupV1 is set to false. Support for v1 gets no more than repairs, and goes.',
  fix: 'Replace the node by an image with cgroup v2 (AL2023, Bottlerocket). Until then failCgroupV1: false lets the kubelet start.',
  sources: [
    'cmd/kubelet/app/server.go run',
    'pkg/kubelet/apis/config/v1beta1/defaults.go failCgroupV1',
    'kubernetes/enhancements#5573',
  ],
  appliesTo: ({ identity }) =>
    identity.operatingSystem === 'linux' &&
    featuresOf(identity.kubeletVersion).has('cgroupV1Refused'),

  *judge(subject) {
    const { cgroupVersion } = kernelOf(subject)
    const { identity, configuration } = subject
    if (cgroupVersion === null)
      yield { unknown: 'host: which cgroup version the node runs was not read' }
    else if (featuresOf(identity.kubeletVersion).minor === null)
      yield { unknown: 'node: its status names no kubelet version that is known' }
    if (cgroupVersion !== 1 || featuresOf(identity.kubeletVersion).minor === null) return
    const isAllowed = configuration?.failCgroupV1 === false
    yield {
      severity: isAllowed ? 'medium' : 'high',
      consequence: isAllowed
        ? 'The kubelet starts only because failCgroupV1 is false; without that it exits.'
        : 'At its next start the kubelet exits: kubelet is configured to not run on a host using cgroup v1',
      evidence: [
        line('host', 'host kernel cgroupVersion', '1'),
        line('node', 'kubelet version', identity.kubeletVersion ?? ''),
        line(
          'configz',
          'failCgroupV1',
          configuration ? String(configuration.failCgroupV1 ?? 'absent') : 'not known',
        ),
      ],
      fix: isAllowed ? undefined : { config: { failCgroupV1: false } },
    }
  },
})
