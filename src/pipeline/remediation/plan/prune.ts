/** Plans the pruning of unused images on one node: thresholds, maximum deletions, and risks. */

import type { RawObject } from '#base/raw-object.ts'
import { linesOf } from '#base/text.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import { requiredImageAtRisk } from '#judge/rules/image-gc/required-image-at-risk.ts'
import { unpinnedSandboxImage } from '#judge/rules/image-gc/unpinned-sandbox-image.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import { span } from '#judge/text.ts'
import type { NodePrediction } from '#model/prediction.ts'
import { longestPruneMs, pruningFields } from '#remediate/plan/step-truth.ts'
import { imageGcPolicyOf } from '#replay/image-gc/policy.ts'
import { replay } from '#replay/replay.ts'
import { kubeletOf } from '#replay/times.ts'
import type { NodeOutcome } from './builder.ts'
import { type PlanRules, planNode, type ReadNode, refusedChange, refusedNode } from './node.ts'
import { pullsOf } from './state.ts'

/**
 * How long the run waits: until the youngest image reaches the minimum age, counted anew from the restart, and for two more rounds. Each round deletes by
 * image sizes, which might differ from the sizes on the disk.
 */
export const pruningMs = (minimumAgeMs: number) =>
  (Math.ceil(minimumAgeMs / imageGcPeriodMs) + 2) * imageGcPeriodMs

export interface PruneWish {
  /** Target use of the image filesystem; null: the low threshold of each node. */
  toPercent: number | null
}

/** `unchanged`: use of the image filesystem is low enough already. */
export type Pruned = { patch: RawObject; outcome: NodeOutcome } | 'unchanged'

export function planPrune(node: ReadNode, { toPercent }: PruneWish, rules: PlanRules): Pruned {
  const { record, takenAt, identity, running } = node
  const low = running?.imageGCLowThresholdPercent
  const to = toPercent ?? (typeof low === 'number' && low >= 1 && low <= 98 ? low : null)
  const emptyPatch = (outcome: NodeOutcome): Pruned => ({
    patch: toPercent === null ? {} : pruningFields(toPercent),
    outcome,
  })
  const refusePrune = (why: string, because?: NodeOutcome['because']) =>
    emptyPatch(refusedNode(why, because))
  if (!running) return refusePrune('its running configuration was not read', 'unread')
  if (to === null)
    return refusePrune('its imageGCLowThresholdPercent is no target: say one with --to')
  const present = replay(record, takenAt)
  const usedPercent = present.filesystems.imagefs?.usedPercent ?? null
  if (usedPercent === null) return refusePrune('its image filesystem was not read', 'unread')
  if (usedPercent <= to) return 'unchanged'
  if (!record.runtime?.images)
    return emptyPatch(
      refusedChange({ refused: 'its images were not read in full', isUnread: true }, record),
    )
  const { minimumAgeMs, maximumAgeMs } = imageGcPolicyOf(
    record.configuration?.fields ?? {},
    kubeletOf(identity.kubeletVersion, {}),
  ) ?? { minimumAgeMs: Number.POSITIVE_INFINITY, maximumAgeMs: 0 }
  const atMostMs = pruningMs(minimumAgeMs)
  if (atMostMs > longestPruneMs)
    return refusePrune(
      `its imageMinimumGCAge is ${span(minimumAgeMs)}, and none is deleted for so long after the restart: that is longer than lowered thresholds may stay`,
    )

  // The upper bound is every image that the kubelet could delete for space, whatever its age.
  const forgotten = { ...record, known: null }
  const later = new Date(Date.parse(present.at) + atMostMs).toISOString()
  const lowest = { ...pruningFields(0), imageMaximumGCAge: '0s' }
  const changes = Object.entries(lowest).map(([field, value]) => ({ path: [field], value }))
  const most = replay(forgotten, takenAt, { at: later, changes, fills: [] })
  const deletions = most.imageGC?.deletions ?? null
  if (!deletions || deletions.some(({ sizeBytes }) => sizeBytes === null))
    return refusePrune('its images and their sizes were not read', 'unread')
  if (deletions.length === 0)
    return refusePrune('there is nothing to prune: each of its images is in use or pinned')
  const risk = riskOf(node, most, rules)
  if (risk !== null) return refusePrune(risk)

  const patch = pruningFields(to)
  const outcome = planNode(node, patch, rules)
  if (outcome.state !== 'planned') return { patch, outcome }
  return {
    patch,
    outcome: {
      ...outcome,
      planned: {
        ...outcome.planned,
        until: {
          kind: 'image-gc',
          usedPercentAtMost: to,
          atMostMs,
          imagesAtMost: deletions.length,
          bytesAtMost: deletions.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0),
        },
        pulls: pullsOf(most),
        says: linesOf(ageText(minimumAgeMs, maximumAgeMs), outcome.planned.says).join(' '),
      },
    },
  }
}

/** Why the node must not be pruned, for people; null: no required image is at risk. */
function riskOf({ record }: ReadNode, most: NodePrediction, { policy, allowActAtOnce }: PlanRules) {
  const subject = nodeSubject(record, most)
  for (const rule of [unpinnedSandboxImage, requiredImageAtRisk]) {
    const outcome = outcomeOf(rule, subject, policy)
    if (outcome.state === 'fail')
      return `an image that must not be missing would be at risk (${rule.id}): ${outcome.failing.consequence} Pin it first`
    if (allowActAtOnce || (outcome.state !== 'unknown' && outcome.state !== 'error')) continue
    const reason = outcome.state === 'unknown' ? outcome.reason : outcome.message
    return `whether an image that must not be missing would go is not known (${rule.id}: ${reason}). Ask for it with --allow-act-at-once`
  }
  return null
}

function ageText(minimumAgeMs: number, maximumAgeMs: number) {
  const first =
    minimumAgeMs > 0
      ? `so none is deleted within ${span(minimumAgeMs)} of it (imageMinimumGCAge), and `
      : 'so '
  const longest =
    maximumAgeMs > 0 ? ` imageMaximumGCAge (${span(maximumAgeMs)}) counts anew, too.` : ''
  return `Each of the two restarts makes the kubelet forget when it first saw an image and when that was last used: ${first}which goes first is not known.${longest}`
}
