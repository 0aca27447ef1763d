/** A nodegroup has one configuration, so the fixes of all its findings must agree. */

import { amountOrNull } from '#base/go/quantity.ts'
import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import { dependsOnSize, meaningOf } from '#facts/kubelet/fields.ts'
import type { Declaration } from '#judge/drift/drift.ts'
import type { Proposal } from '#judge/durable/durable.ts'
import type { Family, Finding } from '#model/finding.ts'
import type { FixFact } from './fix-facts.ts'

export interface Wish extends Proposal {
  fact: FixFact | null
  /** Null: unknown. */
  declaration: Declaration | null
}

export interface Wishes {
  finding: Finding
  sizes: string[]
  /** The fix for most nodes comes first. */
  wishes: Wish[]
}

/** Families whose fixes restore a declared value, even an unsound one. */
const declaring: readonly Family[] = ['drift', 'configuration']
export const isDeclaring = ({ family }: Finding) => declaring.includes(family)

const [high, low] = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const

/**
 * The group with fixes that agree. A sound value from a rule wins over a declared value.
 * @param findings of one subject, worst first
 */
export function agreeOnFixes(findings: readonly Wishes[]): Wishes[] {
  const group = findings.map(found => ({
    ...found,
    wishes: found.wishes.map(wish => ({ ...wish })),
  }))
  const ordered = [
    ...group.filter(({ finding }) => !isDeclaring(finding)),
    ...group.filter(({ finding }) => isDeclaring(finding)),
  ]
  agreeOnImageGc(ordered)
  const wishes = ordered.flatMap(({ wishes }) => wishes)
  for (const field of new Set(wishes.flatMap(({ config }) => Object.keys(config)))) {
    if (field === high || field === low) continue
    const own = wishes.filter(({ config }) => Object.hasOwn(config, field))
    if (own.some(({ config }) => isRawObject(config[field]))) agreeOnMap(field, own)
    else if (!dependsOnSize(field))
      for (const wish of own) wish.config = { ...wish.config, [field]: own[0]?.config[field] }
  }
  return group
}

interface Percentages {
  high: number
  low: number
}

function percentagesOf({ config }: Wish): Percentages | null {
  const [start, stop] = [config[high], config[low]]
  return typeof start === 'number' && typeof stop === 'number' ? { high: start, low: stop } : null
}

/** Rules propose the highest sound value per node, so the lowest proposal is sound for all. The band keeps the width that rules propose. */
function agreeOnImageGc(ordered: readonly Wishes[]) {
  const percentagesIn = (found: readonly Wishes[]) =>
    found.flatMap(({ wishes }) => wishes.flatMap(wish => percentagesOf(wish) ?? []))
  const lowestPair = (found: Percentages[]) =>
    found.toSorted((a, b) => a.high - b.high || a.low - b.low)[0]
  const sound = lowestPair(percentagesIn(ordered.filter(({ finding }) => !isDeclaring(finding))))
  const all = lowestPair(percentagesIn(ordered))
  if (!all) return
  const stop = sound ? Math.max(0, Math.min(all.low, all.high - (sound.high - sound.low))) : all.low
  for (const wish of ordered.flatMap(({ wishes }) => wishes))
    if (percentagesOf(wish))
      wish.config = { ...wish.config, [high]: all.high, [low]: Math.min(stop, all.high - 1) }
}

/** A fix of image GC with the lowest percentages among `config` and `all`, which are sound for every one of them. */
export function withLowestImageGc(config: RawObject, all: readonly RawObject[]): RawObject {
  if (typeof config[high] !== 'number') return config
  const lowest =
    [config, ...all]
      .filter(one => typeof one[high] === 'number')
      .toSorted((a, b) => Number(a[high]) - Number(b[high]))[0] ?? config
  return { ...config, [high]: lowest[high], [low]: lowest[low] }
}

/** Adds all changed entries to the running ones, as some places accept only a whole map. */
function agreeOnMap(field: string, own: readonly Wish[]) {
  const agreed = new Map<string, Map<string, unknown>>()
  for (const wish of own) {
    const entries = agreed.get(instanceTypeFor(field, wish)) ?? new Map<string, unknown>()
    agreed.set(instanceTypeFor(field, wish), entries)
    for (const [key, value] of changesOf(field, wish)) {
      const before = entries.get(key)
      if (before === undefined || (dependsOnSize(field) && amount(value) > amount(before)))
        entries.set(key, value)
    }
  }
  for (const wish of own) {
    const entries = Object.fromEntries(agreed.get(instanceTypeFor(field, wish)) ?? [])
    wish.config = {
      ...wish.config,
      [field]: { ...runningMap(field, wish), ...mapOf(wish.config[field]), ...entries },
    }
  }
}

const instanceTypeFor = (field: string, { fact }: Wish) =>
  dependsOnSize(field) ? (fact?.instanceType ?? '') : ''
const runningMap = (field: string, { fact }: Wish) => mapOf(fact?.running?.[field])

const changesOf = (field: string, wish: Wish) =>
  Object.entries(mapOf(wish.config[field])).filter(
    ([key, value]) => meaningOf(field, value) !== meaningOf(field, runningMap(field, wish)[key]),
  )

/** Of two reservations of one resource, the larger one covers both. */
const amount = (value: unknown) => amountOrNull(String(value)) ?? 0
