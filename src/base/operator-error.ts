/**
 * The operator requested something impossible, or the run cannot start: `message` is one paragraph that says what, where, why and what
 * to do. Nothing was audited. Bad input ends with exit code 2, everything else with 4.
 */
export class OperatorError extends Error {
  /** The state machine does not retry an error of this name. */
  override readonly name = 'OperatorError'
  readonly isBadInput: boolean

  constructor(message: string, options: { isBadInput?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.isBadInput = options.isBadInput ?? true
  }
}

/** The message of a thrown value. */
export const messageOf = (error: unknown) =>
  error instanceof Error ? error.message : String(error)

/** Node.js code of an error, such as `ENOENT`; null: the error has none. */
export const codeOf = (error: unknown): string | null =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null
