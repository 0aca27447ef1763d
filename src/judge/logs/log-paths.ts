import { shorten } from '#judge/text.ts'
import type { Host, HostLog } from '#model/input/inspection.ts'

/** No wildcard matches a `/`. */
export function matchesPath(pattern: string, path: string) {
  const wanted = pattern.split('/')
  const parts = path.split('/')
  return (
    wanted.length === parts.length &&
    parts.every((part, index) => matchesShellGlob(wanted[index] ?? '', part))
  )
}

export type Place =
  /** Only Docker writes in this place. */
  | 'docker'
  /** Symbolic links to the logs; the kubelet makes them. */
  | 'links'
  /** The container runtime writes these logs, and the kubelet rotates them. */
  | 'pods'
  /** Below the kubelet's log folder, but at a depth without logs. */
  | 'nothing'
  | 'elsewhere'

/** Where the kubelet keeps container logs unless its `podLogsDir` says otherwise. Source: pkg/kubelet/apis/config/v1beta1/defaults.go DefaultPodLogsDir. */
export const usualPodLogs = '/var/log/pods'
/** `NAMESPACE_NAME_UID/CONTAINER/0.log` */
const podLogDepth = 3

/** Sources: pkg/kubelet/kuberuntime/helpers.go BuildPodLogsDirectory, BuildContainerLogsDirectory, legacy.go legacyLogSymlink. */
export function placeOf(pattern: string, podLogs = usualPodLogs): Place {
  if (pattern.startsWith('/var/lib/docker/containers/')) return 'docker'
  if (pattern.startsWith('/var/log/containers/')) return 'links'
  const parts = pattern.split('/')
  const folder = podLogs.split('/')
  const isBelowPods = folder.every((part, index) => matchesShellGlob(parts[index] ?? '', part))
  if (isBelowPods && parts.length === folder.length + podLogDepth) return 'pods'
  return pattern.startsWith(`${podLogs}/`) ? 'nothing' : 'elsewhere'
}

/** Null: logs were not read. */
export function seenLogsOf(host: Host) {
  if (!host.logs) return null
  const { files, biggest, rotatedByOthers } = host.logs
  const logs = logsIn(biggest)
  return {
    biggest: logs,
    /** Whether `biggest` lists every existing file. */
    areAll: files !== undefined && files <= logs.length,
    /** Rotated logs that the kubelet did not rotate. */
    byOthers:
      rotatedByOthers && isCount(rotatedByOthers.files) && isCount(rotatedByOthers.bytes)
        ? {
            files: rotatedByOthers.files,
            bytes: rotatedByOthers.bytes,
            sample: logsIn(rotatedByOthers.sample),
          }
        : null,
  }
}

const mostLogs = 50

const logsIn = (logs: readonly HostLog[] = []) =>
  logs
    .slice(0, mostLogs)
    .flatMap(({ path, bytes }) =>
      path !== undefined && isCount(bytes) ? [{ path: shorten(path), bytes }] : [],
    )

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0

/*
 * Patterns of logrotate, one part of a path at a time. Source: glob(7); logrotate config.c calls glob() without braces.
 * Like glob(): `*`, `?`, `[a-z]`, `[!a-z]`; a backslash makes the next character literal; only a literal dot matches a leading dot.
 */

type Token = '*' | ((character: string) => boolean)

export function matchesShellGlob(pattern: string, name: string) {
  if (name.startsWith('.') && !/^\\?\./.test(pattern)) return false
  const tokens = tokensOf(pattern)
  const characters = Array.from(name)
  let [at, token, star, from] = [0, 0, -1, 0]
  // Only the last star is ever extended, so no pattern takes long.
  while (at < characters.length) {
    const wanted = tokens[token]
    if (wanted === '*') [star, from, token] = [token, at, token + 1]
    else if (wanted?.(characters[at] ?? '')) [at, token] = [at + 1, token + 1]
    else if (star >= 0) [from, at, token] = [from + 1, from + 1, star + 1]
    else return false
  }
  return tokens.slice(token).every(rest => rest === '*')
}

const isCharacter = (wanted: string) => (character: string) => character === wanted

function tokensOf(pattern: string): Token[] {
  const characters = Array.from(pattern)
  const tokens: Token[] = []
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    const list = character === '[' ? bracketAt(characters, at) : null
    if (list) {
      tokens.push(list.has)
      at = list.end
    } else if (character === '\\' && at + 1 < characters.length) {
      at += 1
      tokens.push(isCharacter(characters[at] ?? ''))
    } else tokens.push(tokenOf(character))
  }
  return tokens
}

function tokenOf(character: string): Token {
  if (character === '*') return '*'
  return character === '?' ? () => true : isCharacter(character)
}

/** Null: the bracket is not closed, so it is a literal character. */
function bracketAt(characters: readonly string[], start: number) {
  const isNot = characters[start + 1] === '!' || characters[start + 1] === '^'
  const first = start + (isNot ? 2 : 1)
  // A closing bracket right after the opening one is a member of the list.
  const end = characters.indexOf(']', first + 1)
  if (end < 0) return null
  const ranges: [from: string, to: string][] = []
  for (let at = first; at < end; at++) {
    const from = characters[at] ?? ''
    const isRange = characters[at + 1] === '-' && at + 2 < end
    ranges.push([from, isRange ? (characters[at + 2] ?? '') : from])
    if (isRange) at += 2
  }
  return {
    has: (character: string) =>
      ranges.some(([from, to]) => from <= character && character <= to) !== isNot,
    end,
  }
}
