/** The forms that all checks share. */

import { messageOf } from '#base/operator-error.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { Check, CheckState } from '#model/checkup.ts'
import type { NeededRight } from '#pipeline/access/permissions.ts'

export const check = (
  what: string,
  state: CheckState,
  detail: string,
  without: string | null = null,
): Check => ({ what, state, detail, without: state === 'ok' || state === 'note' ? null : without })

/** A right is missing if AWS refused the call. After any other failure it is unknown. */
export function failedCall({ right, purpose }: NeededRight, error: unknown): Check {
  const isRefused = error instanceof RequestFailure && error.refusal !== null
  return check(right, isRefused ? 'missing' : 'failed', messageOf(error), purpose)
}

/** Whether the call that needs the right succeeds. @throws the signal's reason */
export async function callCheck(
  needed: NeededRight,
  signal: AbortSignal,
  call: () => Promise<unknown>,
): Promise<Check> {
  try {
    await call()
    return check(needed.right, 'ok', 'answered')
  } catch (error) {
    signal.throwIfAborted()
    return failedCall(needed, error)
  }
}

export const everything = 'everything of this cluster'

export const statusOf = (error: unknown) => (error instanceof RequestFailure ? error.status : null)
