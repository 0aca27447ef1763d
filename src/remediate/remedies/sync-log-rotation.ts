/** Writes one whole file of logrotate. Nothing restarts: logrotate reads the file at its next run. */
import { isLogrotateFile } from '#facts/logrotate.ts'
import { probePart } from '#facts/probe-parts.ts'
import type { Host, HostLogrotate } from '#model/input/inspection.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { parseLogrotate, type WrittenBlock } from './logrotate-text.ts'
import { isTooLong, type Remedied } from './remedy.ts'

/** @param host as read from the node; null: unread */
export function syncLogRotation(host: Host | null, path: string, content: string): Remedied {
  if (!host?.logrotate)
    return { refused: "the node's files of logrotate were not read", isUnread: true }
  if (!isLogrotateFile(path))
    return { refused: `${path.slice(0, 200)} is no file of logrotate that a plan may write` }
  const blocks = parseLogrotate(content)
  if (typeof blocks === 'string')
    return { refused: `what ${path} is meant to say is nothing that a plan writes: ${blocks}` }
  if (isTooLong(content)) return { refused: `the new ${path} is too long to be sent` }
  const present = presentHash(host, path)
  if (present === null) return { refused: `${path} may be there, and was not read` }
  const entries = host.logrotate
  const newSha256 = sha256(content)
  return {
    method: 'sync-file',
    path,
    oldSha256: present,
    newSha256,
    content,
    lastsUntil: 'replacement',
    host: {
      ...host,
      logrotate: [
        ...entries.filter(entry => entry.path !== path),
        ...entriesOfFile(path, newSha256, blocks),
      ],
    },
  }
}

/** `absent`: the node's list is complete and lacks the file; null: unknown. */
function presentHash({ unread = [], logrotate = [] }: Host, path: string) {
  const parts = unread.map(({ what = '' }) => probePart(what))
  if (
    parts.some(
      part => part.is === 'logrotate' || (part.is === 'logrotate-file' && part.path === path),
    )
  )
    return null
  const own = logrotate.filter(entry => entry.path === path)
  if (own.length === 0) return 'absent'
  const [hash, ...others] = new Set(own.map(entry => entry.sha256))
  return hash !== undefined && /^[a-f0-9]{64}$/.test(hash) && others.length === 0 ? hash : null
}

/** The node's files as it reports them. */
const entriesOfFile = (
  path: string,
  hash: string,
  blocks: readonly WrittenBlock[],
): HostLogrotate[] =>
  blocks.map(({ patterns, directives }) => ({
    path,
    sha256: hash,
    directives: {
      patterns,
      ...Object.fromEntries(directives.map(([name, value]) => [name, value === '' ? true : value])),
    },
  }))
