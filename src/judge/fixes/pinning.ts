/** Where an image cannot be pulled again, image GC that starts earlier deletes it sooner. */
import { withoutKeys } from '#base/raw-object.ts'
import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { FoundFinding } from '#judge/run/tally.ts'
import type { StepActionId } from '#model/finding.ts'
import type { Wish, Wishes } from './fix-facts.ts'

type Found = FoundFinding & Wishes

const fields = [
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'imageMaximumGCAge',
] as const

const ofPruning: ReadonlySet<StepActionId> = new Set(['prune-images', 'prune-by-runtime'])

const startsEarlier = ({ config, fact }: Wish) =>
  config.imageMaximumGCAge !== undefined ||
  Number(config.imageGCHighThresholdPercent) <
    Number({ ...configurationDefaults, ...fact?.running }.imageGCHighThresholdPercent)

/** In a cluster that needs an import, images are pinned before a step deletes unused ones. A finding that can wait sets no field of image GC. */
export function withPinnedFirst(all: readonly Found[]): Found[] {
  const clusters = new Set(
    all
      .filter(({ actions }) => actions?.some(({ id }) => id === 'import-image') ?? false)
      .map(({ cluster }) => cluster),
  )
  return all.map(found => {
    const { cluster, actions, wishes, finding } = found
    const isEarlier = wishes.some(startsEarlier)
    const isPruning = actions?.some(({ id }) => ofPruning.has(id)) === true
    if (!clusters.has(cluster) || !(isEarlier || isPruning)) return found
    const isUrgent = finding.severity === 'critical' || finding.severity === 'high'
    const kept = (actions ?? [{ id: 'set-fields' as const }]).filter(
      ({ id }) => !ofPruning.has(id) && (isUrgent || id !== 'set-fields'),
    )
    return {
      ...found,
      actions: [{ id: 'pin-images', variant: 'first' }, ...kept],
      ...(!isUrgent && {
        wishes: wishes.map(wish => ({ ...wish, config: withoutKeys(wish.config, fields) })),
      }),
    }
  })
}
