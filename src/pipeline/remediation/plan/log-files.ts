/** The full logrotate file that a node should have, and the step that writes it. Only the policy decides; for other files the reason names what to add to the policy. */

import { byText } from '#base/text.ts'
import { isLogrotateFile } from '#facts/logrotate.ts'
import { placedBlocks, podLogsFolder, removableBlocks } from '#judge/logs/idle-rotation.ts'
import {
  keptBytes,
  type LogBlock,
  type LogFile,
  logFilesOf,
  ownValue,
  settingsOf,
  wantedHash,
} from '#judge/logs/logrotate.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { bytes, shorten } from '#judge/text.ts'
import type { DurableFix } from '#model/finding.ts'
import type { Host, HostLogrotate } from '#model/input/inspection.ts'
import type { NodeIdentity, NodeInput } from '#model/input/record.ts'
import type { CohortFile } from '#model/plan.ts'
import type { Policy, WantedLogRotation } from '#model/policy.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { instanceIdOf } from '#remediate/plan/never.ts'
import {
  type LogrotateStyle,
  logrotateStyleOf,
  parseLogrotate,
  type WrittenBlock,
  writtenBlocks,
} from '#remediate/remedies/logrotate-text.ts'
import { syncLogRotation } from '#remediate/remedies/sync-log-rotation.ts'
import type { NodeOutcome } from './builder.ts'
import {
  noInstance,
  type PlanRules,
  plannedFile,
  type ReadNode,
  refusedChange,
  refusedNode,
} from './node.ts'

/** `content`: the whole file; `why`: the reason why no plan writes the file. */
export type WantedFile = FoundFile | { path: string; why: string }

interface FoundFile {
  path: string
  content: string
}

interface FileText {
  blocks: WrittenBlock[]
  style: LogrotateStyle
}

interface SeenFile {
  nodes: number
  entries: HostLogrotate[]
  /** Null: cannot be rebuilt; undefined: not tried yet. */
  text?: FileText | null
}

interface SeenMeaning {
  nodes: number
  /** Files by SHA-256. */
  files: Map<string, SeenFile>
}

interface FileGroup {
  nodes: number
  /** By path, then by the file's meaning (`writtenMeaning`). */
  paths: Map<string, Map<string, SeenMeaning>>
}

/** Key for nodes of one group and image family, which the rule log-rotation-drift compares. */
const groupOf = (cluster: string, { group, amiFamily }: NodeIdentity) =>
  JSON.stringify([cluster, group.kind, group.name, amiFamily])

const addContent = (path: string) => `set policy logRotation ${path} content`

export class FleetLogFiles {
  readonly #groups = new Map<string, FileGroup>()
  readonly #wanted: Policy['logRotation']

  constructor({ logRotation }: Policy) {
    this.#wanted = logRotation
  }

  takeNode({ cluster, host }: NodeInput, identity: NodeIdentity) {
    const files = host && logFilesOf(host)
    if (!files || !host) return
    const key = groupOf(cluster, identity)
    const group = this.#groups.get(key) ?? { nodes: 0, paths: new Map() }
    this.#groups.set(key, group)
    group.nodes++
    for (const [path, file] of Object.entries(files)) {
      const meanings = group.paths.get(path) ?? new Map<string, SeenMeaning>()
      group.paths.set(path, meanings)
      const meaning = meanings.get(writtenMeaning(file)) ?? { nodes: 0, files: new Map() }
      meanings.set(writtenMeaning(file), meaning)
      meaning.nodes++
      if (file.sha256 === null) continue
      const seen = meaning.files.get(file.sha256) ?? { nodes: 0, entries: entriesOf(host, path) }
      meaning.files.set(file.sha256, seen)
      seen.nodes++
    }
  }

  /** Files that are missing or not as wanted on this node, sorted by path. */
  wantedOf({ cluster, host }: NodeInput, identity: NodeIdentity): WantedFile[] {
    const files = host && logFilesOf(host)
    const group = this.#groups.get(groupOf(cluster, identity))
    if (!files || !group || !host) return []
    const paths = [...new Set([...Object.keys(this.#wanted), ...group.paths.keys()])].toSorted(
      byText,
    )
    return paths.flatMap(path => {
      const wanted = ownValue(this.#wanted, path)
      const file = ownValue(files, path)
      return (
        (wanted
          ? this.#wantedByPolicy(path, wanted, file, host)
          : this.#wantedByPeers(path, file, group)) ?? []
      )
    })
  }

  /**
   * Files with blocks that have no effect.
   * @param subject of the same node
   */
  withIdleBlocks({ host }: NodeInput, subject: NodeSubject): WantedFile[] {
    const files = host && logFilesOf(host)
    if (!files || !host) return []
    const idle = Map.groupBy(
      removableBlocks({ ...subject, host }, placedBlocks(files, podLogsFolder(subject))),
      ({ path }) => path,
    )
    return [...idle].flatMap(([path, placed]) => {
      const wanted = ownValue(this.#wanted, path)
      if (wanted) return this.#wantedByPolicy(path, wanted, ownValue(files, path), host) ?? []
      const patterns = placed.flatMap(({ block }) => block.patterns).join(', ')
      return {
        path,
        why: `${path} has blocks without effect (${shorten(patterns, 200)}), and the policy does not name the file: ${addContent(path)} without these blocks`,
      }
    })
  }

  #wantedByPolicy(
    path: string,
    wanted: WantedLogRotation,
    file: LogFile | null,
    host: Host,
  ): WantedFile | null {
    const hash = wantedHash(wanted)
    if (hash !== null) {
      if (file?.sha256 === hash) return null
      if (wanted.content !== null) return { path, content: wanted.content }
      const text = this.#textOf(path, hash)
      return text
        ? { path, content: text.style(text.blocks) }
        : {
            path,
            why: `no node that was read has ${path} with the wanted hash in a form that can be rebuilt: ${addContent(path)}`,
          }
    }
    if (!file)
      return {
        path,
        why: `the node has no ${path}, and the policy does not say all of it: ${addContent(path)}`,
      }
    if (hasDirectives(file, wanted.directives)) return null
    const own = file.sha256 === null ? null : rebuildFile(entriesOf(host, path), file.sha256)
    return own
      ? {
          path,
          content: own.style(
            own.blocks.map(block => changedBlock(block, wanted.directives, own.blocks.length > 1)),
          ),
        }
      : {
          path,
          why: `the text of ${path} cannot be rebuilt from what was read (comments, or scripts): ${addContent(path)}`,
        }
  }

  #wantedByPeers(
    path: string,
    file: LogFile | null,
    { nodes, paths }: FileGroup,
  ): WantedFile | null {
    const meanings = [...(paths.get(path) ?? [])]
    const holders = meanings.reduce((sum, [, meaning]) => sum + meaning.nodes, 0)
    const norm = meanings.find(([, meaning]) => meaning.nodes * 2 > nodes)
    if (!norm) {
      if ((nodes - holders) * 2 <= nodes)
        return { path, why: `no majority of its group agrees about ${path}: ${addContent(path)}` }
      return file
        ? { path, why: `most of its group have no ${path}, and a plan removes no file` }
        : null
    }
    const [meant, { files }] = norm
    if (file && writtenMeaning(file) === meant) return null
    const common = [...files].toSorted(
      ([a, one], [b, other]) => other.nodes - one.nodes || byText(a, b),
    )
    const hash = common.find(([sha256]) => this.#textOf(path, sha256) !== null)?.[0]
    return {
      path,
      why:
        hash === undefined
          ? `the text of ${path} as its group has it cannot be rebuilt from what was read (comments, or scripts): ${addContent(path)}`
          : `the policy does not name ${path}: to write the file that most of its group have, set policy logRotation ${path} sha256 to ${hash}`,
    }
  }

  /** Text of the file with this hash from any node; null: no node has the file, or it cannot be rebuilt. */
  #textOf(path: string, hash: string) {
    for (const { paths } of this.#groups.values())
      for (const { files } of paths.get(path)?.values() ?? []) {
        const seen = files.get(hash)
        if (!seen) continue
        seen.text ??= rebuildFile(seen.entries, hash)
        return seen.text
      }
    return null
  }
}

const entriesOf = ({ logrotate = [] }: Host, path: string) =>
  logrotate.filter(entry => entry.path === path)

function rebuildFile(entries: readonly HostLogrotate[], hash: string): FileText | null {
  const blocks = writtenBlocks(entries)
  const style = blocks && logrotateStyleOf(blocks, hash)
  return style ? { blocks: blocks ?? [], style } : null
}

/** The directives written in the file itself, in any order. Inherited directives belong to another file. */
const writtenMeaning = ({ blocks }: LogFile) =>
  JSON.stringify(
    Object.entries(blocks)
      .toSorted(([a], [b]) => byText(a, b))
      .map(([name, { settings, written }]) => [
        name,
        written.toSorted(byText).map(one => [one, ownValue(settings, one)?.canonical]),
      ]),
  )

/** Whether each block has the wanted directives. If the file has blocks, directives outside of them do not count. */
function hasDirectives({ blocks }: LogFile, directives: WantedLogRotation['directives']) {
  const asked = Object.entries(settingsOf(directives))
  const inside = Object.entries(blocks).filter(([name], _, all) => name !== '' || all.length === 1)
  return inside.every(([, { settings }]) =>
    asked.every(
      ([name, { canonical }]) => (ownValue(settings, name)?.canonical ?? '') === canonical,
    ),
  )
}

/** Replaces the directives that set the same settings by the wanted directives. */
function changedBlock(
  block: WrittenBlock,
  wanted: WantedLogRotation['directives'],
  hasOthers: boolean,
): WrittenBlock {
  if (block.patterns.length === 0 && hasOthers) return block
  const settingNamesOf = (name: string, value: string | number | boolean) =>
    Object.keys(settingsOf({ [name]: value }))
  const asked = Object.entries(wanted)
  const taken = new Set(asked.flatMap(([name, value]) => settingNamesOf(name, value)))
  const kept = block.directives.filter(
    ([name, value]) =>
      !settingNamesOf(name, value === '' ? true : value).some(setting => taken.has(setting)),
  )
  const added = asked.flatMap(([name, value]): [string, string][] =>
    value === false ? [] : [[name, value === true ? '' : String(value)]],
  )
  return { ...block, directives: [...kept, ...added] }
}

export function planLogFile(
  node: ReadNode,
  { path, content }: FoundFile,
  rules: PlanRules,
): NodeOutcome {
  const { record, identity } = node
  const instanceId = instanceIdOf(identity)
  if (instanceId === null) return refusedNode(noInstance)
  const found = syncLogRotation(record.host, path, content)
  if ('refused' in found) return refusedChange(found, record)
  const { host, ...change } = found
  const { oldSha256: before, newSha256: after } = change
  if (before === after)
    return refusedNode(`${path} has the wanted bytes already: what differs is what it inherits`)
  const says = keptText(path, record.host ?? {}, host)
  return plannedFile(node, { change, instanceId, says }, { before, after }, rules)
}

export const cohortFileOf = ({ path, content }: FoundFile): CohortFile => ({
  path,
  sha256: sha256(content),
})

/** The file as a shell part of the user data or a step of the image build. Empty if no plan may write the file. */
export const logFileText = ({ path, content }: FoundFile): DurableFix[] =>
  !isLogrotateFile(path) || typeof parseLogrotate(content) === 'string'
    ? []
    : [
        {
          target: 'launch-template',
          snippet: `#!/bin/sh\n# ${path}, as a shell part of the user data or in the build of the image\ncat >${path} <<'END-OF-FILE'\n${content}END-OF-FILE\nchmod 644 ${path}\n`,
        },
      ]

/** Describes the log whose kept bytes the file changes most. Undefined: the file changes the kept bytes of no log. */
function keptText(path: string, before: Host, after: Host) {
  const blocksIn = (host: Host): Readonly<Record<string, LogBlock>> =>
    ownValue(logFilesOf(host) ?? {}, path)?.blocks ?? {}
  const old = blocksIn(before)
  const changed = Object.entries(blocksIn(after)).flatMap(([name, block]) => {
    const was = ownValue(old, name)
    const [from, to] = [was && keptBytes(was), keptBytes(block)]
    return !was || from === to
      ? []
      : [{ name, from: from ?? Number.POSITIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY }]
  })
  const [most] = changed.toSorted((a, b) => Math.abs(b.from - b.to) - Math.abs(a.from - a.to))
  if (!most) return undefined
  const sizeText = (count: number) => (Number.isFinite(count) ? bytes(count) : 'whatever comes')
  return `A log of ${shorten(most.name, 150)} may keep ${sizeText(most.to)} there, today ${sizeText(most.from)}.`
}
