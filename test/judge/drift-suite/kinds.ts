/**
 * Every kind of drift that is known, and fleets without any: written before the rules, and their judge.
 *
 * Left out  fields that a file gives twice: a snapshot holds files as parsed JSON, in which the last one has won; twins by another case are there
 */
import { baselineKinds } from './baseline-kinds.ts'
import { declaredKinds } from './declared-kinds.ts'
import { diskKinds } from './disk-kinds.ts'
import type { DriftKind } from './kind.ts'
import { peerKinds } from './peer-kinds.ts'
import { restartKinds } from './restart-kinds.ts'

export { cleanKinds } from './clean-kinds.ts'
export const driftKinds: readonly DriftKind[] = [
  ...declaredKinds,
  ...diskKinds,
  ...restartKinds,
  ...peerKinds,
  ...baselineKinds,
]
