/** A fix as text for where a node came from, so that the next node has it, too. The contract, and who writes what. */

import { featuresOf } from '#facts/kubelet/features.ts'
import type { DurableFix } from '#model/finding.ts'
import type { NodeIdentity } from '#model/node-identity.ts'
import type { Subject } from '#model/subject.ts'
import type { DurableRequest, Origin, Proposal } from './request.ts'
import { comments } from './writing.ts'

export interface DurableTarget {
  target: DurableFix['target']
  isFor(origin: Origin): boolean
  /** Comments name what cannot be set there. */
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
