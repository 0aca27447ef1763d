/** Stores files by key. With conditional writes, a run publishes and mails only once. */

import { RequestFailure } from '#clients/failure.ts'

/** The object is longer than `storedLimitOf` its key, so it was not read. */
export class TooLong extends Error {}

export const tooLong = (place: string, bytes: number, maxBytes: number) =>
  new TooLong(`${place} has ${bytes} bytes: more than ${maxBytes} are not read`)

/** All methods throw an Error with one paragraph for people when the store cannot be read or written. */
export interface Store {
  /** Name for people: `s3://bucket/prefix`, or the path of a folder, without a slash at the end. */
  readonly location: string
  /** Null: the key does not exist. `version` is an opaque text for `replace`. */
  read(key: string): Promise<{ body: Buffer; version: string } | null>
  /** Overwrites an existing object. @param contentType default, here and below: `application/json` */
  write(key: string, body: Buffer | string, contentType?: string): Promise<void>
  /** Returns false if the key exists already. Then nothing was written. */
  create(key: string, body: Buffer | string, contentType?: string): Promise<boolean>
  /** Returns false if the object no longer has `version`. Then nothing was written. */
  replace(
    key: string,
    body: Buffer | string,
    version: string,
    contentType?: string,
  ): Promise<boolean>
  /** Streams the file from disk. */
  writeFile(key: string, path: string, contentType: string): Promise<void>
  /** Whether the object exists or ever existed. A store with versions also finds a deleted object. */
  wasWritten(key: string): Promise<boolean>
  /** Every key that begins with the prefix, sorted. */
  list(prefix: string): AsyncGenerator<string>
  /** Absent if the store expires files itself, as a bucket's lifecycle does. Then no role needs the right to delete. */
  remove?(key: string): Promise<void>
}

interface NextObject {
  /** Null: the object does not exist yet. */
  version: string | null
  body: Buffer | string
  contentType?: string
}

/**
 * Changes one object. If another process writes in between, it is changed anew.
 *
 * @param next reads the object and returns the changed one; null: nothing is to be written
 * @returns false: other processes wrote at every try
 */
export async function update(
  store: Store,
  key: string,
  tries: number,
  next: () => Promise<NextObject | null>,
) {
  for (let attempt = 0; attempt < tries; attempt++) {
    const changed = await next()
    if (!changed) return true
    const { version, body, contentType } = changed
    const isWritten =
      version === null
        ? await store.create(key, body, contentType)
        : await store.replace(key, body, version, contentType)
    if (isWritten) return true
  }
  return false
}

const maxKeyBytes = 800

/**
 * Returns the key if every kind of store accepts it: segments between single slashes, none of them `.` or `..`.
 * @throws Error otherwise
 */
export function checkKey(key: string) {
  const segments = key.split('/')
  const isWrong = segments.some(segment => /^\.{0,2}$|[\p{Cc}\\:]/u.test(segment))
  if (isWrong || Buffer.byteLength(key) > maxKeyBytes)
    throw new Error(`${JSON.stringify(key)} is no key of a store`)
  return key
}

/* Avoids a second wait for an unreachable store: more time-outs would use up the time for sending the mail. */

const awayKinds = new Set(['timeout', 'network', 'refused', 'name', 'tls'])

/** The same store. After one failure to reach the store, every call throws that failure at once. */
export function failFastStore(store: Store): Store {
  let away: RequestFailure | null = null
  async function attempt<T>(call: () => Promise<T>) {
    if (away) throw away
    try {
      return await call()
    } catch (error) {
      if (error instanceof RequestFailure && awayKinds.has(error.kind)) away = error
      throw error
    }
  }
  return {
    location: store.location,
    read: key => attempt(() => store.read(key)),
    write: (...object) => attempt(() => store.write(...object)),
    create: (...object) => attempt(() => store.create(...object)),
    replace: (...object) => attempt(() => store.replace(...object)),
    writeFile: (...file) => attempt(() => store.writeFile(...file)),
    wasWritten: key => attempt(() => store.wasWritten(key)),
    async *list(prefix) {
      if (away) throw away
      yield* store.list(prefix)
    },
  }
}

/** A key for message authentication codes: in AWS KMS, or in a file of one machine. */
export interface MacKey {
  /** HMAC-SHA-256 in base64. @throws RequestFailure or OperatorError with a message for people */
  mac(message: string): Promise<string>
  /** Whether the code is valid for this message. @throws as `mac` if that cannot be decided */
  isMac(message: string, mac: string): Promise<boolean>
  /** The caller, as the key's place verifies it: an ARN, or the user of this machine. @throws as `mac` */
  identity(): Promise<string>
}
