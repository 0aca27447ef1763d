/** A fix as text for where a node came from, so that the next node has it, too. The contract, and who writes what. */
import { featuresOf } from '#facts/kubelet/features.ts'
import type { DurableFix, Subject } from '#model/finding.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { RawObject } from '#model/record.ts'
import { comments } from './writing.ts'

/** Of a node what decides where its fix goes and how it is written. */
export interface Origin extends Pick<NodeIdentity, 'owner' | 'isEksctl' | 'amiFamily'> {
  /** `1.34`; null: not known. */
  kubeletMinor: string | null
}

/** What nodes of one origin should run with. */
export interface Proposal {
  origin: Origin
  /** KubeletConfiguration fields; maps come whole. Their keys and values may be the node's own, so they are not to be trusted. */
  config: RawObject
  /** Sentences for whoever applies it: what else is to be done, and why something cannot be set. */
  notes?: readonly string[]
}

export interface DurableRequest extends Proposal {
  group: Subject
}

export interface DurableTarget {
  target: DurableFix['target']
  isFor(origin: Origin): boolean
  /** What cannot be set there is told in comments. */
  snippet(request: DurableRequest): string
}

const targetsShown = 2
const longestSnippet = 2000

const tooLong = `# This fix is too long to be written here: take its fields from fix.config in findings.json.
`

export function originOf({ owner, isEksctl, amiFamily, kubeletVersion }: NodeIdentity): Origin {
  const { minor } = featuresOf(kubeletVersion)
  return { owner, isEksctl, amiFamily, kubeletMinor: minor === null ? null : `1.${minor}` }
}

/**
 * One text for each image family and place, of the first proposal that goes there.
 * @param targets the first that fits an origin is the one @param proposals those of most nodes first
 */
export function durableFixes(
  targets: readonly DurableTarget[],
  group: Subject,
  proposals: readonly Proposal[],
): DurableFix[] {
  const found = new Map<string, DurableFix>()
  for (const { origin, config, notes = [] } of proposals) {
    const target = targets.find(({ isFor }) => isFor(origin))
    const isNothing = Object.keys(config).length === 0
    if (target === undefined || (isNothing && notes.length === 0)) continue
    const place = `${target.target} ${origin.amiFamily}`
    if (found.has(place)) continue
    const snippet = isNothing
      ? comments(['There is nothing to set here.', ...notes])
      : target.snippet({ origin, config, notes, group })
    found.set(place, {
      target: target.target,
      snippet: snippet.length > longestSnippet ? tooLong : snippet,
    })
    if (found.size === targetsShown) break
  }
  return [...found.values()]
}
