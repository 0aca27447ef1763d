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
