import { bytes, exactBytes, percent } from '#judge/text.ts'
import type { DiskHolder, FilesystemLedger, LedgerLine, NodeLedger } from '#model/disk-ledger.ts'
import type { Evidence } from '#model/finding.ts'
import { line } from './rule.ts'

const gibibyte = 1024 ** 3

export interface Held {
  disk: FilesystemLedger
  lines: LedgerLine[]
  bytes: number
}

export function heldBy(
  { filesystems }: NodeLedger,
  holders: readonly DiskHolder[],
  least: { percent: number; gib: number },
): Held[] {
  return filesystems.flatMap(disk => {
    const lines = disk.lines.filter(({ holder }) => holders.includes(holder))
    const sum = lines.reduce((total, one) => total + one.bytes, 0)
    const isMuch = sum >= (least.percent / 100) * disk.capacityBytes && sum >= least.gib * gibibyte
    return isMuch ? [{ disk, lines, bytes: sum }] : []
  })
}

/** `12.0 GiB of nodefs (12 %)`. */
export const heldText = ({ disk, bytes: held }: Held): string =>
  `${bytes(held)} of ${disk.filesystem} (${percent((100 * held) / disk.capacityBytes)})`

export const heldEvidence = ({ disk, lines }: Held): Evidence[] => [
  line('summary', `${disk.filesystem} used`, exactBytes(disk.usedBytes)),
  ...lines.map(({ holder, bytes: held, source }) =>
    line('host', `${holder} by ${source}`, exactBytes(held)),
  ),
]
