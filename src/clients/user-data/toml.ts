/**
 * The part of TOML in which people write Bottlerocket settings: tables, dotted and quoted keys, strings, numbers, booleans, lists, inline tables.
 * Source: toml.io v1.0.0. Dates, hexadecimal numbers and the like are no values of these settings: they end the reading.
 */
import { isRawObject, type RawObject } from '#model/record.ts'
import { Unreadable } from './settings.ts'

/** @throws Unreadable, with the line's number */
export function parseToml(text: string): RawObject {
  return new Parser(text).document()
}

class Parser {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text.replaceAll('\r\n', '\n')
  }

  document(): RawObject {
    const root: RawObject = {}
    let table = root
    for (this.blank(true); this.at < this.text.length; this.blank(true)) {
      if (this.take('[[')) {
        const keys = this.keys()
        this.expect(']]')
        table = this.newItem(root, keys)
      } else if (this.take('[')) {
        const keys = this.keys()
        this.expect(']')
        table = this.tableAt(root, keys)
      } else this.pair(table)
      this.blank(false)
      if (this.at < this.text.length && this.text[this.at] !== '\n') throw this.mistake()
    }
    return root
  }

  private pair(table: RawObject): void {
    const keys = this.keys()
    const last = keys.pop() ?? ''
    this.expect('=')
    this.blank(false)
    put(this.tableAt(table, keys), last, this.value())
  }

  private keys(): string[] {
    const keys: string[] = []
    do {
      this.blank(false)
      keys.push(this.key())
      this.blank(false)
    } while (this.take('.'))
    return keys
  }

  private key(): string {
    const quote = this.text[this.at]
    if (quote === '"' || quote === "'") return this.quoted(quote)
    return this.match(/[\w-]+/y)
  }

  private value(): unknown {
    const next = this.text[this.at]
    if (next === '"' || next === "'") return this.quoted(next)
    if (this.take('[')) return this.list()
    if (this.take('{')) return this.inlineTable()
    const word = this.match(/[+\-.\w]+/y)
    if (word === 'true' || word === 'false') return word === 'true'
    if (!/^[+-]?\d[\d_]*(\.\d+)?$/.test(word)) throw this.mistake()
    return Number(word.replaceAll('_', ''))
  }

  private list(): unknown[] {
    const items: unknown[] = []
    for (this.blank(true); !this.take(']'); this.blank(true)) {
      items.push(this.value())
      this.blank(true)
      if (!this.take(',') && this.text[this.at] !== ']') throw this.mistake()
    }
    return items
  }

  private inlineTable(): RawObject {
    const table: RawObject = {}
    for (this.blank(false); !this.take('}'); this.blank(false)) {
      this.pair(table)
      this.blank(false)
      if (!this.take(',') && this.text[this.at] !== '}') throw this.mistake()
    }
    return table
  }

  private quoted(quote: '"' | "'"): string {
    const long = quote.repeat(3)
    if (this.take(long)) {
      const end = this.text.indexOf(long, this.at)
      if (end < 0) throw this.mistake()
      const body = this.text.slice(this.at, end).replace(/^\n/, '')
      this.at = end + 3
      return quote === '"' ? unescaped(body) : body
    }
    if (quote === "'") return this.match(/'[^'\n]*'/y).slice(1, -1)
    return unescaped(this.match(/"(?:[^"\\\n]|\\.)*"/y).slice(1, -1))
  }

  private tableAt(from: RawObject, keys: string[]): RawObject {
    let table = from
    for (const key of keys) {
      const found = Object.hasOwn(table, key) ? table[key] : put(table, key, {})
      const inner = Array.isArray(found) ? found.at(-1) : found
      if (!isRawObject(inner)) throw this.mistake()
      table = inner
    }
    return table
  }

  private newItem(root: RawObject, keys: string[]): RawObject {
    const last = keys.pop() ?? ''
    const table = this.tableAt(root, keys)
    const list = Object.hasOwn(table, last) ? table[last] : put(table, last, [])
    if (!Array.isArray(list)) throw this.mistake()
    const item: RawObject = {}
    list.push(item)
    return item
  }

  /** White space and comments; with `lines` their ends, too. */
  private blank(lines: boolean): void {
    const pattern = lines ? /[ \t\n]*(?:#[^\n]*(?:\n[ \t\n]*|$))*/y : /[ \t]*(?:#[^\n]*)?/y
    pattern.lastIndex = this.at
    this.at += pattern.exec(this.text)?.[0].length ?? 0
  }

  private take(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false
    this.at += word.length
    return true
  }

  private expect(word: string): void {
    this.blank(false)
    if (!this.take(word)) throw this.mistake()
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.text) ?? []
    if (found === undefined) throw this.mistake()
    this.at += found.length
    return found
  }

  private mistake(): Unreadable {
    return new Unreadable(
      `line ${this.text.slice(0, this.at).split('\n').length} is no TOML that is understood`,
    )
  }
}

/** As an own property, whatever the key: `__proto__` is a key like others. */
function put<Value>(table: RawObject, key: string, value: Value): Value {
  Object.defineProperty(table, key, { value, enumerable: true, writable: true, configurable: true })
  return value
}

const escapes: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r' }

const unescaped = (body: string) =>
  body.replace(
    /\\(?:\n\s*|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|(.))/g,
    (_, short?: string, long?: string, char?: string) => {
      const code = short ?? long
      if (code !== undefined)
        return Number.parseInt(code, 16) <= 0x10ffff
          ? String.fromCodePoint(Number.parseInt(code, 16))
          : ''
      return char === undefined ? '' : (escapes[char] ?? char)
    },
  )
