import { hourMs } from '#base/units.ts'
import { nodeReclaimKinds } from '#facts/kubelet/node-reclaim.ts'
import { causeKey } from '#judge/causes.ts'
import { hoursToFill } from '#judge/compare/history/fill.ts'
import { withDeletion } from '#judge/help/deletion.ts'
import { diskReason, movedToVolumes, seenBeforeLimit } from '#judge/help/disk-reason.ts'
import { filesOfImages } from '#judge/help/disks-of-wrong-size.ts'
import { fillRate } from '#judge/help/fill-rate.ts'
import { heldBySignal } from '#judge/help/holder-cause.ts'
import {
  amountLine,
  amountsOf,
  raisedReason,
  raisedThresholds,
  watchingThresholds,
} from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  contextRule,
  counted,
  type Failing,
  isLinux,
  line,
  type NodeContext,
  percent,
  plural,
  podName,
  type Satisfied,
  shortPodName,
  span,
  worldCause,
} from '#judge/rule.ts'
import type { Cause, Evidence } from '#model/finding.ts'
import type { NodeGrowth, ObservedGrowth } from '#model/history.ts'
import type { Signal } from '#model/prediction.ts'

/** Share of the disk, in percent: above the next threshold, or at all if no threshold watches the disk. */
const leastLeft = { watched: 5, unwatched: 15, unwatchedInodes: 5 }
/** Hours to eviction, or to full, that call for somebody today; and the use of a disk from which on they are asked for. */
const soon = { hours: 24, usedPercent: 50 }

/** Share of the disk from which on what a pod wrote says why it is full. */
const leastWritten = 0.01

const titles = {
  unwatched:
    'A disk that no threshold watches is nearly full, and image GC does not free what holds it',
  full: 'A disk that no threshold watches is full, and image GC does not free what holds it',
  soon: 'A disk fills within a day, and image GC does not free what holds it',
  raised: 'An eviction threshold is near on a disk with much room',
  inodes: 'A disk is nearly out of inodes, at which image GC does not look',
}

type DiskName = keyof NodeGrowth

type FillingDisk = NonNullable<ReturnType<typeof fillingDisk>>

export const diskNearlyFull = contextRule({
  id: 'disk-nearly-full',
  family: 'eviction',
  severity: 'high',
  cause: worldCause('growth'),
  steps: ['look-on-node'],
  needs: ['disks', 'eviction'],
  titles,
  title: 'A disk is nearly full, and image GC does not free what holds it',
  why: 'Little is left before the kubelet evicts pods. What holds the disk is nothing that image GC deletes, so no image GC setting ends it.',
  fix: 'Free what the cause names, and end what writes it; or take a larger disk.',
  sources: ['src/facts/holders.ts', 'pkg/kubelet/eviction/helpers.go thresholdsMet'],
  appliesTo: isLinux,

  fact(subject) {
    const names =
      subject.filesystems.layout === 'imagefs' || subject.filesystems.layout === 'split'
        ? (['nodefs', 'imagefs'] as const)
        : (['nodefs'] as const)
    const disks = names.flatMap(name =>
      ([`${name}.available`, `${name}.inodesFree`] as const).flatMap(
        signal => fillingDisk(name, signal, subject) ?? [],
      ),
    )
    const isTainted = disks.length > 0 && subject.conditions.DiskPressure === 'True'
    return { disks, isTainted }
  },

  *judge({ disks, isTainted }, context) {
    const known = new Set<string>()
    for (const disk of disks) {
      const failing = disk.isNear
        ? nearlyFullFailing(disk)
        : fullSoonFailing(disk, context.growth()[disk.name])
      if (failing === null) continue
      const { seen } = failing
      const isUnread = disk.reason.cause.kind === 'unread'
      const waiting = isTainted ? waitingText(context) : []
      const unknown = isUnread && seen === undefined ? 'unknown, and ' : ''
      const said = [...(seen === undefined ? [] : [seen]), ...waiting.map(one => unknown + one)]
      const key = causeKey(disk.reason.cause)
      yield {
        ...failing,
        ...(said.length > 0 && { seen: said.join(' ') }),
        ...(known.size > 0 && !known.has(key) && { isApart: true }),
      }
      known.add(key)
    }
  },
})

/** Pods that no node takes while it has the taint of DiskPressure. Empty: none. */
function waitingText({ waitingPods, podEvents }: NodeContext): string[] {
  const waiting = waitingPods.filter(({ metadata, status }) =>
    [...(status?.conditions ?? []), ...podEvents(podName(metadata))].some(({ message }) =>
      message?.includes('node.kubernetes.io/disk-pressure'),
    ),
  )
  const [first] = waiting
  if (first === undefined) return []
  return [
    `${plural(waiting.length, 'pod')} ${waiting.length === 1 ? 'waits' : 'wait'} for the end of its taint: ${shortPodName(first.metadata)}${waiting.length === 1 ? '' : ', …'}.`,
  ]
}

const unknownHolders: ReadonlySet<string> = new Set(['unread', 'not-explained'])

function fillingDisk(name: DiskName, signal: Signal, subject: Satisfied<'disks' | 'eviction'>) {
  const isInodes = signal.endsWith('.inodesFree')
  const { capacity, free } = amountsOf(signal, subject.filesystems)
  if (!capacity || free == null) return null
  const watching = watchingThresholds(signal, subject)
  // eviction-due reports a met threshold.
  if (watching.some(({ met }) => met === true)) return null
  const left = Math.min(free, ...watching.flatMap(({ margin }) => margin ?? []))
  const nearest = watching.filter(({ margin }) => margin === left)
  const wrong = raisedReason(raisedThresholds(nearest, subject), subject)
  const isWatched = watching.length > 0
  const unwatched = isInodes ? leastLeft.unwatchedInodes : leastLeft.unwatched
  const isNear = (100 * left) / capacity < (isWatched ? leastLeft.watched : unwatched)
  const isUsed = !isInodes && free < (1 - soon.usedPercent / 100) * capacity
  if (!isNear && !isUsed) return null
  /** What the kubelet does at the threshold. */
  const acts = nodeReclaimKinds[subject.filesystems.layout ?? 'shared'][name].includes('images')
    ? 'deletes unused images, then evicts pods if that is not enough'
    : 'evicts pods'
  const filling = { name, signal, isWatched, isNear, capacity, free, left, acts }
  if (wrong) return { ...filling, held: [], rate: null, reason: wrong, isRaised: true }
  const held = heldBySignal(subject.ledger, signal)
  const [first] = held
  if (!first) return null
  // The rules of unwatched thresholds report these.
  if (!isWatched && unknownHolders.has(first.holder)) return null
  // Without a threshold, images in use count too: no other rule reports them.
  const isOfImageGc = (cause: Cause) =>
    !isInodes && cause.kind === 'holder' && cause.freedBy === 'image-gc'
  if (isWatched && isOfImageGc(first)) return null
  const reason = diskReason(subject, signal)
  if (!reason || isOfImageGc(reason.cause)) return null
  const written = isInodes ? null : fillRate(name, left, subject)
  // Where nothing is left, any writer would fill the rest.
  const rate = written && written.bytes >= leastWritten * capacity ? written : null
  const stated = { ...reason, ...((isWatched || !isNear) && filesOfImages(first, subject)) }
  const named = isNear && rate !== null ? seenBeforeLimit(stated, subject) : stated
  return {
    ...filling,
    held,
    rate,
    // No eviction will come: a deletion makes room before writes fail.
    reason: isNear && !isWatched ? withDeletion(named, subject) : named,
    isRaised: false,
  }
}

function nearlyFullFailing(disk: FillingDisk): Failing {
  const { signal, isWatched, left, capacity, reason } = disk
  const isInodes = signal.endsWith('.inodesFree')
  const shown = isInodes ? `${counted(left)} inodes` : bytes(left)
  const text = `${shown} (${percent((100 * left) / capacity)}) are left`
  const until = `${text} before ${signal} is met, and the kubelet ${disk.acts}.`
  const isFull = disk.free <= 0
  const full = `${isInodes ? 'no inode is left' : 'the disk is full'}: writes fail now.`
  const said = [
    isFull && full,
    isInodes && isWatched && until,
    disk.rate?.text,
    reason.seen,
  ].filter(Boolean)
  return {
    ...reason,
    ...(said.length > 0 && { seen: said.join(' ') }),
    ...(isInodes && { title: titles.inodes }),
    ...(disk.isRaised && { title: titles.raised }),
    ...(!isWatched && { title: titles[isFull ? 'full' : 'unwatched'], severity: 'critical' }),
    consequence: isWatched
      ? until
      : `${text} of ${signal}, which no threshold watches: at 0 writes fail, without DiskPressure.`,
    evidence: evidenceOf(disk),
  }
}

/** By what a pod wrote until now, or by observed growth. Null: unknown, or it leaves more than a day. */
function fullSoonFailing(disk: FillingDisk, growth: NodeGrowth[DiskName]): Failing | null {
  const { signal, isWatched, left, reason, rate } = disk
  // Less than the pod wrote already: what it starts with may be written by now.
  const written = rate && rate.bytes > left ? rate.text : null
  const hours = hoursToFill(left, growth)
  if (hours > soon.hours && written === null) return null
  const isGrown = hours <= soon.hours
  const perHour = isGrown ? (growth as ObservedGrowth).bytesPerHour.median : 0
  return {
    ...reason,
    ...(written !== null && {
      seen: [written, reason.seen].filter(Boolean).join(' '),
      steps: movedToVolumes(reason.steps),
    }),
    title: disk.isRaised ? titles.raised : titles.soon,
    confidence: 'likely',
    consequence: `${bytes(left)} are left before ${isWatched ? `${signal} is met, and the kubelet ${disk.acts}` : 'the disk is full'}${isGrown ? `: about ${span(hours * hourMs)} at the growth that was seen, ${bytes(perHour)} an hour` : ''}.`,
    evidence: [
      ...evidenceOf(disk),
      ...(isGrown
        ? [bytesLine('computed', `growth of ${disk.name} in an hour`, Math.round(perHour))]
        : []),
    ],
  }
}

const evidenceOf = (disk: FillingDisk): Evidence[] => [
  amountLine('summary', disk, 'now', disk.free),
  amountLine('summary', disk, 'capacity', disk.capacity),
  ...disk.held.map(({ holder, amount: { unit, low } }) =>
    unit === 'bytes'
      ? bytesLine('computed', `held by ${holder}`, low)
      : line('computed', `held by ${holder}`, `${low} ${unit}`),
  ),
]
