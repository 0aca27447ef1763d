/** Which image and kubelet a node runs, and which of two is older. */
import { featuresOf } from '#facts/kubelet/features.ts'
import type { NodeSubject } from './rule.ts'

export interface Release {
  /** The AMI's id where the node has it (managed nodegroups), else its name and version. */
  image: string
  /** `Amazon Linux 2023.9.20251117`: it has an order. */
  osImage: string
  /** Null: not known. */
  minor: number | null
}

export function releaseOf({ identity, node }: Pick<NodeSubject, 'identity' | 'node'>): Release {
  const osImage = node.status?.nodeInfo?.osImage ?? ''
  const image = node.metadata?.labels?.['eks.amazonaws.com/nodegroup-image'] ?? osImage
  return { image, osImage, minor: featuresOf(identity.kubeletVersion).minor }
}

/** Below 0: `a` is older; 0: they are of one age, or it cannot be said. */
export function byAge(a: Release, b: Release): number {
  if (a.minor !== b.minor && a.minor !== null && b.minor !== null) return a.minor - b.minor
  const others = numbersOf(b.osImage)
  const differing = numbersOf(a.osImage)
    .map((number, index) => number - (others[index] ?? number))
    .find(difference => difference !== 0)
  return differing ?? 0
}

const numbersOf = (text: string): number[] => (text.slice(0, 100).match(/\d{1,12}/g) ?? []).map(Number)
