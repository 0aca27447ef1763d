import { messageOf } from '#base/text/error-message.ts'
import type { Clock } from './clock.ts'

/** The run is paused until it is resumed; the message contains the reason. */
export class Paused extends Error {}

/** @throws Paused if the signal is aborted first */
export async function sleepOrPause(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    await clock.sleep(delayMs, signal)
  } catch (error) {
    if (signal.aborted) throw pausedBy(signal)
    throw error
  }
}

/** @throws Paused */
export function orPause(signal: AbortSignal): void {
  if (signal.aborted) throw pausedBy(signal)
}

const pausedBy = ({ reason }: AbortSignal) => new Paused(messageOf(reason))

/** Whether the outside world failed: any error but a mistake in our code. */
export const isOfTheWorld = (error: unknown): boolean =>
  !(error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)
