import type { ReadError } from './record.ts'

/** Errors of the input: the first hundred as text, the rest as a number. */
export class InputErrors {
  readonly #kept: string[] = []
  #more = 0

  constructor(errors: readonly string[] = []) {
    for (const error of errors) this.add(error)
  }

  add(error: string) {
    if (this.#kept.length < mostKept) this.#kept.push(error)
    else this.#more++
  }

  list() {
    return this.#more === 0 ? [...this.#kept] : [...this.#kept, `and ${this.#more} more`]
  }
}

/** Errors of a cluster's records, of which a later one can repeat those of an earlier one. */
export class ReadErrors {
  readonly #errors = new Map<string, ReadError>()

  add(errors: readonly ReadError[] | null = []) {
    for (const error of errors ?? []) this.#errors.set(`${error.what} ${error.message}`, error)
  }

  list = () => [...this.#errors.values()]
}

const mostKept = 100
