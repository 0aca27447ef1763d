import { onTestFinished } from 'vitest'

/**
 * For what a call changes in this process. A call that outlives its test, because the test has timed out, changes nothing in the next one.
 *
 * @returns what undoes the change: once, and when the test ends at the latest
 */
export function undoneWithTest(undo: () => void): () => void {
  let isUndone = false
  const undoOnce = () => {
    if (isUndone) return
    isUndone = true
    undo()
  }
  onTestFinished(undoOnce)
  return undoOnce
}

/** Sets variables of this process. @returns what sets them back; likewise */
export function withEnvironment(variables: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  return undoneWithTest(() => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  })
}
