import { gibibyte } from '#base/units.ts'
import { bytes, bytesLine, percent } from '#judge/rule.ts'
import type { DiskHolder, FilesystemLedger, LedgerLine, NodeLedger } from '#model/prediction.ts'
import { holderCause, type Reason } from './holder-cause.ts'
import { type HolderSubject, reasonOf } from './holder-steps.ts'

interface LeastHeld {
  percent: number
  gib: number
}

export interface Held {
  disk: FilesystemLedger
  lines: LedgerLine[]
  bytes: number
}

export const findHeld = (
  { filesystems }: NodeLedger,
  holders: readonly DiskHolder[],
  least: LeastHeld,
): Held[] =>
  filesystems.flatMap(disk => {
    const lines = disk.lines.filter(({ holder }) => holders.includes(holder))
    const sum = lines.reduce((total, one) => total + one.bytes, 0)
    return isLargeShare(sum, disk, least) ? [{ disk, lines, bytes: sum }] : []
  })

export const isLargeShare = (held: number, { capacityBytes }: FilesystemLedger, least: LeastHeld) =>
  held >= (least.percent / 100) * capacityBytes && held >= least.gib * gibibyte

/** `12.0 GiB of nodefs (12 %)`. */
export const heldAmountText = ({ disk, bytes: held }: Held) =>
  `${bytes(held)} of ${disk.filesystem} (${percent((100 * held) / disk.capacityBytes)})`

/** The largest of the lines as a cause. */
export function heldReason({ disk, lines }: Held, subject: HolderSubject): Reason {
  const largest = lines.toSorted((a, b) => b.bytes - a.bytes)[0]!
  return reasonOf(holderCause(largest, disk, subject.ledger ?? { parts: [], owners: [] }), subject)
}

export const heldEvidence = ({ disk, lines }: Held) => [
  bytesLine('summary', `${disk.filesystem} used`, disk.usedBytes),
  ...lines.map(({ holder, bytes: held, source }) =>
    bytesLine('host', `${holder} by ${source}`, held),
  ),
]
