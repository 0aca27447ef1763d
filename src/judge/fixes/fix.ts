/** Completes the proposed fixes, makes them agree within a group, and writes them as text for the source of the nodes. */

import { meaningOf } from '#facts/kubelet/setting-meaning.ts'
import { shownSetting, writtenSettings } from '#judge/drift/drift.ts'
import { durableFixes } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import type { Proposal } from '#judge/durable/request.ts'
import { line } from '#judge/rule.ts'
import { bounded } from '#judge/text.ts'
import type { Finding } from '#model/finding.ts'
import type { RawObject } from '#model/record.ts'
import { agree, isDeclaring, type Wish, type Wishes } from './agreement.ts'
import { completed } from './completion.ts'
import { durableReservations } from './image-reservations.ts'
import { actingPart } from './obstacles.ts'

/** Writes the fixes into the findings themselves. @param all worst first */
export function settleFixes(all: readonly Wishes[]): void {
  const fixable = all.filter(
    ({ wishes }) => wishes[0] !== undefined && Object.keys(wishes[0].config).length > 0,
  )
  const groups = Map.groupBy(fixable, ({ finding: { cluster, subject } }) =>
    JSON.stringify([cluster, subject.kind, subject.namespace, subject.name]),
  )
  for (const group of groups.values()) {
    const proposed = group.map(({ wishes }) => wishes[0]?.config ?? {})
    for (const { wishes } of group) for (const wish of wishes) makeWhole(wish)
    agree(group)
    // Fixes of several findings are merged, so the result must be valid again.
    for (const { wishes } of group) for (const wish of wishes) makeWhole(wish)
    for (const [index, found] of group.entries()) {
      if (isDeclaring(found.finding)) tellWhatGaveWay(found, proposed[index] ?? {})
      settle(found)
    }
  }
}

function makeWhole(wish: Wish): void {
  const { config, refused } = completed(
    wish.config,
    wish.fact?.running ?? null,
    wish.fact?.node.kubeletVersion ?? null,
  )
  wish.config = config
  wish.notes = [...new Set([...(wish.notes ?? []), ...refused])]
}

function settle({ finding, wishes, sizes }: Wishes): void {
  const { fix } = finding
  const [main] = wishes
  if (main === undefined) return
  const isPinning = sizes.length > 1 && !isDeclaring(finding)
  // On EKS Auto Mode, nothing can apply a configuration.
  const own = isPinning ? withoutReservations(main.config) : main.config
  fix.config = main.origin.owner === 'auto-mode' ? {} : own
  fix.durable = durableFixes(
    durableTargets,
    finding.subject,
    wishes.map(wish => lasting(wish, finding, sizes)),
  )
}

/** The part of a fix to write at the source of the nodes, with notes on further steps. */
function lasting(wish: Wish, finding: Finding, sizes: readonly string[]): Proposal {
  const { origin, config, notes = [] } = wish
  if (origin.owner === 'auto-mode') return { origin, config }
  const reserving = durableReservations(wish, isDeclaring(finding), sizes)
  const acting = actingPart({ ...wish, config: reserving.config })
  return {
    origin,
    config: acting.config,
    notes:
      Object.keys(config).length === 0 ? notes : [...notes, ...reserving.notes, ...acting.notes],
  }
}

const withoutReservations = ({
  kubeReserved: _kube,
  systemReserved: _system,
  ...config
}: RawObject): RawObject => config

/** A fix does not restore a value that another finding on the same nodes reports. */
function tellWhatGaveWay({ finding, wishes }: Wishes, proposed: RawObject): void {
  const agreed = writtenSettings(wishes[0]?.config ?? {})
  const changed = Object.entries(writtenSettings(proposed)).filter(
    ([path, value]) =>
      Object.hasOwn(agreed, path) && meaningOf(path, agreed[path]) !== meaningOf(path, value),
  )
  if (changed.length === 0) return
  const words = changed.map(
    ([path, value]) => `${path} ${shownSetting(agreed[path])}, not ${shownSetting(value)}`,
  )
  finding.consequence = bounded(
    `${finding.consequence} Other findings on these nodes call for other values, and the fix has theirs: ${words.slice(0, 4).join('; ')}.`,
    consequenceLength,
  )
  finding.evidence = [...finding.evidence, ...words.map(value => line('fix', 'fix', value))]
}

const consequenceLength = 1200
