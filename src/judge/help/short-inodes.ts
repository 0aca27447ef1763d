/** Disks with few inodes left, and who holds these. */

import { type Failing, line, percent } from '#judge/rule.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import type { Signal } from '#model/prediction.ts'
import { diskOf, heldBySignal } from './holder-cause.ts'
import { diskReason } from './holders.ts'
import { isShortOfInodes } from './thresholds.ts'

/** The first disk with few inodes that the signals observe: what is left, and the steps against its largest holder. Null: there is none. */
export function shortInodes(
  subject: NodeSubject,
  signals: readonly string[],
): Required<Pick<Failing, 'seen' | 'steps' | 'evidence'>> | null {
  const { filesystems, ledger } = subject
  for (const name of ['nodefs', 'imagefs'] as const) {
    const signal: Signal = `${name}.inodesFree`
    const { inodes, inodesFree } = filesystems[name] ?? {}
    if (!signals.includes(signal) || !isShortOfInodes(filesystems[name]) || !inodes) continue
    const held = ledger && diskOf(ledger, name)?.lines
    const [most] = (held ?? []).toSorted((a, b) => (b.inodes ?? 0) - (a.inodes ?? 0))
    const reason = heldBySignal(ledger, signal).length > 0 ? diskReason(subject, signal) : null
    return {
      seen: `${inodesFree} of ${inodes} inodes of ${name} are left (${percent((100 * (inodesFree ?? 0)) / inodes)}).`,
      steps: [...(reason?.steps ?? []), { id: 'set-fields' }],
      evidence: most?.inodes ? [line('computed', `most inodes: ${most.holder}`, most.inodes)] : [],
    }
  }
  return null
}
