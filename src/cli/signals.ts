/** Ctrl-C, SIGTERM (as a CI sends it) and deadlines: the first signal ends the run in order, a second signal ends it at once. */
import { constants } from 'node:os'
import { RunEnd } from '#clients/failure.ts'

const stopSignals = ['SIGINT', 'SIGTERM'] as const
/** A process group and a parent may both pass on the same Ctrl-C. */
const doubledMs = 500

/** @param stop called with the number of the signal, 1 to `stops`; the next signal exits the process @returns a function that ends the listening */
function onSignals(stops: number, stop: (count: number) => void) {
  let count = 0
  let lastMs = Number.NEGATIVE_INFINITY
  const listen = (name: NodeJS.Signals) => {
    const isDoubled = performance.now() - lastMs < doubledMs
    if (isDoubled) return
    lastMs = performance.now()
    count += 1
    // A shell gives this exit code to a process that a signal has ended.
    if (count > stops) process.exit(128 + constants.signals[name])
    stop(count)
  }
  const listeners = stopSignals.map(name => [name, () => listen(name)] as const)
  for (const [name, listener] of listeners) process.on(name, listener)
  return () => {
    for (const [name, listener] of listeners) process.removeListener(name, listener)
  }
}

/** An abort signal for the run's deadline and for Ctrl-C. Its reason says which of them came, in the words shown for unread nodes. */
export function runSignal(deadlineMs: number) {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new RunEnd(`run's deadline of ${deadlineMs / 1000} s`)),
    deadlineMs,
  )
  const close = onSignals(1, () => {
    process.stderr.write(
      '\nStopping: the report will have what was read so far. Once more to leave at once.\n',
    )
    controller.abort(new RunEnd('run was interrupted'))
  })
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer)
      close()
    },
  }
}

/**
 * For a run that changes nodes. The first Ctrl-C, or the deadline, stops sending, and the run waits for commands under way. The second Ctrl-C stops
 * the waiting. The third one exits at once.
 */
export function pausingSignals(deadlineMs: number | undefined) {
  const [stop, end] = [new AbortController(), new AbortController()]
  const stopAtDeadline = (ms: number) =>
    stop.abort(new Error(`the deadline of ${ms / 1000} s was reached`))
  const timer =
    deadlineMs === undefined ? undefined : setTimeout(stopAtDeadline, deadlineMs, deadlineMs)
  const closeSignals = onSignals(2, () => {
    const reason = new Error('the run was interrupted')
    if (stop.signal.aborted) end.abort(reason)
    else {
      process.stderr.write(
        '\nPausing: nothing more is sent; waiting for commands in progress. Press Ctrl-C again to stop waiting.\n',
      )
      stop.abort(reason)
    }
  })
  const close = () => {
    clearTimeout(timer)
    closeSignals()
  }
  return { stop: stop.signal, end: end.signal, close }
}
