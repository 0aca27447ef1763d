/** Rows that wait for the last page of the last list. There may be hundreds of thousands: compressed, one takes some fifty bytes instead of a thousand. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** A block is as large as a page, a moment's work, and has enough rows that are alike. */
const rowsInBlock = 500
/** The fastest: what rows repeat is next to each other. */
const level = 1

/** @template Row plain JSON; what comes out is equal to what went in, and not the same. */
export class Packed<Row> {
  #open: Row[] = []
  readonly #blocks: Buffer[] = []

  push(row: Row): void {
    this.#open.push(row)
    if (this.#open.length < rowsInBlock) return
    this.#blocks.push(deflateRawSync(JSON.stringify(this.#open), { level }))
    this.#open = []
  }

  /** In order of arrival. Only one block is unpacked at a time, unless the caller keeps its objects. */
  *[Symbol.iterator](): Generator<Row> {
    for (const block of this.#blocks) yield* JSON.parse(inflateRawSync(block).toString()) as Row[]
    yield* this.#open
  }
}
