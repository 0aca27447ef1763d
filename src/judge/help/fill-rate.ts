/** How fast a pod fills a disk. */

import { hourMs } from '#base/units.ts'
import { agoMs } from '#judge/events/events.ts'
import { bytes, plural, type Satisfied, shortPodName, span } from '#judge/rule.ts'
import type { HolderPart } from '#model/prediction.ts'
import { podOf } from './deletion.ts'

/** Of the pod that fills the rest of the disk first; `bytes`: what it wrote since its start. Null: unknown, or it takes more than an hour. */
export function fillRate(
  filesystem: HolderPart['filesystem'],
  left: number,
  { pods, at, ledger }: Satisfied<'disks'>,
) {
  const [fastest] = (ledger?.parts ?? [])
    .filter(part => part.filesystem === filesystem)
    .flatMap(part => {
      const { owner, holder, lowBytes } = part
      if (!owner || (owner.kind !== 'container' && owner.kind !== 'pod')) return []
      const { status } = podOf(pods, owner) ?? {}
      // Logs and volumes outlive containers.
      const own =
        holder === 'writable-layers' && owner.kind === 'container'
          ? status?.containerStatuses?.find(({ name }) => name === owner.container)
          : undefined
      const ageMs = agoMs(own?.state?.running?.startedAt ?? status?.startTime ?? '', at) ?? 0
      return ageMs > 0 && lowBytes > 0 ? [{ owner, lowBytes, ageMs, perMs: lowBytes / ageMs }] : []
    })
    .toSorted((a, b) => b.perMs - a.perMs)
  if (!fastest || left / fastest.perMs > hourMs) return null
  const { owner, lowBytes, ageMs, perMs } = fastest
  const minutes = Math.round(left / perMs / 60_000)
  const rest = minutes < 1 ? 'less than a minute' : plural(minutes, 'minute')
  const end = left <= 0 ? '' : `: at that rate the rest lasts ${rest}`
  return {
    bytes: lowBytes,
    text: `${shortPodName({ namespace: owner.namespace, name: owner.pod ?? '' })} wrote ${bytes(lowBytes)} in ${span(ageMs)}, about ${bytes(60_000 * perMs)} a minute${end}.`,
  }
}
