/** A fix as text for the source of a node, so that new nodes have the fix, too. Each target writes the text for one kind of source. */

import { featuresOf } from '#facts/kubelet/features.ts'
import type { DurableFix } from '#model/finding/finding.ts'
import type { NodeIdentity, Subject } from '#model/input/record.ts'
import { comments, type DurableRequest, type Origin, type Proposal } from './writing.ts'

export interface DurableTarget {
  target: DurableFix['target']
  isFor(origin: Origin): boolean
  /** Comments in the snippet name the settings that the target cannot hold. */
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
 * Makes one text per image family and place, from the first proposal for that place.
 * @param targets the first that fits an origin is used @param proposals the one of most nodes first
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
