/** How fast a pod fills a disk. */

import { hourMs } from '#base/units.ts'
import { agoMs } from '#judge/events/events.ts'
import { bytes, plural, type Satisfied, shortPodName, span } from '#judge/rule.ts'
import type { HolderPart } from '#model/prediction.ts'
import { podOf } from './deletion.ts'

/** Of the owner whose pods fill the rest of the disk first; `bytes`: what they wrote since their start. Null: unknown, or it takes more than an hour. */
export function fillRate(
  filesystem: HolderPart['filesystem'],
  left: number,
  { pods, at, ledger }: Satisfied<'disks'>,
) {
  const writers = (ledger?.parts ?? [])
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
      return ageMs > 0 && lowBytes > 0
        ? [{ owner, holder, lowBytes, ageMs, perMs: lowBytes / ageMs }]
        : []
    })
  const sumOf = (own: typeof writers, key: 'lowBytes' | 'perMs') =>
    own.reduce((sum, one) => sum + one[key], 0)
  const [fastest = []] = [
    ...Map.groupBy(
      writers,
      ({ owner: { namespace, workload, pod }, holder }) =>
        `${namespace}/${workload ?? pod} ${holder}`,
    ).values(),
  ].toSorted((a, b) => sumOf(b, 'perMs') - sumOf(a, 'perMs'))
  const [first] = fastest
  const [written, perMs] = [sumOf(fastest, 'lowBytes'), sumOf(fastest, 'perMs')]
  if (!first || left / perMs > hourMs) return null
  const { namespace, pod } = first.owner
  const count = new Set(fastest.map(({ owner }) => owner.pod)).size
  const [who, together] =
    count === 1 ? [shortPodName({ namespace, name: pod }), ''] : [plural(count, 'pod'), ' together']
  const ageMs = Math.max(...fastest.map(one => one.ageMs))
  const minutes = Math.round(left / perMs / 60_000)
  const rest = minutes < 1 ? 'less than a minute' : plural(minutes, 'minute')
  const end = left <= 0 ? '' : `: at that rate the rest lasts ${rest}`
  return {
    bytes: written,
    text: `${who} wrote ${bytes(written)} in ${span(ageMs)}, about ${bytes(60_000 * perMs)} a minute${together}${end}.`,
  }
}
