/** Keeps one copy of texts that many objects share. A parser creates a new copy for every object. */
export class SharedTexts {
  readonly #texts = new Map<string, string>()
  readonly #lists = new Map<string, readonly string[]>()

  /** The first copy of an equal text. Only for values with few distinct texts: namespaces, kinds, reasons. */
  text(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }

  /** The first copy of an equal list. */
  list(texts: readonly string[]): readonly string[] {
    const key = JSON.stringify(texts)
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const list = texts.map(text => this.text(text))
    this.#lists.set(key, list)
    return list
  }
}
