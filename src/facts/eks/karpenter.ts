/**
 * What `spec.kubelet` of Karpenter's EC2NodeClass accepts up to v1.14: these fields and, in maps, these keys. Later releases accept any field.
 * Source: karpenter-provider-aws pkg/apis/v1 KubeletConfiguration; pkg/providers/amifamily/bootstrap/bottlerocket.go (fields that become settings there).
 */

import { mapOf, type RawObject, textOfValue } from '#base/raw-object.ts'
import type { KubernetesNode } from '#model/input/record.ts'
import { settableSignals } from '#model/prediction.ts'

const resources = ['cpu', 'memory', 'ephemeral-storage', 'pid']

interface NodeClassField {
  /** As the CRD names it. */
  type: 'array' | 'boolean' | 'integer' | 'object'
  /** Keys that the map may contain; undefined: the field is no map. */
  keys?: readonly string[]
  /** Of an entry of the map. */
  entry?: 'threshold' | 'reservation'
  minimum?: number
  maximum?: number
  isIgnoredOnBottlerocket?: true
}

const percent: NodeClassField = { type: 'integer', minimum: 0, maximum: 100 }
const thresholds: NodeClassField = { type: 'object', keys: settableSignals, entry: 'threshold' }
const reservations: NodeClassField = { type: 'object', keys: resources, entry: 'reservation' }

export const nodeClassKubeletFields: Readonly<Record<string, NodeClassField>> = {
  clusterDNS: { type: 'array' },
  cpuCFSQuota: { type: 'boolean' },
  evictionHard: thresholds,
  evictionMaxPodGracePeriod: { type: 'integer' },
  evictionSoft: thresholds,
  evictionSoftGracePeriod: { type: 'object', keys: settableSignals },
  imageGCHighThresholdPercent: percent,
  imageGCLowThresholdPercent: percent,
  kubeReserved: reservations,
  maxPods: { type: 'integer', minimum: 0 },
  podsPerCore: { type: 'integer', minimum: 0, isIgnoredOnBottlerocket: true },
  systemReserved: reservations,
}

/** Fields of an EC2NodeClass that say something of a node's kubelet or disk, and one with a near name. Source: karpenter-provider-aws pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml (August 2026) */
export const nodeClassFields = {
  spec: [
    ...['amiFamily', 'amiSelectorTerms', 'blockDeviceMappings', 'instanceStorePolicy', 'kubelet'],
    'userData',
  ],
  mapping: ['deviceName', 'ebs', 'rootVolume'],
  ebs: ['volumeSize', 'volumeType'],
}

/** What `spec.blockDeviceMappings[].ebs.volumeSize` accepts. Source: karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go BlockDevice */
const volumeSize =
  /^(?:(?:[1-9]\d{0,3}|[1-4]\d{4}|5[0-8]\d{3}|59000)Gi|(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-3]\d{3}|64000)G|(?:[1-9]?|[1-5][0-7]|58)Ti|(?:[1-9]?|[1-5]\d|6[0-3]|64)T)$/

/** Null: the API server takes the size. */
export function volumeSizeMistake(value: unknown): string | null {
  if (typeof value !== 'string') return `must be of type string: "${typeof value}"`
  return volumeSize.test(value) ? null : 'should be a size in Gi, G, Ti or T, such as 100Gi'
}

interface NodeClassMistake {
  /** `evictionHard.nodefs.available` */
  path: string
  /** The API server's sentence. */
  why: string
  /** The field with which it does not agree. */
  other?: string
}

/**
 * What the API server refuses in these fields. The rules between fields are not checked while a type is wrong.
 * Source: karpenter-provider-aws pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml (v1.14); apiextensions-apiserver pkg/registry/customresource/strategy.go
 * @param kubelet of an EC2NodeClass, or of a NodePool of v1beta1, whose CRD has the same rules
 */
export function nodeClassMistakes(kubelet: Readonly<RawObject>): NodeClassMistake[] {
  const known = Object.entries(kubelet).flatMap(([field, value]) => {
    const facts = Object.hasOwn(nodeClassKubeletFields, field) && nodeClassKubeletFields[field]
    return facts ? [{ field, value, facts }] : []
  })
  const types = known.flatMap(({ field, value, facts: { type } }) => [
    ...typeMistake(field, value, type),
    ...entriesOf(value).flatMap(([key, entry]) => typeMistake(`${field}.${key}`, entry, 'string')),
  ])
  const values = known.flatMap(({ field, value, facts }) => [
    ...rangeMistake(field, value, facts),
    ...entriesOf(value).flatMap(([key, entry]) =>
      entryMistakes(field, key, textOfValue(entry), facts),
    ),
  ])
  return types.length > 0 ? types : [...values, ...pairMistakes(kubelet)]
}

const entriesOf = (value: unknown) => Object.entries(mapOf(value))

function typeMistake(path: string, value: unknown, wanted: string): NodeClassMistake[] {
  const type = Array.isArray(value) ? 'array' : typeof value
  const found = Number.isInteger(value) ? 'integer' : type
  return found === wanted
    ? []
    : [{ path, why: `${path} in body must be of type ${wanted}: "${found}"` }]
}

function rangeMistake(
  path: string,
  value: unknown,
  { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: NodeClassField,
): NodeClassMistake[] {
  const number = Number(textOfValue(value))
  if (number < minimum)
    return [{ path, why: `${path} in body should be greater than or equal to ${minimum}` }]
  return number > maximum
    ? [{ path, why: `${path} in body should be less than or equal to ${maximum}` }]
    : []
}

/** A percentage or a quantity. The CRD has no error of its own for an empty text. */
const threshold =
  /^((\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%||(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?)$/

function entryMistakes(
  field: string,
  key: string,
  value: string,
  { keys, entry }: NodeClassField,
): NodeClassMistake[] {
  const path = `${field}.${key}`
  const mistakes: [isMade: boolean, why: string][] = [
    [
      keys?.includes(key) === false,
      `valid keys for ${field} are [${keys?.map(known => `'${known}'`).join(',')}]`,
    ],
    [
      entry === 'threshold' && !threshold.test(value),
      `${path} in body should match the pattern of a percentage or a quantity`,
    ],
    [
      entry === 'reservation' && value.startsWith('-'),
      `${field} value cannot be a negative resource quantity`,
    ],
  ]
  return mistakes.filter(([isMade]) => isMade).map(([, why]) => ({ path, why }))
}

function pairMistakes(kubelet: Readonly<RawObject>): NodeClassMistake[] {
  const [field, low] = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const
  const isSwapped =
    [field, low].every(name => typeof kubelet[name] === 'number') &&
    Number(kubelet[field]) <= Number(kubelet[low])
  const unpairedKeys = (own: string, other: string) =>
    Object.keys(mapOf(kubelet[own]))
      .filter(key => !Object.hasOwn(mapOf(kubelet[other]), key))
      .map(key => ({
        path: `${own}.${key}`,
        why: `${own} OwnerKey does not have a matching ${other}`,
        other,
      }))
  return [
    ...(isSwapped
      ? [{ path: field, why: `${field} must be greater than ${low}`, other: low }]
      : []),
    ...unpairedKeys('evictionSoft', 'evictionSoftGracePeriod'),
    ...unpairedKeys('evictionSoftGracePeriod', 'evictionSoft'),
  ]
}

export const isTranslatedForBottlerocket = (field: string): boolean =>
  Object.hasOwn(nodeClassKubeletFields, field) &&
  nodeClassKubeletFields[field]?.isIgnoredOnBottlerocket === undefined

/** Karpenter, or the Cluster Autoscaler, is about to remove the node. Sources: karpenter.sh/docs/concepts/disruption; cluster-autoscaler utils/taints ToBeDeletedTaint */
export const isBeingRemoved = ({ metadata, spec }: KubernetesNode): boolean =>
  metadata?.deletionTimestamp !== undefined ||
  spec?.taints?.some(({ key = '' }) =>
    /^karpenter\.sh\/disrupt(?:ed|ion)$|^ToBeDeletedByClusterAutoscaler$/.test(key),
  ) === true
