/** A day of a node whose disks grow, under settings of image GC and eviction that the node does not run with. */
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { Fill } from '#model/plan/what-if.ts'
import type { TimelineEvent } from '#model/prediction/prediction.ts'
import { evaluatedThresholds } from './eviction/prediction.ts'
import { unusableBytes } from './ledger/freeable.ts'
import { predictTimeline } from './predict-timeline.ts'
import type { PreparedNode } from './prepare.ts'
import { settingsOf } from './replay.ts'

export interface SettingDay {
  /** By the likely course. Null: the disks or the settings are unknown. */
  timeline: TimelineEvent[] | null
  isUnderDiskPressure: boolean
  /** Below the highest eviction threshold of each disk. Null: unknown. */
  unusableBytes: number | null
}

/** @param fields the running configuration with other settings of image GC and eviction */
export function settingDay(
  node: PreparedNode,
  fields: KubeletConfiguration,
  fills: readonly Fill[],
): SettingDay {
  const settings = settingsOf(fields, node)
  const { eviction } = settings
  const { layout } = node.filesystems
  const disks = (layout === 'shared' ? ['nodefs'] : ['nodefs', 'imagefs']) as 'nodefs'[]
  const filesystems = disks.flatMap(filesystem => {
    const capacityBytes = node.filesystems[filesystem]?.capacityBytes ?? null
    return capacityBytes === null ? [] : [{ filesystem, capacityBytes }]
  })
  const isKnown =
    typeof eviction !== 'string' && layout !== null && filesystems.length === disks.length
  return {
    timeline: predictTimeline(node, settings, { fills, isLikelyCourse: true }, []),
    isUnderDiskPressure: node.reported.DiskPressure?.isTrue === true,
    unusableBytes: isKnown
      ? unusableBytes(
          filesystems,
          { thresholds: evaluatedThresholds(eviction, node), error: null },
          layout === 'shared',
        )
      : null,
  }
}
