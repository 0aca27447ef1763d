/**
 * Namespaces that do not go: what their deletion waits for, by its own words.
 *
 * Replays       pkg/controller/namespace/deletion/status_condition_utils.go        conditionTypes, ProcessContentTotals, ProcessDiscoverResourcesErr
 *               pkg/controller/namespace/deletion/namespaced_resources_deleter.go  deleteAllContent
 * Read at       1.24 to 1.37; pods go first since 1.33
 * Kept exactly  a failed discovery holds the namespace even when all that was found is gone; while pods are left nothing says what remains
 * Left out      how long the pods' grace periods let the controller wait between two looks
 */

import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { Namespace } from '#model/kubernetes.ts'
import { byText } from '#model/text-order.ts'
import { conditionOf, parseMetadata } from './metadata.ts'

const conditionTypes = [
  'NamespaceDeletionDiscoveryFailure',
  'NamespaceDeletionGroupVersionParsingFailure',
  'NamespaceDeletionContentFailure',
  'NamespaceContentRemaining',
  'NamespaceFinalizersRemaining',
] as const

export interface NamespaceDeletion {
  namespace: string
  /** When the deletion began. */
  sinceMs: number
  /** Conditions that hold it, in upstream's order. */
  holds: { condition: (typeof conditionTypes)[number]; reason: string; message: string }[]
  /** What its conditions name, taken out of their words: `plural` or `plural.group`, as far as they were kept. */
  remaining: { resource: string; count: number }[]
  /** Finalizers of what remains. */
  held: { finalizer: string; count: number }[]
  /** Versions of API groups that did not answer. */
  unanswered: string[]
  /** Of `spec.finalizers`: `kubernetes` stays until the content is gone, others until their owners take them away. */
  finalizers: string[]
  /** Of `metadata.finalizers`: they stay when `spec.finalizers` are gone, as on any object. */
  ownFinalizers: string[]
  /** No condition tells what it waits for, since pods go first: they may be what remains. */
  mayWaitForPods: boolean
}

/** Null where it is not being deleted. */
export function namespaceDeletion(
  namespace: Namespace,
  features: KubeletFeatures,
): NamespaceDeletion | null {
  const metadata = parseMetadata(namespace)
  if (!metadata || metadata.deletedMs === null) return null
  const holds = conditionTypes.flatMap(condition => {
    const found = conditionOf(namespace, condition)
    if (found?.status !== 'True') return []
    return [{ condition, reason: found.reason ?? '', message: found.message ?? '' }]
  })
  const saidBy = (of: (typeof conditionTypes)[number]) =>
    holds.find(({ condition }) => condition === of)?.message ?? ''
  const finalizers = namespace.spec?.finalizers ?? []
  return {
    namespace: metadata.name,
    sinceMs: metadata.deletedMs,
    holds,
    // Of the core group upstream prints `pods.`.
    remaining: countsIn(saidBy('NamespaceContentRemaining'), remainingForm).map(
      ([what, count]) => ({ resource: what.replace(/\.$/, ''), count }),
    ),
    held: countsIn(saidBy('NamespaceFinalizersRemaining'), heldForm).map(([finalizer, count]) => ({
      finalizer,
      count,
    })),
    unanswered: [
      ...new Set(saidBy('NamespaceDeletionDiscoveryFailure').match(groupVersionForm)),
    ].toSorted(byText),
    finalizers,
    ownFinalizers: metadata.finalizers.filter(finalizer => finalizer !== ''),
    mayWaitForPods:
      features.has('orderedNamespaceDeletion') &&
      holds.length === 0 &&
      finalizers.includes('kubernetes'),
  }
}

const remainingForm = /(?<![a-z0-9.-])([a-z0-9.-]+) has (\d+) resource instances/g
const heldForm = /(?<![^\s,:])([^\s,:]+) in (\d+) resource instances/g
const groupVersionForm = /(?<![\w.-])[a-z0-9][a-z0-9.-]*\/v\d+(?:(?:alpha|beta)\d+)?\b/g

const countsIn = (message: string, form: RegExp): [string, number][] =>
  [...message.matchAll(form)].map(([, what = '', count]) => [what, Number(count)])
