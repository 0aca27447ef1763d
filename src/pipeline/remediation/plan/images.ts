/** The images that a node needs and might lose or has lost, the sources from which the policy has them pulled, and the step that pins one. */

import { byText, matchesGlob } from '#base/text.ts'
import { rules } from '#judge/rules/index.ts'
import { missingNeeds } from '#judge/run/outcome.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { shorten } from '#judge/text.ts'
import type { DurableFix } from '#model/finding.ts'
import { canonicalName, familiarName, isImageName, splitTag } from '#model/input/image-reference.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { CohortImage } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import {
  type ImageSource,
  pinnedSource,
  pullImage,
  sourceOf,
} from '#remediate/remedies/pull-image.ts'
import type { NodeOutcome } from './builder.ts'
import type { ChosenFix } from './choice.ts'
import {
  noInstance,
  type PlanRules,
  plannedFile,
  type ReadNode,
  refusedChange,
  refusedNode,
} from './node.ts'

/** `name` as the runtime has it; `why`: the registry to pull from is unknown. */
export type WantedImage = { name: string; findings: string[] } & ImageSource

/**
 * Returns the images sorted by name.
 * @param fixes fixes whose remedy is an image
 * @param isAsked the user named rules or findings; else images without a source are skipped
 * @param digestsOf returns the digests that the cluster's nodes hold under a name
 */
export function wantedImages(
  subject: NodeSubject,
  fixes: readonly ChosenFix[],
  policy: Policy,
  isAsked: boolean,
  digestsOf: (name: string) => readonly string[],
): WantedImage[] {
  const findings = new Map<string, Set<string>>()
  for (const { id, rule } of fixes)
    for (const image of imagesOfRule(rule, subject, policy)) {
      const name = canonicalName(image)
      findings.set(name, (findings.get(name) ?? new Set()).add(id))
    }
  return [...findings]
    .toSorted(([a], [b]) => byText(a, b))
    .flatMap(([name, ids]) => {
      const wanted = { name, findings: [...ids].sort() }
      const found = isImageName(name)
        ? pinnedBy(name, policy, digestsOf)
        : {
            why: `${shorten(name, 300)} is no name with a tag, and nothing else can be given to an image`,
          }
      if (found) return [{ ...wanted, ...found }]
      const why = `policy requiredImageSources names no source of ${shorten(name, 300)}`
      return isAsked ? [{ ...wanted, why }] : []
    })
}

function imagesOfRule(id: string, subject: NodeSubject, policy: Policy): readonly string[] {
  const rule = rules.find(one => one.id === id)
  if (!rule || !('images' in rule) || missingNeeds(rule, subject) !== null) return []
  return (rule.images?.(subject, policy) ?? []).filter(image => image !== '')
}

function pinnedBy(name: string, policy: Policy, digestsOf: (name: string) => readonly string[]) {
  const found = policySource(name, policy)
  return !found || 'why' in found ? found : pinnedSource(name, found.source, digestsOf)
}

/** Null: the policy names no source. Of several matching patterns, the longest is the most specific. */
export function policySource(name: string, { requiredImageSources }: Policy): ImageSource | null {
  const [first] = Object.entries(requiredImageSources)
    .filter(([pattern]) => matchesGlob(pattern, name) || matchesGlob(pattern, familiarName(name)))
    .toSorted(([a], [b]) => b.length - a.length || byText(a, b))
  return first ? sourceOf(name, ...first) : null
}

export class FleetImageDigests {
  /** Digests by cluster and by name with its tag. */
  readonly #digests = new Map<string, Set<string>>()

  takeNode({ cluster, node, runtime }: NodeInput) {
    for (const { names = [] } of node.status?.images ?? []) this.#take(cluster, names)
    for (const { repoTags = [], repoDigests = [] } of runtime?.images ?? [])
      this.#take(cluster, [...repoTags, ...repoDigests])
  }

  /** `sha256:…`, one for each different image that nodes hold under that name. */
  digestsOf(cluster: string, name: string) {
    return [...(this.#digests.get(`${cluster} ${name}`) ?? [])].sort()
  }

  #take(cluster: string, names: readonly string[]) {
    const digests = names.filter(name => digested.test(name))
    for (const name of names.filter(one => !one.includes('@')))
      for (const other of digests) {
        const [repository, digest = ''] = other.split('@')
        if (repository !== splitTag(name).repository) continue
        const key = `${cluster} ${name}`
        this.#digests.set(key, (this.#digests.get(key) ?? new Set()).add(digest))
      }
  }
}

const digested = /^[^@]+@sha256:[a-f0-9]{64}$/

export function planImage(
  node: ReadNode,
  { name, source }: CohortImage,
  rules: PlanRules,
): NodeOutcome | 'unchanged' {
  const { record, identity } = node
  const instanceId = instanceIdOf(identity)
  if (instanceId === null) return refusedNode(noInstance)
  const change = pullImage(record.runtime, identity.amiFamily, name, source)
  if (change === 'unchanged') return change
  if ('refused' in change) return refusedChange(change, record)
  const value = { before: change.oldSha256 === 'absent' ? null : 'unpinned', after: 'pinned' }
  return plannedFile(node, { change, instanceId }, value, rules)
}

/** Commands that pull and pin the image, for the build of the node image or for the user data. */
export const imageText = ({ name, source }: CohortImage): DurableFix => ({
  target: 'launch-template',
  snippet: `#!/bin/sh\n# ${name}, in the build of the image, or as a shell part of the user data once containerd runs\ncrictl pull ${source}\nctr -n k8s.io images label ${source} io.cri-containerd.pinned=pinned\nctr -n k8s.io images tag ${source} ${name}\n`,
})
