/**
 * A node's logrotate files, by meaning: `100M` is `104857600`, and directives before a block also hold in the block. Of two times or sizes,
 * the later one counts.
 *
 * Source: logrotate's config.c (readConfigFile, readAllConfigPaths) and logrotate.c (findNeedRotating).
 */

import { hash } from 'node:crypto'
import { type RawObject, textOfValue } from '#base/raw-object.ts'
import { by } from '#base/text.ts'
import { gibibyte, mebibyte } from '#base/units.ts'
import { probePart } from '#facts/probe-parts.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { shorten } from '#judge/text.ts'
import type { Host } from '#model/input/inspection.ts'
import type { WantedLogRotation } from '#model/policy.ts'
import { matchesPath, seenLogsOf } from './log-paths.ts'
import { roomForLogs } from './logs.ts'

export interface Setting {
  /** Equal for settings with the same meaning; empty: not set. */
  canonical: string
  shown: string
}
export type Settings = Record<string, Setting>

export interface LogBlock {
  /** Empty: directives outside of any block. */
  patterns: string[]
  /** Settings in force: the block's own, and those inherited from its file and earlier files. */
  settings: Settings
  /** Names of the settings that the block itself contains. */
  written: string[]
}

export interface LogFile {
  /** Null: the snapshot has no hash of the file. */
  sha256: string | null
  /** By the blocks' patterns; the empty text is for directives outside of blocks. No entry: the file has no directives. */
  blocks: Record<string, LogBlock>
}

export type LogFiles = Record<string, LogFile>

const mainFile = '/etc/logrotate.conf'
const mostEntries = 400
const mostDirectives = 60
const mostPatterns = 50
const shownLength = 100
const criteria = new Set(['minutes', 'hourly', 'daily', 'weekly', 'monthly', 'yearly'])
const flags = new Set(
  'allowhardlink compress copy copytruncate create createolddir dateext datehourago dateyesterday delaycompress ifempty mail missingok olddir renamecopy sharedscripts shred'.split(
    ' ',
  ),
)
const sizes = new Set(['maxsize', 'minsize'])
/** Source: logrotate's config.c, defConfig. */
const defaults: Settings = {
  criterion: { canonical: 'size 1048576', shown: 'size 1M (logrotate has it so by itself)' },
  rotate: { canonical: '0', shown: '0 (logrotate has it so by itself)' },
  start: { canonical: '1', shown: '1' },
  ifempty: { canonical: 'set', shown: 'set' },
}
const notSet: Setting = { canonical: '', shown: 'not set' }

/** The record's own value; names from outside like `constructor` must not match inherited ones. */
export const ownValue = <Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | null => (Object.hasOwn(record, name) ? (record[name] ?? null) : null)

export const settingOf = (settings: Settings, name: string): Setting =>
  ownValue(settings, name) ?? ownValue(defaults, name) ?? notSet

/** SHA-256 of the file that the policy wants. Null: the policy names no whole file. */
export const wantedHash = ({ sha256, content }: WantedLogRotation): string | null =>
  content === null ? sha256 : hash('sha256', content)

/** Null: no file was read. */
export function logFilesOf({ logrotate }: Host): LogFiles | null {
  if (!logrotate) return null
  const entries = logrotate.filter(({ path }) => path !== undefined)
  const ordered = [
    ...entries.filter(({ path }) => path === mainFile),
    ...entries.filter(({ path }) => path !== mainFile),
  ]
  const files = new Map<string, { sha256: string | null; blocks: Map<string, LogBlock> }>()
  // A file's directives outside of blocks also hold for the files after it.
  let inForce: Settings = {}
  for (const { path, sha256, directives } of ordered.slice(0, mostEntries)) {
    const name = shorten(String(path), 300)
    const file = files.get(name) ?? {
      sha256: sha256 ? shorten(sha256, 64) : null,
      blocks: new Map(),
    }
    files.set(name, file)
    const patterns = patternsOf(directives?.patterns)
    const own = settingsOf(directives ?? {})
    if (patterns.length > 0)
      addBlock(file.blocks, shortText(patterns.join(' ')), {
        patterns,
        settings: { ...inForce, ...own },
        written: Object.keys(own),
      })
    else if (Object.keys(own).length > 0) {
      inForce = { ...inForce, ...own }
      const before = file.blocks.get('')?.written ?? []
      file.blocks.set('', {
        patterns,
        settings: inForce,
        written: [...new Set([...before, ...Object.keys(own)])],
      })
    }
  }
  const sorted = [...files].toSorted(by(([path]) => path))
  return Object.fromEntries(
    sorted.map(([path, { sha256, blocks }]) => [
      path,
      { sha256, blocks: Object.fromEntries(blocks) },
    ]),
  )
}

/** Blocks with the same patterns stay separate: the second one gets a number. */
function addBlock(blocks: Map<string, LogBlock>, key: string, block: LogBlock) {
  let name = key
  for (let nth = 2; blocks.has(name); nth++) name = `${key} (${nth})`
  blocks.set(name, block)
}

export const patternsOf = (patterns: unknown) =>
  [patterns]
    .flat()
    .filter(pattern => typeof pattern === 'string')
    .slice(0, mostPatterns)
    .map(shortText)
    .toSorted()

/** The hash distinguishes two long texts with the same beginning. */
const shortText = (text: string) =>
  text.length <= 300
    ? shorten(text, 300)
    : `${shorten(text, 280)} ${hash('sha256', text).slice(0, 16)}`

/** Directives by the setting they change, in file order: `nocompress` sets `compress`, `daily` sets the `criterion`. */
export function settingsOf(directives: RawObject): Settings {
  const settings = new Map<string, Setting>()
  const takeSetting = (name: string, canonical: string, shown = canonical) => {
    settings.set(name, { canonical, shown: shorten(shown, shownLength) })
  }
  for (const [written, value] of Object.entries(directives).slice(0, mostDirectives)) {
    const name = written.toLowerCase()
    if (name === 'patterns' || !/^[a-z]{1,30}$/.test(name)) continue
    const text = directiveText(value)
    const negated = name === 'notifempty' ? 'ifempty' : name.replace(/^no/, '')
    if (name === 'size') {
      if (value !== false) takeSetting('criterion', `size ${sizeOf(value) ?? text}`, `size ${text}`)
    } else if (criteria.has(name)) {
      if (value !== false)
        takeSetting('criterion', text === '' || text === '0' ? name : `${name} ${text}`)
    } else if (sizes.has(name)) {
      const bytes = sizeOf(value)
      // A size of zero equals no size.
      takeSetting(
        name,
        value === false || bytes === 0 ? '' : String(bytes ?? text),
        value === false ? notSet.shown : text,
      )
    } else if (negated !== name && flags.has(negated) && value === false)
      takeSetting(negated, 'set')
    else if (negated !== name && flags.has(negated)) takeSetting(negated, '', notSet.shown)
    else if (value === false) takeSetting(name, '', notSet.shown)
    else if (text === '') takeSetting(name, 'set')
    else takeSetting(name, /^-?\d{1,15}$/.test(text) ? String(Number(text)) : text, text)
  }
  return Object.fromEntries(settings)
}

/** Empty if a directive has no value. */
function directiveText(value: unknown) {
  if (Array.isArray(value))
    return shorten(value.slice(0, mostPatterns).map(textOfValue).join(', '), 300)
  return typeof value === 'string' || typeof value === 'number'
    ? shorten(String(value), 300).trim().replace(/\s+/g, ' ')
    : ''
}

const multipliers: Readonly<Record<string, number>> = {
  '': 1,
  k: 1024,
  K: 1024,
  M: 1024 ** 2,
  G: gibibyte,
}

/** Null: logrotate would not accept the size either (it has no units `m` and `Mi`). */
function sizeOf(value: unknown) {
  const [, digits, unit = ''] = /^(\d{1,15})([kKMG]?)$/.exec(directiveText(value)) ?? []
  const bytes = Number(digits) * (multipliers[unit] ?? NaN)
  return Number.isSafeInteger(bytes) ? bytes : null
}

const mostRotations = 2 ** 31 - 1

/** −1: all rotations are kept. Null: logrotate refuses the value. */
export function rotationsOf(settings: Settings): number | null {
  const { canonical } = settingOf(settings, 'rotate')
  const count = /^-?\d{1,10}$/.test(canonical) ? Number(canonical) : NaN
  return count >= -1 && count <= mostRotations ? count : null
}

/** A size in bytes. Null: the size is not set, or logrotate refuses the value. */
export function sizeIn(settings: Settings, name: 'size' | 'maxsize' | 'minsize'): number | null {
  const { canonical } = settingOf(settings, name === 'size' ? 'criterion' : name)
  const digits = name === 'size' ? canonical.replace(/^size /, '') : canonical
  return /^\d{1,16}$/.test(digits) ? Number(digits) : null
}

/** The values in a block that logrotate refuses. It ignores a block with such a value. */
export function refusedValues({ settings }: LogBlock) {
  const refused = (['size', 'maxsize', 'minsize'] as const).flatMap(name => {
    const isSize = name === 'size'
    const { canonical, shown } = settingOf(settings, isSize ? 'criterion' : name)
    const isSet = isSize ? canonical.startsWith('size ') : canonical !== ''
    if (!isSet || sizeIn(settings, name) !== null) return []
    return [isSize ? shown : `${name} ${shown}`]
  })
  return rotationsOf(settings) === null
    ? [...refused, `rotate ${settingOf(settings, 'rotate').shown}`]
    : refused
}

/** The size in bytes from which every run rotates, whatever the time. Null: no such size is set. */
export function limitBytes(settings: Settings): number | null {
  const limits = [sizeIn(settings, 'size'), sizeIn(settings, 'maxsize')].filter(
    limit => limit !== null,
  )
  return limits.length === 0 ? null : Math.min(...limits)
}

/**
 * Maximum bytes of one log and its rotated files; null: no size limits them. A log passes its size until the next run, so each file
 * may be larger by `beyondBytes`, the excess that was seen. Compressed files are smaller.
 */
export function keptBytes(block: LogBlock, beyondBytes = 0): number | null {
  const rotations = rotationsOf(block.settings)
  const limit = limitBytes(block.settings)
  return limit === null || rotations === null || rotations < 0 || refusedValues(block).length > 0
    ? null
    : (rotations + 1) * (limit + beyondBytes)
}

/** The directives of a block that decide how much is kept: `size 100M, maxsize 1G, rotate 5, copytruncate`. */
export function blockInWords({ settings }: LogBlock) {
  const words = ['maxsize', 'minsize', 'rotate'].flatMap(name => {
    const { canonical, shown } = settingOf(settings, name)
    return canonical === '' ? [] : [`${name} ${shown}`]
  })
  const methods = ['copytruncate', 'copy', 'create', 'dateext', 'compress'].filter(
    name => settingOf(settings, name).canonical !== '',
  )
  return [settingOf(settings, 'criterion').shown, ...words, ...methods].join(', ')
}

export type NodeRotation = ReturnType<typeof nodeRotation>

const mostUnread = 100
const mostDays = 400

export function nodeRotation({ host, eviction, filesystems }: NodeSubject & { host: Host }) {
  const files = logFilesOf(host)
  const room = haveLogsOwnDisk(host) ? null : roomForLogs({ eviction, filesystems })
  return {
    files,
    unread: unreadFiles(host),
    /** By path: the day of the file's last change, by the node's clock, if known. Days, not hours, so that more nodes share one fact. */
    changedOn: daysOf(host),
    /** By pattern: bytes by which the largest log exceeded its rotation size. */
    beyondBytes: files ? overshootBytes(files, host) : {},
    /** Bytes of nodefs left before eviction. Null: unknown, or logs lie on another disk. */
    roomBytes: room === null ? null : roundDown(room),
  }
}

/** Rounded to what a report shows, so that nodes with smaller differences share one fact. */
function roundDown(count: number) {
  const step = count >= gibibyte ? gibibyte : mebibyte
  return Math.floor(count / step) * step
}

function haveLogsOwnDisk({ filesystems = [] }: Host) {
  const [logs, nodefs] = ['logs', 'nodefs'].map(
    wanted => filesystems.find(({ role }) => role === wanted)?.mount,
  )
  return logs !== undefined && nodefs !== undefined && logs !== nodefs
}

/** Why files were not read, by path. The empty text as key: why not all files were listed. */
export function unreadFiles({ unread = [] }: Host): Record<string, string> {
  const about = unread.flatMap(({ what = '', why }) => {
    const part = probePart(what)
    if (part.is !== 'logrotate' && part.is !== 'logrotate-file') return []
    const path = part.is === 'logrotate-file' ? shorten(part.path, 300) : ''
    return [[path, shorten(String(why), 200)] as const]
  })
  return Object.fromEntries(about.slice(0, mostUnread))
}

/** Why not all files of logrotate are known. Null: all were read. */
export function whyFilesUnknown({
  files,
  unread,
}: Pick<NodeRotation, 'files' | 'unread'>): string | null {
  const [path, why] = Object.entries(unread)[0] ?? []
  if (!files)
    return `host: the files of logrotate were not read${why === undefined ? '' : `: ${why}`}`
  return why === undefined ? null : `host: ${path || 'some files of logrotate'}: ${why}`
}

function daysOf({ logrotate = [] }: Host): Record<string, string> {
  const days = logrotate.flatMap(({ path, modifiedAt }) => {
    const [day] = /^\d{4}-\d\d-\d\d(?=T)/.exec(modifiedAt ?? '') ?? []
    return path === undefined || day === undefined ? [] : [[shorten(path, 300), day] as const]
  })
  return Object.fromEntries(days.slice(0, mostDays).toSorted(by(([path]) => path)))
}

/** Bytes above a rotation size were written since logrotate's last run, which would have rotated them. */
function overshootBytes(files: LogFiles, host: Host): Record<string, number> {
  const seen = seenLogsOf(host)?.biggest ?? []
  const found = new Map<string, number>()
  for (const { patterns, settings } of Object.values(files).flatMap(({ blocks }) =>
    Object.values(blocks),
  )) {
    const limit = limitBytes(settings)
    if (limit === null) continue
    for (const pattern of patterns)
      for (const { path, bytes } of seen)
        if (bytes >= limit + mebibyte && matchesPath(pattern, path))
          found.set(pattern, Math.max(found.get(pattern) ?? 0, roundDown(bytes - limit)))
  }
  return Object.fromEntries([...found].toSorted(by(([path]) => path)))
}

/** Whether the existence of a file is known: the file was read, or all files were listed. */
export const knowsFile = ({ files, unread }: NodeRotation, path: string) =>
  files !== null &&
  ownValue(unread, path) === null &&
  (ownValue(files, path) !== null || ownValue(unread, '') === null)

/** Null: the file is missing, empty or commented out. logrotate treats these cases alike. */
export function fileIn({ files }: NodeRotation, path: string): LogFile | null {
  const file = files && ownValue(files, path)
  return file && Object.keys(file.blocks).length > 0 ? file : null
}

export const blockIn = (fact: NodeRotation, path: string, block: string): LogBlock | null =>
  ownValue(fileIn(fact, path)?.blocks ?? {}, block)

export const blockOvershoot = ({ beyondBytes }: NodeRotation, { patterns }: LogBlock) =>
  Math.max(0, ...patterns.map(pattern => ownValue(beyondBytes, pattern) ?? 0))
