/** Texts that many objects have in common, each kept once: a parser makes one anew for every object that has it. */
export class SharedTexts {
  readonly #texts = new Map<string, string>()
  readonly #lists = new Map<string, readonly string[]>()

  /** The same text, as it was first seen. Only for what few distinct texts can be: namespaces, kinds, reasons. */
  text(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    return text
  }

  /** Likewise: lists that are alike are one list. */
  list(texts: readonly string[]): readonly string[] {
    const key = JSON.stringify(texts)
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const list = texts.map(text => this.text(text))
    this.#lists.set(key, list)
    return list
  }
}
