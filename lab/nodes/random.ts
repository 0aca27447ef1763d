/** Chance that is the same every time: what depends on a text or a seed, and on nothing else. */
import { createHash } from 'node:crypto'

/** Hexadecimal digits that belong to a text. */
export const digits = (text: string) => createHash('sha256').update(text).digest('hex')

/** An object's UID in the form of a UUID. */
export function uidOf(text: string): string {
  const hex = digits(text)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** A suffix as Kubernetes generates it. Upstream: apimachinery/pkg/util/rand/rand.go alphanums. */
export function suffixOf(text: string, length = 5): string {
  const letters = 'bcdfghjklmnpqrstvwxz2456789'
  const hex = digits(text)
  return Array.from(
    { length },
    (_, index) => letters[parseInt(hex.slice(index * 2, index * 2 + 2), 16) % letters.length],
  ).join('')
}

/** Numbers in [0, 1), the same sequence for the same text. Mulberry32, public domain. */
export function randomOf(text: string): () => number {
  let state = parseInt(digits(text).slice(0, 8), 16)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** An EC2 instance id that belongs to a text. */
export const instanceIdOf = (text: string) => `i-${digits(text).slice(0, 17)}`
