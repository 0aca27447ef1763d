/**
 * Reads the kubelet's settings from an instance's user data. User data may hold secrets, so only settings cut to known kubelet fields leave this
 * file: no line of the text, and no text of a parser's error.
 *
 * Source  cloud-init, User data formats; amazon-eks-ami nodeadm/internal/configprovider; Bottlerocket's README, User data
 */
import { ForeignTextError, TextBudget, unpackGzip } from '#base/foreign-text.ts'
import { inputLimits, textLimits } from '#base/limits.ts'
import { cutSettings, type KubeletSettings } from '#model/kubelet/settings.ts'
import { readBottlerocket } from './user-data/bottlerocket.ts'
import { readCloudConfig } from './user-data/cloud-config.ts'
import { readMime } from './user-data/mime.ts'
import { type Piece, readDocument, together, Unreadable } from './user-data/settings.ts'
import { readShell } from './user-data/shell.ts'

export interface UserData {
  /** One entry per source with settings; empty: the user data sets nothing of the kubelet. */
  settings: KubeletSettings[]
  /** Reasons why a part of the user data could not be read. Equal reasons once, and at most 20. */
  unread: string[]
}

/** The reasons of a TOML part name its line. */
const maxReasons = 19

/**
 * @param text user data, plain or in base64 (once or twice), each with or without gzip
 * @param cluster what all user data of the cluster may still cost; null: only this one is read
 */
export function readUserData(text: string, cluster: TextBudget | null = null): UserData {
  const budget = new TextBudget(textLimits.userData, cluster)
  const pieces: Piece[] = []
  const unread = new Set<string>()
  const attempt = (read: () => Piece[]) => {
    try {
      pieces.push(...read())
    } catch (error) {
      const more = unread.size < maxReasons ? null : 'other parts of it cannot be read either'
      unread.add(more ?? (isExplained(error) ? error.message : 'it cannot be read'))
    }
  }
  attempt(() => {
    if (text.length > inputLimits.userData.maxBytes)
      throw new Unreadable('it is longer than any user data')
    const bytes = plain(Buffer.from(text), budget)
    const parts = readMime(bytes) ?? [{ type: '', bytes }]
    for (const part of parts)
      attempt(() => readPart(part.type, plain(part.bytes, budget).toString(), budget))
    return []
  })
  const settings = together(pieces).flatMap(found => cutSettings(found) ?? [])
  return {
    settings: settings.filter(({ config, flags }) => Object.keys(config).length + flags.length > 0),
    unread: [...unread],
  }
}

const isExplained = (error: unknown): error is Error =>
  error instanceof Unreadable || error instanceof ForeignTextError

/** Decodes base64 and gzip, up to four layers. @throws ForeignTextError */
function plain(bytes: Buffer, budget: TextBudget) {
  let found = bytes
  for (let layer = 0; layer < 4; layer++) {
    if (found[0] === 0x1f && found[1] === 0x8b) found = unpackGzip(found, budget)
    else if (isBase64(found)) found = Buffer.from(found.toString('latin1'), 'base64')
    else return found
  }
  return found
}

function isBase64(bytes: Buffer) {
  const compact = bytes.toString('latin1').replace(/\s/g, '')
  return compact.length >= 16 && compact.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(compact)
}

const jinja = /^## template: *jinja\s*\n/

/** Chooses the reader by the MIME type or the first line. @throws ForeignTextError, Unreadable */
function readPart(type: string, written: string, budget: TextBudget) {
  const text = written.replace(/^\uFEFF/, '').replace(jinja, '')
  const start = text.trimStart()
  if (start === '') return []
  if (start.startsWith('#cloud-config') || type === 'text/cloud-config')
    return readCloudConfig(text, budget)
  if (
    /^#!|^#cloud-boothook|^<(powershell|script)>/i.test(start) ||
    /shellscript|boothook/.test(type)
  )
    return readShell(text, budget)
  if (type === 'application/node.eks.aws') return [readDocument(text, budget) ?? []].flat()
  if (/^[ \t]*(?:\[{1,2}[ \t]*)?"?settings"?[ \t]*[.\]]/m.test(text))
    return [readBottlerocket(text, budget)]
  if (/^(apiVersion|kind|\{|---)/m.test(start)) return [readDocument(text, budget) ?? []].flat()
  throw new Unreadable(
    start.startsWith('#include')
      ? 'it includes what lies elsewhere'
      : `${type === '' ? 'it' : 'a part of it'} is of no known form`,
  )
}
