/** The image and kubelet of a node, and which of two releases is older. Sources: EKS user guide, labels of managed nodegroups; osImage as each image's os-release says it. */
import { featuresOf } from '#facts/kubelet/features.ts'
import type { KubernetesNode } from '#model/input/kubernetes.ts'
import type { AmiFamily } from '#model/input/record.ts'

export interface Release {
  /** The AMI's id, if a label has it (managed nodegroups); else `osImage`. */
  image: string
  /** `Amazon Linux 2023.9.20251117`. The numbers in it have an order. */
  osImage: string
  /** Minor version of the kubelet; null: unknown. */
  minor: number | null
}

export function releaseOf(node: KubernetesNode, kubeletVersion: string | null): Release {
  const osImage = node.status?.nodeInfo?.osImage ?? ''
  const image = node.metadata?.labels?.['eks.amazonaws.com/nodegroup-image'] ?? osImage
  return { image, osImage, minor: featuresOf(kubeletVersion).minor }
}

/**
 * Whether EKS publishes an AMI of the family for this minor. 1.32 is the last with Amazon Linux 2. Families that others publish count as
 * available. Source: EKS user guide, AL2 AMI deprecation FAQs.
 */
export const isAmiPublished = (family: AmiFamily, kubeletVersion: string): boolean =>
  family !== 'AL2' || (featuresOf(kubeletVersion).minor ?? 0) <= 32

export const isOneMinor = (releases: readonly Release[]): boolean =>
  new Set(releases.map(({ minor }) => minor)).size < 2

/** Below 0: `a` is older. 0: they have the same age, or the order is unknown. */
export function byAge(a: Release, b: Release): number {
  if (a.minor !== null && b.minor !== null && a.minor !== b.minor) return a.minor - b.minor
  const others = numbersOf(b.osImage)
  const differing = numbersOf(a.osImage)
    .map((number, index) => number - (others[index] ?? number))
    .find(difference => difference !== 0)
  return differing ?? 0
}

const numbersOf = (text: string) => (text.slice(0, 100).match(/\d{1,12}/g) ?? []).map(Number)

/** Below 0: the release `a` of a managed nodegroup is older. `1.34.2-20251120`, of Bottlerocket `1.51.0-a1b2c3d4`. */
export function byReleaseVersion(a: string, b: string): number {
  const [numbers, others] = [a, b].map(release =>
    (/^[\d.]{1,40}(?:-20\d{6}$)?/.exec(release)?.[0] ?? '').split(/[.-]/).map(Number),
  )
  return numbers?.map((number, index) => number - (others?.[index] ?? 0)).find(Boolean) ?? 0
}
