/** One setting of `tune`: the predicted days of all nodes, added up. */
import type { KubeletConfiguration } from '#model/kubelet-configuration.ts'
import type { TimelineEvent } from '#model/prediction.ts'
import { byText } from '#model/text-order.ts'
import type { TunedConfiguration, TuneRow, TuneSetting } from '#model/tune.ts'
import type { SettingDay } from '#replay/setting-day.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** Packed bytes of an image if pods use it on other nodes of the group; 0: they do not. */
export type PulledAgain = (image: string) => number

export function openRow(setting: TuneSetting) {
  const row: TuneRow = {
    setting,
    ...{ configuration: {}, isAlike: true },
    first: { imageGC: 0, eviction: 0, nothing: 0 },
    ...{ imageGCs: 0, deletedBytes: 0, pulledAgainBytes: 0 },
    ...{ evictions: 0, diskPressureMinutes: 0, unusableBytes: null },
  }
  let nodes = 0
  return {
    setting,
    /** @param pulledAgain null: the growth of the node is unknown, so its day does not count */
    take(fields: KubeletConfiguration, day: SettingDay, pulledAgain: PulledAgain | null): void {
      const configuration = tunedPart(fields)
      if (nodes++ === 0) row.configuration = configuration
      else row.isAlike &&= JSON.stringify(row.configuration) === JSON.stringify(configuration)
      if (day.unusableBytes !== null)
        row.unusableBytes = (row.unusableBytes ?? 0) + day.unusableBytes
      if (pulledAgain !== null) addDay(row, day, pulledAgain)
    },
    close: (): TuneRow => row,
  }
}

function tunedPart({
  imageGCHighThresholdPercent,
  imageGCLowThresholdPercent,
  evictionHard = {},
}: KubeletConfiguration): TunedConfiguration {
  const sorted = Object.entries(evictionHard).toSorted(([a], [b]) => byText(a, b))
  return {
    ...(imageGCHighThresholdPercent !== undefined && { imageGCHighThresholdPercent }),
    ...(imageGCLowThresholdPercent !== undefined && { imageGCLowThresholdPercent }),
    evictionHard: Object.fromEntries(sorted),
  }
}

function addDay(
  row: TuneRow,
  { timeline, isUnderDiskPressure }: SettingDay,
  pulledAgain: PulledAgain,
): void {
  if (timeline === null) return
  row.first[firstAct(timeline)]++
  for (const { event, detail } of timeline) {
    if (event === 'evict') row.evictions++
    if (event !== 'imageGC' && event !== 'reclaim') continue
    // A round that deletes nothing is only an error.
    if (event === 'imageGC' && detail.images.length > 0) row.imageGCs++
    row.deletedBytes += detail.frees.likely
    for (const image of detail.images) row.pulledAgainBytes += pulledAgain(image)
  }
  row.diskPressureMinutes += pressureMinutes(timeline, isUnderDiskPressure)
}

function firstAct(timeline: readonly TimelineEvent[]): keyof TuneRow['first'] {
  const first = timeline.find(({ event }) => ['imageGC', 'reclaim', 'evict'].includes(event))
  if (first === undefined) return 'nothing'
  return first.event === 'imageGC' ? 'imageGC' : 'eviction'
}

/** By the shown times. Pressure at the end of the timeline lasts until the end of the day. */
function pressureMinutes(timeline: readonly TimelineEvent[], isPressedNow: boolean): number {
  let since = isPressedNow ? 0 : null
  let pressedMs = 0
  for (const { atMs, event, detail } of timeline) {
    if (event !== 'condition' || detail.condition !== 'DiskPressure') continue
    if (detail.status) since ??= atMs
    else if (since !== null) {
      pressedMs += atMs - since
      since = null
    }
  }
  return Math.round((pressedMs + (since === null ? 0 : dayMs - since)) / minuteMs)
}
