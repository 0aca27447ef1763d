/** Files by key, in a bucket or a folder. Conditional writes let a run publish and mail once. */

/** An object that is longer than `storedLimitOf` its key: it is not read. */
export class TooLong extends Error {}

export const tooLong = (place: string, bytes: number, maxBytes: number): TooLong =>
  new TooLong(`${place} has ${bytes} bytes: more than ${maxBytes} are not read`)

/** All methods throw an Error with one paragraph for people when the store cannot be read or written. */
export interface Store {
  /** For people: `s3://bucket/prefix`, or a folder's path; without a slash at the end. */
  readonly location: string
  /** Null: there is no such key. `version` is opaque: only for `replace`. */
  read(key: string): Promise<{ body: Buffer; version: string } | null>
  /** Overwrites. */
  write(key: string, body: Buffer | string, contentType: string): Promise<void>
  /** False: the key exists already, and nothing was written. */
  create(key: string, body: Buffer | string, contentType: string): Promise<boolean>
  /** False: the object no longer has `version`, and nothing was written. */
  replace(
    key: string,
    body: Buffer | string,
    contentType: string,
    version: string,
  ): Promise<boolean>
  /** Streamed from disk. */
  writeFile(key: string, path: string, contentType: string): Promise<void>
  /** Whether there is, or ever was, an object: a store with versions also finds one that was deleted. */
  wasWritten(key: string): Promise<boolean>
  /** Every key that begins with the prefix, sorted. */
  list(prefix: string): AsyncGenerator<string>
  /** Absent if the store expires files itself, as a bucket's lifecycle does. Then no role needs the right to delete. */
  remove?(key: string): Promise<void>
}

const maxKeyBytes = 800

/**
 * The key itself, if every kind of store accepts it: segments between single slashes, none of them `.` or `..`.
 * @throws Error otherwise
 */
export function checkKey(key: string): string {
  const segments = key.split('/')
  const isWrong = segments.some(segment => /^\.{0,2}$|[\p{Cc}\\:]/u.test(segment))
  if (isWrong || Buffer.byteLength(key) > maxKeyBytes)
    throw new Error(`${JSON.stringify(key)} is no key of a store`)
  return key
}
