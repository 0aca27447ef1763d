import { byText } from '#base/text/text-order.ts'
import { probePart } from '#facts/probe-parts.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { mebibyte, shorten } from '#judge/text.ts'
import type { Host } from '#model/input/inspection.ts'
import { matchesPath, seenLogsOf } from './log-paths.ts'
import {
  type LogBlock,
  type LogFile,
  type LogFiles,
  limitBytes,
  logFilesOf,
  ownOf,
} from './logrotate.ts'
import { roomForLogs } from './logs.ts'

export interface NodeRotation {
  files: LogFiles | null
  /** Why each unread file could not be read, by its path. The empty text as key: why not all files were listed. */
  unread: Record<string, string>
  /** By path: the day of the file's last change, by the node's clock, if known. Days, not hours, so that more nodes share one fact. */
  changedOn: Record<string, string>
  /** By pattern: bytes by which the largest log exceeded its rotation size. */
  beyondBytes: Record<string, number>
  /** Bytes of nodefs left before eviction. Null: unknown, or logs lie on another disk. */
  roomBytes: number | null
}

const mostUnread = 100
const mostDays = 400

export function nodeRotation({
  host,
  eviction,
  filesystems,
}: Pick<NodeSubject, 'eviction' | 'filesystems'> & { host: Host }): NodeRotation {
  const files = logFilesOf(host)
  const room = haveLogsOwnDisk(host) ? null : roomForLogs({ eviction, filesystems })
  return {
    files,
    unread: unreadFiles(host),
    changedOn: daysOf(host),
    beyondBytes: files ? beyondOf(files, host) : {},
    roomBytes: room === null ? null : roundDown(room),
  }
}

/** Rounded to what a report shows, so that nodes with smaller differences share one fact. */
function roundDown(count: number) {
  const step = count >= 1024 * mebibyte ? 1024 * mebibyte : mebibyte
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
  if (files === null)
    return `host: the files of logrotate were not read${why === undefined ? '' : `: ${why}`}`
  return why === undefined ? null : `host: ${path || 'some files of logrotate'}: ${why}`
}

function daysOf({ logrotate = [] }: Host): Record<string, string> {
  const days = logrotate.flatMap(({ path, modifiedAt }) => {
    const [day] = /^\d{4}-\d\d-\d\d(?=T)/.exec(modifiedAt ?? '') ?? []
    return path === undefined || day === undefined ? [] : [[shorten(path, 300), day] as const]
  })
  return Object.fromEntries(days.slice(0, mostDays).toSorted(([a], [b]) => byText(a, b)))
}

/** Bytes above a rotation size were written since logrotate's last run, which would have rotated them. */
function beyondOf(files: LogFiles, host: Host): Record<string, number> {
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
  return Object.fromEntries([...found].toSorted(([a], [b]) => byText(a, b)))
}

/** Whether the existence of a file is known: the file was read, or all files were listed. */
export const knowsFile = ({ files, unread }: NodeRotation, path: string): boolean =>
  files !== null &&
  ownOf(unread, path) === null &&
  (ownOf(files, path) !== null || ownOf(unread, '') === null)

/** Null: the file is missing, empty or commented out. logrotate treats these cases alike. */
export function fileIn({ files }: NodeRotation, path: string): LogFile | null {
  const file = files && ownOf(files, path)
  return file && Object.keys(file.blocks).length > 0 ? file : null
}

export const blockIn = (fact: NodeRotation, path: string, block: string): LogBlock | null =>
  ownOf(fileIn(fact, path)?.blocks ?? {}, block)

export const beyondIn = ({ beyondBytes }: NodeRotation, { patterns }: LogBlock): number =>
  Math.max(0, ...patterns.map(pattern => ownOf(beyondBytes, pattern) ?? 0))
