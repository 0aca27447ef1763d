/** A stress test of a node's disks at assumed growth, for the node's details. */
import type { Assumptions, AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { diskOutlooks } from './disk-outlook.ts'

/** Null: no disk is known. */
export function stressText(
  node: AuditedNode,
  assumptions: Assumptions,
  language: Language,
): string | null {
  const { next: words } = language.words
  const time = (ms: number | null | undefined) =>
    ms === null || ms === undefined ? words.never : words.after(language.duration(roundMs(ms)))
  const parts = diskOutlooks(node, assumptions).map(({ title, imageGcMs, evictionMs, first }) =>
    words.stressDisk(title, time(imageGcMs), time(evictionMs), words.acts[first]),
  )
  return parts.length === 0
    ? null
    : words.stress(
        language.percent(assumptions.growthPercent),
        language.duration(assumptions.imageGcPeriodMs),
        parts,
      )
}

/** Rounds to minutes, because an estimate is not exact to the second. */
const roundMs = (ms: number): number => Math.round(ms / 60_000) * 60_000
