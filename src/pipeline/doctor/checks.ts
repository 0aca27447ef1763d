/** The words and forms that all checks share. */
import { isAboutRight } from '#clients/aws-failure.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { Check, CheckState } from '#model/checkup.ts'
import type { NeededRight } from '#pipeline/access/permissions.ts'

export const check = (
  what: string,
  state: CheckState,
  detail: string,
  without: string | null = null,
): Check => ({
  ...{ what, state, detail },
  without: state === 'ok' || state === 'note' ? null : without,
})

/** AWS says itself what is not allowed; everything else is in the way. */
export const failedCall = ({ right, tells }: NeededRight, message: string): Check =>
  check(right, isAboutRight(message) ? 'missing' : 'failed', message, tells)

export const statusOf = (error: unknown): number | null =>
  error instanceof RequestFailure ? error.status : null
