/** One family of golden vectors: how a case's input is put to the replay, and its answer told in the words of the vectors' README. */
export interface Family<Input> {
  /** The file's name without `.json`. */
  name: string
  /**
   * What upstream would answer, computed by the functions that `predict` calls. It never sees `expected`.
   *
   * Where upstream itself gives one of several answers, `{anyOf: […]}` with all of them.
   *
   * @param version of the vectors' folder, `v1.34`
   */
  answer(input: Input, version: string): unknown
}
