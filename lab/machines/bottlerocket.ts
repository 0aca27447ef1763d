/** The settings of a Bottlerocket node, as `apiclient get` prints them. Source: bottlerocket-core-kit, settings models and packages/kubernetes kubelet-config */

import type { RawObject } from '#base/raw-object.ts'
import { bottlerocketDefaults, configurationOf } from '#lab/nodes/configz.ts'
import { instanceTypes } from '#lab/nodes/instance-types.ts'
import { nodeInfo } from '#lab/nodes/node-object.ts'
import type { NodeProfile } from '#lab/nodes/profile.ts'
import type { MachinePart } from './machine.ts'

/** On the host, which its agent does not see. */
export const bottlerocketFile = '/etc/kubernetes/kubelet/config'

/** Settings whose names do not follow from the kubelet's fields. */
const names: Readonly<Record<string, string>> = {
  imageGCHighThresholdPercent: 'image-gc-high-threshold-percent',
  imageGCLowThresholdPercent: 'image-gc-low-threshold-percent',
  imageMinimumGCAge: 'image-minimum-gc-age',
  imageMaximumGCAge: 'image-maximum-gc-age',
  kubeAPIQPS: 'kube-api-qps',
}

export function bottlerocketPart(profile: NodeProfile): MachinePart {
  const [, version = ''] = /OS (\S+)/.exec(nodeInfo(profile).osImage) ?? []
  const variant = `aws-k8s-${profile.version.slice(0, 4)}`
  return {
    answers: {
      'apiclient.settings.kubernetes.json': printed({
        settings: { kubernetes: settingsOf(profile) },
      }),
      'apiclient.settings.container-registry.json': printed({ settings: {} }),
      'apiclient.os.json': printed({
        os: {
          arch: instanceTypes[profile.instanceType].arch === 'arm64' ? 'aarch64' : 'x86_64',
          build_id: 'a1b2c3d4',
          pretty_name: `Bottlerocket OS ${version} (${variant})`,
          variant_id: variant,
          version_id: version,
        },
      }),
    },
    running: configurationOf(profile),
    kubelet: {
      unit: 'kubelet.service',
      command: ['/usr/bin/kubelet', `--config=${bottlerocketFile}`],
      environment: [],
      version: profile.version,
      cgroup: '0::/runtime.slice/',
      defaults: bottlerocketDefaults(profile),
    },
  }
}

const printed = (value: RawObject) => `${JSON.stringify(value, null, 2)}\n`

function settingsOf(profile: NodeProfile): RawObject {
  const set = Object.entries(profile.configuration ?? {}).map(([field, value]) => [
    names[field] ?? field.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`),
    // Percentages of image GC are texts there.
    field.startsWith('imageGC') ? String(value) : value,
  ])
  return {
    'bootstrap-token': 'lab-secret-bootstrap',
    'cluster-dns-ip': '10.100.0.10',
    'cluster-domain': 'cluster.local',
    'hostname-override': profile.name,
    'max-pods': instanceTypes[profile.instanceType].maxPods,
    'node-ip': profile.ip,
    ...Object.fromEntries(set),
  }
}
