/** `spec.kubelet` of a kops InstanceGroup. Source: kubernetes/kops docs/instance_groups.md, docs/operations/updates_and_upgrades.md */

import { isRawObject } from '#base/raw-object.ts'
import { argumentsFor } from '#facts/kubelet/flag-settings.ts'
import {
  comments,
  type DurableTarget,
  indent,
  isEmpty,
  quotedName,
  settableFields,
  yaml,
} from './durable.ts'

/**
 * Fields of a KubeletConfiguration that `spec.kubelet` of a kops InstanceGroup has by the same name. It writes maps of eviction as flags do.
 * Source: kubernetes/kops pkg/apis/kops/v1alpha2/componentconfig.go KubeletConfigSpec
 */
const instanceGroupFields: ReadonlySet<string> = new Set([
  ...['containerLogMaxFiles', 'containerLogMaxSize', 'evictionHard', 'evictionMaxPodGracePeriod'],
  ...['evictionMinimumReclaim', 'evictionPressureTransitionPeriod', 'evictionSoft'],
  ...['evictionSoftGracePeriod', 'imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'],
  ...['kubeReserved', 'kubeReservedCgroup', 'maxPods', 'podPidsLimit', 'registryBurst'],
  ...['registryPullQPS', 'serializeImagePulls', 'systemReserved', 'systemReservedCgroup'],
])

export const kops: DurableTarget = {
  target: 'kops',
  isFor: (_, { kind }) => kind === 'InstanceGroup',

  snippet(request) {
    const { config, leftOut } = settableFields(request, {
      refusal: field => (instanceGroupFields.has(field) ? null : 'no field of an InstanceGroup'),
    })
    if (isEmpty(config))
      return comments(['An InstanceGroup can hold nothing of this fix.', ...leftOut])
    const kubelet = Object.fromEntries(
      Object.entries(config).map(([field, value]) => [field, settingOf(field, value)]),
    )
    const name = quotedName(request.group.name, 'of these nodes')
    return [
      comments([
        `kops edit instancegroup ${name}, then kops update cluster --yes and kops rolling-update cluster --yes, which replaces its nodes.`,
        ...leftOut,
      ]),
      `kind: InstanceGroup\nspec:\n  kubelet:\n${indent(yaml(kubelet), 4)}`,
    ].join('')
  },
}

/** Thresholds are one text, as in a flag. Reservations stay maps. */
function settingOf(field: string, value: unknown) {
  if (!field.startsWith('eviction') || !isRawObject(value)) return value
  const [flag = ''] = argumentsFor(field, value)
  return flag.slice(flag.indexOf('=') + 1)
}
