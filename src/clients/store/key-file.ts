/** The key of one machine, for a store in a folder: a file that only its owner can read. */

import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { homedir, hostname, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf, messageOf, OperatorError } from '#base/operator-error.ts'
import type { MacKey } from './store.ts'

const keyBytes = 32

/** Default path, in the folder that the XDG Base Directory Specification names. */
export const defaultKeyFile = () =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'highwater', 'seal.key')

/** A MAC key from a file. The file is read at the first use, and created if missing. */
export function fileMacKey(path: string): MacKey {
  let loaded: Promise<Buffer> | null = null
  const key = () => {
    loaded ??= readOrMake(path)
    return loaded
  }
  return {
    mac: async message => hmacOf(await key(), message).toString('base64'),
    isMac: async (message, mac) =>
      isEqual(hmacOf(await key(), message), Buffer.from(mac, 'base64')),
    identity: async () => {
      const { username, uid } = userInfo()
      return `${username} (uid ${uid}) on ${hostname()}`.replaceAll(/[^ -~]/g, '?')
    },
  }
}

const hmacOf = (key: Buffer, message: string): Buffer =>
  createHmac('sha256', key).update(message).digest()

const isEqual = (found: Buffer, wanted: Buffer) =>
  found.length === wanted.length && timingSafeEqual(found, wanted)

async function readOrMake(path: string): Promise<Buffer> {
  try {
    return await readKey(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw keyError(path, error)
  }
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await makeKey(path)
  } catch (error) {
    // Another process has just created the file.
    if (codeOf(error) !== 'EEXIST') throw keyError(path, error)
  }
  return readKey(path).catch(error => {
    throw keyError(path, error)
  })
}

/** The file appears with its content, because another process may read it at once. */
async function makeKey(path: string) {
  const own = `${path}.${randomUUID()}`
  await writeFile(own, randomBytes(keyBytes), { flag: 'wx', mode: 0o600 })
  try {
    await link(own, path)
  } finally {
    await rm(own, { force: true })
  }
}

/** Refuses symbolic links. */
async function readKey(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { mode, uid } = await file.stat()
    if (uid !== userInfo().uid) throw new Error('it belongs to another user')
    if ((mode & 0o777) !== 0o600)
      throw new Error(`its mode is ${(mode & 0o777).toString(8)}, and has to be 600`)
    const key = await file.readFile()
    if (key.length !== keyBytes) throw new Error(`it has ${key.length} bytes, not ${keyBytes}`)
    return key
  } finally {
    await file.close()
  }
}

const keyError = (path: string, error: unknown) =>
  new OperatorError(
    `The key ${path} cannot be used: ${messageOf(error)}. It seals approvals and journals of this machine`,
    { isBadInput: false, cause: error },
  )
