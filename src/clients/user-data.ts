/**
 * Reads the kubelet's settings from an instance's user data. User data may hold secrets, so only settings cut to known kubelet fields leave this
 * file: no line of the text, and no text of a parser's error.
 *
 * Source  cloud-init, User data formats; amazon-eks-ami nodeadm/internal/configprovider; Bottlerocket's README, User data
 */
import { ForeignTextError, TextBudget, unpackGzip } from '#base/foreign-text.ts'
import { inputLimits, textLimits } from '#base/limits.ts'
import { type LocatedText, textFrom, textOnLine } from '#base/yaml-place.ts'
import { cutSettings, type KubeletSettings } from '#model/kubelet/settings.ts'
import { readBottlerocket } from './user-data/bottlerocket.ts'
import { readCloudConfig } from './user-data/cloud-config.ts'
import { readMime } from './user-data/mime.ts'
import { nodeConfigType, type Piece, readDocument, together } from './user-data/settings.ts'
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
  const { pieces, unread } = userDataPieces(textFrom(text, 1), cluster)
  const read = pieces.filter(one => one.unread === null)
  const settings = together(read).flatMap(found => cutSettings(found) ?? [])
  return {
    settings: settings.filter(({ config, flags }) => Object.keys(config).length + flags.length > 0),
    unread: [...new Set(unread.map(({ why }) => why))],
  }
}

/** The same, piece by piece in the order of the text. Secrets are not cut. */
export function userDataPieces(
  { text, fileLine }: LocatedText,
  cluster: TextBudget | null,
): { pieces: Piece[]; unread: { why: string; line: number }[] } {
  const budget = new TextBudget(textLimits.userData, cluster)
  const pieces: Piece[] = []
  const unread = new Map<string, number>()
  const attempt = (line: number, read: () => Piece[]) => {
    try {
      pieces.push(...read())
    } catch (error) {
      const more = unread.size < maxReasons ? null : 'other parts of it cannot be read either'
      const known =
        error instanceof ForeignTextError ? error : new ForeignTextError('it cannot be read')
      unread.set(more ?? known.message, known.line ?? line)
    }
  }
  attempt(fileLine(1), () => {
    if (text.length > inputLimits.userData.maxBytes)
      throw new ForeignTextError('it is longer than any user data')
    const written = Buffer.from(text)
    const bytes = plain(written, budget)
    const parts = readMime(bytes) ?? [{ type: '', bytes, line: 1, isEncoded: false }]
    for (const { type, line, isEncoded, bytes: body } of parts) {
      const first = fileLine(bytes === written ? line : 1)
      attempt(first, () => {
        const decoded = plain(body, budget)
        const isPacked = isEncoded || bytes !== written || decoded !== body
        const part = decoded.toString()
        const located = isPacked
          ? textOnLine(part, first)
          : { text: part, fileLine: (inner: number) => fileLine(line + inner - 1) }
        return readPart(type, located, budget)
      })
    }
    return []
  })
  return { pieces, unread: [...unread].map(([why, line]) => ({ why, line })) }
}

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

const jinja = /^## template: *jinja\s*(?=\n)/

/** Chooses the reader by the MIME type or the first line. @throws ForeignTextError */
function readPart(type: string, written: LocatedText, budget: TextBudget): Piece[] {
  const text = written.text.replace(/^\uFEFF/, '').replace(jinja, '')
  const located = { ...written, text }
  const start = text.trimStart()
  if (start === '') return []
  if (start.startsWith('#cloud-config') || type === 'text/cloud-config')
    return readCloudConfig(located, budget)
  if (
    /^#!|^#cloud-boothook|^<(powershell|script)>/i.test(start) ||
    /shellscript|boothook/.test(type)
  )
    return readShell(located, budget)
  if (type === nodeConfigType) return [readDocument(located, budget) ?? []].flat()
  if (/^[ \t]*(?:\[{1,2}[ \t]*)?"?settings"?[ \t]*[.\]]/m.test(text))
    return [readBottlerocket(located, budget)]
  if (/^(apiVersion|kind|\{|---)/m.test(start)) return [readDocument(located, budget) ?? []].flat()
  throw new ForeignTextError(
    start.startsWith('#include')
      ? 'it includes what lies elsewhere'
      : `${type === '' ? 'it' : 'a part of it'} is of no known form`,
  )
}
