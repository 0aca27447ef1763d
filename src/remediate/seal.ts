/**
 * Texts whose last member is their seal, a message authentication code. The seal binds the text to its name, so a text that someone else
 * wrote, changed or moved is refused. Write access to the bucket gives no authority: only the keys do.
 */
import { resolve } from 'node:path'
import { OperatorError } from '#base/operator-error.ts'
import type { MacKey, Store } from '#clients/store/store.ts'
import { sha256 } from './plan/canonical.ts'

/** `runs`: key of the identity that changes nodes. `approvals`: key of the approvers, which the identity that changes nodes only uses to check seals. */
export interface SealKeys {
  runs: MacKey
  approvals: MacKey
}

/** A stored object without a valid seal of the identity that may write it: never acted on. */
export class Unsealed extends OperatorError {
  /** The object's location: the store's location, a slash, the key. */
  readonly place: string
  /** Version of the object, as `Store.replace` takes it; null: `sealedStore` did not read it. */
  version: string | null = null

  constructor(place: string, message: string) {
    super(message, { isBadInput: false })
    this.place = place
  }
}

const seal = /,"seal":"([A-Za-z0-9+/]{43}=)"\}\n$/

/** @param text a JSON object and a newline @param name kind and subject of the text, unique */
export async function sealedText(text: string, name: string, key: MacKey) {
  if (!text.endsWith('}\n') || text.trim() === '{}')
    throw new Error(`${name} is no JSON object that ends a line`)
  return `${text.slice(0, -2)},"seal":"${await key.mac(macInput(name, text))}"}\n`
}

/** Separates the text from its unchecked seal. @throws Unsealed if there is no seal */
export function unsealedText(written: string, place: string) {
  const mac = seal.exec(written)?.[1]
  if (mac === undefined) throw unsealedError(place)
  return { text: written.replace(seal, '}\n'), mac }
}

/** @param place where the text lies, for people @throws Unsealed, or what the key throws */
export async function checkSeal(
  { text, mac }: { text: string; mac: string },
  name: string,
  key: MacKey,
  place: string,
) {
  if (!(await key.isMac(macInput(name, text), mac))) throw unsealedError(place)
}

const macInput = (name: string, text: string) =>
  JSON.stringify(['highwater.seal/1', name, sha256(text)])

const unsealedError = (place: string) =>
  new Unsealed(
    place,
    `${place} has no valid seal: it was written by someone else, or changed or moved since. Nothing was done by it. Look who may write there; a bucket with versions still has what lay there`,
  )

/**
 * Objects that control a run. Plans are named by their digest. A lease allows nothing: a forged lease makes an apply wait. The report of a run is read by
 * people and other programs.
 */
const isSealed = (key: string) =>
  /^remediation\/(runs\/|begun\/|notices\.json$)/.test(key) &&
  !/^remediation\/runs\/[a-f0-9]{16}\/report\.json$/.test(key)

/**
 * The same store, but each journal of a run is sealed with the place where it lies. Its `read` throws `Unsealed`.
 * @param onUnsealed called with each `Unsealed`, also if the caller goes on without the object
 */
export function sealedStore(
  store: Store,
  key: MacKey,
  onUnsealed: (error: Unsealed) => void = () => undefined,
): Store {
  const { location } = store
  const place = location.includes('://') ? location : resolve(location)
  const nameOf = (at: string) => `${place}/${at}`
  const bodyOf = async (at: string, body: Buffer | string) =>
    isSealed(at) ? sealedText(body.toString(), nameOf(at), key) : body
  return {
    ...store,
    async read(at) {
      const found = await store.read(at)
      if (!found || !isSealed(at)) return found
      try {
        const opened = unsealedText(found.body.toString('utf8'), `${location}/${at}`)
        await checkSeal(opened, nameOf(at), key, `${location}/${at}`)
        return { ...found, body: Buffer.from(opened.text) }
      } catch (error) {
        if (error instanceof Unsealed) {
          error.version = found.version
          onUnsealed(error)
        }
        throw error
      }
    },
    write: async (at, body, ...more) => store.write(at, await bodyOf(at, body), ...more),
    create: async (at, body, ...more) => store.create(at, await bodyOf(at, body), ...more),
    replace: async (at, body, ...more) => store.replace(at, await bodyOf(at, body), ...more),
  }
}
