/**
 * Kubelet settings of a launch template or a node class, without other data. User data can contain secrets, so an unknown name keeps
 * only a number, a quantity or a duration. A misspelt threshold stays visible, and a password does not.
 */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { configurationFields } from './fields.ts'

export interface KubeletSettings {
  /** KubeletConfiguration fields, by upstream's names. */
  config: RawObject
  /** Command-line arguments: `--flag=value`, or `--flag` and its value. */
  flags: string[]
  /** Source of the settings: nodeadm (NodeConfig), EKS's bootstrap script, Bottlerocket, or a custom script. */
  source: (typeof sources)[number]
}

const sources = ['nodeadm', 'bootstrap', 'bottlerocket', 'script'] as const
const removed = '(removed)'
const deepest = 4

/** Fields that can contain a token. */
const secretFields = ['staticPodURL', 'staticPodURLHeader']
const knownFields = new Set(
  ['apiVersion', 'kind', ...Object.keys(configurationFields)].filter(
    field => !secretFields.includes(field),
  ),
)

/** Flags that only the kubelet has. Source: cmd/kubelet/app/options/options.go */
const ownFlags = new Set(
  `cgroups-per-qos container-log-max-files container-log-max-size cpu-manager-policy enforce-node-allocatable event-qps eviction-hard
   eviction-max-pod-grace-period eviction-minimum-reclaim eviction-pressure-transition-period eviction-soft eviction-soft-grace-period
   fail-cgroupv1 fail-swap-on image-gc-high-threshold image-gc-low-threshold kernel-memcg-notification kube-reserved kube-reserved-cgroup
   local-storage-capacity-isolation max-pods maximum-dead-containers maximum-dead-containers-per-container memory-manager-policy
   minimum-container-ttl-duration minimum-image-ttl-duration node-status-max-images pod-infra-container-image pod-max-pids pods-per-core
   protect-kernel-defaults registry-burst registry-qps reserved-cpus reserved-memory seccomp-default serialize-image-pulls
   system-reserved system-reserved-cgroup topology-manager-policy volume-stats-agg-period`.split(
    /\s+/,
  ),
)
/** Flags of the kubelet whose names other programs use as well. */
const sharedFlags = new Set(
  `cgroup-driver cgroup-root cloud-provider config config-dir container-runtime container-runtime-endpoint event-burst feature-gates
   hostname-override image-service-endpoint kubelet-cgroups node-ip node-labels register-with-taints root-dir runtime-cgroups v`.split(
    /\s+/,
  ),
)

export const isConfigurationField = (name: string) => knownFields.has(name)
export const isKubeletFlag = (name: string) => ownFlags.has(name.replaceAll('_', '-'))

/** Keeps only kubelet settings. Undefined: the value has no known `source`. A second call changes nothing. */
export function cutSettings(value: unknown): KubeletSettings | undefined {
  if (!isRawObject(value)) return undefined
  const source = sources.find(known => known === value.source)
  if (source === undefined) return undefined
  const flags = Array.isArray(value.flags)
    ? value.flags.filter(flag => typeof flag === 'string')
    : []
  return { config: cutConfig(value.config), flags: cutFlags(flags), source }
}

/** Removes possible secrets from a KubeletConfiguration or a part of one. */
export const cutConfig = (config: unknown): RawObject =>
  isRawObject(config) ? cutFields(config, isConfigurationField, deepest) : {}

function cutFields(
  fields: RawObject,
  isKnown: (name: string) => boolean,
  depth: number,
): RawObject {
  const named = Object.entries(fields).filter(
    ([name]) => /^[A-Za-z][\w./-]{0,79}$/.test(name) && !/URLHeader$/i.test(name),
  )
  return Object.fromEntries(
    named.map(([name, value]) => [name, cutValue(value, isKnown(name), depth)]),
  )
}

function cutValue(value: unknown, isKnown: boolean, depth: number): unknown {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'string') return cutText(value, isKnown)
  if (depth === 0) return removed
  if (Array.isArray(value)) return value.map(item => cutValue(item, isKnown, depth - 1))
  return isRawObject(value) ? cutFields(value, () => isKnown, depth - 1) : removed
}

const plainText = /^[\w.%<>=,:;+/@~*-]{0,512}$/
const amount = /^(?=.{1,20}$)\d[\d.]*(%|[A-Za-z]{1,2})?([\d.]+[a-z]{1,2})*$/

const cutText = (text: string, isKnown: boolean) =>
  (isKnown ? plainText : amount).test(text) ? text : removed

/** Keeps arguments that are flags, and the values after them. */
function cutFlags(words: readonly string[]) {
  const kept: string[] = []
  let awaiting: string | null = null
  for (const word of words) {
    const [, dashes = '', name, value] =
      /^(--?)([A-Za-z][\w-]{0,79})(?:=([\s\S]*))?$/.exec(word) ?? []
    if (name !== undefined) {
      kept.push(
        value === undefined ? `${dashes}${name}` : `${dashes}${name}=${cutFlagValue(name, value)}`,
      )
      awaiting = value === undefined ? name : null
    } else {
      if (awaiting !== null) kept.push(cutFlagValue(awaiting, word))
      awaiting = null
    }
  }
  return kept
}

function cutFlagValue(name: string, value: string) {
  const plain = name.replaceAll('_', '-')
  return cutText(value, ownFlags.has(plain) || sharedFlags.has(plain))
}
