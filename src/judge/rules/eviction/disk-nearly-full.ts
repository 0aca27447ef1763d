import { diskReason, heldBySignal } from '#judge/help/holders.ts'
import {
  type Failing,
  isLinux,
  line,
  lines,
  nodeRule,
  type Satisfied,
  worldCause,
} from '#judge/rule.ts'
import { bytes, percent } from '#judge/text.ts'
import { sisterOf } from '#model/kubelet/watched-signals.ts'
import type { FilesystemState, Signal } from '#model/prediction/prediction.ts'

/** Share of the disk, in percent: above the next threshold, or at all if no threshold watches the disk. */
const leastLeft = { watched: 5, unwatched: 15, unwatchedInodes: 5 }

const titles = {
  unwatched:
    'A disk that no threshold watches is nearly full, and image GC does not free what holds it',
}

export const diskNearlyFull = nodeRule({
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

  *judge(subject) {
    const names =
      subject.filesystems.layout === 'imagefs' || subject.filesystems.layout === 'split'
        ? (['nodefs', 'imagefs'] as const)
        : (['nodefs'] as const)
    for (const name of names)
      for (const signal of [`${name}.available`, `${name}.inodesFree`] as const) {
        const failing = judgeSignal(signal, subject.filesystems[name], subject)
        if (failing !== null) yield failing
      }
  },
})

const unknownHolders: ReadonlySet<string> = new Set(['unread', 'not-explained'])

type DiskSubject = Satisfied<'disks' | 'eviction'>

function judgeSignal(
  signal: Signal,
  disk: FilesystemState | null,
  subject: DiskSubject,
): Failing | null {
  const isInodes = signal.endsWith('.inodesFree')
  const capacity = isInodes ? disk?.inodes : disk?.capacityBytes
  const free = isInodes ? disk?.inodesFree : disk?.availableBytes
  if (!capacity || free == null) return null
  const isShared = subject.filesystems.layout === 'shared'
  const watching = subject.eviction.thresholds.filter(
    threshold => threshold.signal === signal || (isShared && threshold.signal === sisterOf(signal)),
  )
  // eviction-due reports a met threshold.
  if (watching.some(({ met }) => met === true)) return null
  const left = Math.min(free, ...watching.flatMap(({ margin }) => margin ?? []))
  const isWatched = watching.length > 0
  const unwatched = isInodes ? leastLeft.unwatchedInodes : leastLeft.unwatched
  const leftPercent = (100 * left) / capacity
  if (leftPercent >= (isWatched ? leastLeft.watched : unwatched)) return null
  const [first] = heldBySignal(subject.ledger, signal)
  const reason = diskReason(subject, signal)
  if (first === undefined || reason === null) return null
  // The rules of unwatched thresholds report these.
  if (!isWatched && unknownHolders.has(first.holder)) return null
  // Without a threshold, images in use count too: no other rule reports them.
  const cause = isWatched ? first : reason.cause
  if (!isInodes && cause.kind === 'holder' && cause.freedBy === 'image-gc') return null
  const shown = isInodes ? `${left} inodes` : bytes(left)
  return {
    ...reason,
    ...(!isWatched && { title: titles.unwatched, severity: 'critical' }),
    consequence: isWatched
      ? `${shown} (${percent(leftPercent)}) are left before ${signal} is met, and the kubelet evicts pods.`
      : `${shown} (${percent(leftPercent)}) are left of ${signal}, which no threshold watches: at 0 writes fail, without DiskPressure.`,
    evidence: lines(
      line('summary', `${signal} now`, isInodes ? free : bytes(free)),
      line('summary', `capacity of ${signal}`, isInodes ? capacity : bytes(capacity)),
      ...heldBySignal(subject.ledger, signal).map(({ holder, amount }) =>
        line(
          'computed',
          `held by ${holder}`,
          amount.unit === 'bytes' ? bytes(amount.low) : `${amount.low} inodes`,
        ),
      ),
    ),
  }
}
