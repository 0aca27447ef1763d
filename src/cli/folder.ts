import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { messageOf, OperatorError } from '#base/operator-error.ts'

/** @param what for the message: "The plan" @throws OperatorError as a failure, not as bad input */
export function attemptWrite(what: string, write: () => void) {
  try {
    write()
  } catch (error) {
    const message = `${what} could not be written: ${messageOf(error)}`
    throw new OperatorError(message, { isBadInput: false })
  }
}

/**
 * Makes the folder and its parents one by one: Node's `recursive` never returns on file systems that refuse new folders, such as /proc.
 * @throws OperatorError
 */
export function makeFolder(path: string) {
  const folder = resolve(path)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  if (found)
    throw new OperatorError(`The folder ${folder} cannot be made: a file of that name exists`)
  try {
    makeFolder(dirname(folder))
    mkdirSync(folder)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`The folder ${folder} cannot be made: ${messageOf(error)}`)
  }
}
