/** Rows kept until the last list is read. There can be hundreds of thousands. Compressed, a row takes about 50 bytes instead of 1,000. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** A block has the size of a page: packed quickly, with enough similar rows to compress well. */
const rowsInBlock = 500
/** The fastest compression level. It is enough, because repeated text is close together. */
const level = 1

/** @template Row plain JSON; unpacked rows are equal copies, not the same objects */
export class Packed<Row> {
  #open: Row[] = []
  readonly #blocks: Buffer[] = []

  push(row: Row): void {
    this.#open.push(row)
    if (this.#open.length < rowsInBlock) return
    // A copy of its own size: zlib's buffer of 64 KiB is mostly empty.
    this.#blocks.push(Buffer.from(deflateRawSync(JSON.stringify(this.#open), { level })))
    this.#open = []
  }

  /** In order of arrival. Only one block is unpacked at a time, unless the caller keeps its objects. */
  *[Symbol.iterator](): Generator<Row> {
    for (const block of this.#blocks) yield* JSON.parse(inflateRawSync(block).toString()) as Row[]
    yield* this.#open
  }
}
