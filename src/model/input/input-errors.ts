/** Errors of the input: the first hundred as text, the rest as a number. */
export class InputErrors {
  readonly #kept: string[] = []
  #more = 0

  constructor(errors: readonly string[] = []) {
    for (const error of errors) this.add(error)
  }

  add(error: string): void {
    if (this.#kept.length < mostKept) this.#kept.push(error)
    else this.#more++
  }

  list(): string[] {
    return this.#more === 0 ? [...this.#kept] : [...this.#kept, `and ${this.#more} more`]
  }
}

const mostKept = 100
