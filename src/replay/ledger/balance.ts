/** Balances a ledger: the lines always add up to the used bytes, whatever was measured. */
import type { FilesystemLedger, LedgerLine } from '#model/prediction.ts'

/** A line before the remainder is known. `bytes` outside its bounds is moved into them. */
export type Entry = Pick<LedgerLine, 'holder' | 'bytes' | 'source'> &
  Partial<Pick<LedgerLine, 'lowBytes' | 'highBytes' | 'inodes'>> & {
    /** Whether a part of `bytes` was not read. */
    isPartial?: boolean
  }

type Measured = Omit<FilesystemLedger, 'lines'>

/**
 * Entries are served in order. Measurements of another moment can exceed the used bytes; then the last entries get less.
 *
 * @param rest name of the remainder
 */
export function balanceLedger(
  filesystem: Measured,
  entries: readonly Entry[],
  rest: 'unread' | 'not-explained',
): FilesystemLedger {
  const { usedBytes, usedInodes } = filesystem
  const lines: LedgerLine[] = []
  let leftBytes = usedBytes
  let leftInodes = usedInodes ?? 0
  for (const entry of entries) {
    const measured = roundUse(entry.bytes)
    const bytes = Math.min(measured, leftBytes)
    const inodes = entry.inodes == null ? null : Math.min(roundUse(entry.inodes), leftInodes)
    if (measured === 0 && !inodes && !entry.highBytes && !entry.isPartial) continue
    leftBytes -= bytes
    leftInodes -= inodes ?? 0
    lines.push({
      holder: entry.holder,
      bytes,
      lowBytes: Math.min(roundUse(entry.lowBytes ?? measured), bytes),
      highBytes: Math.max(
        roundUse(entry.highBytes ?? measured),
        entry.isPartial ? usedBytes : bytes,
      ),
      inodes: usedInodes === null ? null : inodes,
      source: entry.source,
    })
  }
  if (leftBytes > 0 || leftInodes > 0 || lines.length === 0)
    lines.push({
      holder: rest,
      bytes: leftBytes,
      lowBytes: restBound(usedBytes, lines, 'highBytes'),
      highBytes: Math.max(leftBytes, restBound(usedBytes, lines, 'lowBytes')),
      inodes: usedInodes === null ? null : leftInodes,
      source: 'rest',
    })
  return { ...filesystem, lines }
}

const roundUse = (count: number) => Math.max(0, Math.round(count))

const restBound = (used: number, lines: LedgerLine[], bound: 'lowBytes' | 'highBytes') =>
  Math.max(0, used - lines.reduce((sum, line) => sum + line[bound], 0))
