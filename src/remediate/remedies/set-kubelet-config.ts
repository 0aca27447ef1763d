/** Writes fields of the kubelet's configuration for the place that this node reads. Each place merges in its own way. */
import { stringify } from 'yaml'
import {
  isRawObject,
  leavesOf,
  mapOf,
  mergedValue,
  mergePatch,
  overlay,
  type RawObject,
} from '#base/raw-object.ts'
import {
  kubeletDropIn,
  kubeletFiles,
  nodeadmDropIn,
  nodeadmPiece,
  readsNodeadmFolder,
} from '#facts/eks/kubelet-places.ts'
import { flagOfField, flagSettings, flagValue } from '#facts/kubelet/flag-settings.ts'
import { isPlannableValue } from '#facts/kubelet/plannable-values.ts'
import type { Host, HostFile } from '#model/input/inspection.ts'
import type { PlanMethod } from '#model/plan.ts'
import { sha256 } from '#remediate/plan/canonical.ts'
import { type FileChange, isTooLong, type NodeToSet, type Remedied } from './remedy.ts'
import { setBottlerocket } from './set-bottlerocket.ts'

/** @param patch merge patch for the running configuration, of fields that a plan may change */
export function setKubeletConfig(node: NodeToSet, patch: RawObject): Remedied {
  const unfit = leavesOf(patch).find(([path, value]) => !isPlannableValue(path, value))
  if (unfit)
    return { refused: `${unfit[0].slice(0, 100)} would become no value that a kubelet would read` }
  const remedied =
    node.identity.amiFamily === 'Bottlerocket' ? setBottlerocket(node, patch) : setFile(node, patch)
  if ('refused' in remedied) return remedied
  // The place already has the value but does not run with it. Nothing would be written, so no kubelet would restart.
  if (remedied.newSha256 === remedied.oldSha256)
    return {
      refused:
        remedied.method === 'bottlerocket'
          ? 'its settings say so already, and its kubelet does not run with them: reboot it, or replace it'
          : `${remedied.path} says so already, and its kubelet does not run with it: ${remedied.method === 'nodeadm' ? 'reboot it' : 'restart the kubelet (systemctl restart kubelet)'}, or see which other place overrides it`,
    }
  return isTooLong(remedied.content)
    ? { refused: `the new ${remedied.path} is too long to be sent` }
    : remedied
}

interface WritableFile {
  path: string
  role: string
  sha256: string | null
  content: RawObject | null
}

interface WritableFiles {
  commandLine: string[]
  files: WritableFile[]
}

function setFile(node: NodeToSet, patch: RawObject): Remedied {
  const read = kubeletFilesOf(node.host)
  if (!read) return { refused: "the node's files were not read", isUnread: true }
  const { commandLine } = read
  if (flagValue(commandLine, 'config') === null)
    return { refused: "the kubelet's command line was not read, or names no configuration file" }
  const flag = overridingFlag(commandLine, Object.keys(patch))
  if (flag)
    return {
      refused: `the flag --${flag.name} on its command line takes the place of ${flag.field} in every file: change it where the node comes from`,
    }
  const folder = flagValue(commandLine, 'config-dir')?.replace(/(?<!\/)\/+$/, '') ?? null
  const place = placeOf(node, folder !== null)
  if (place === 'nodeadm') return nodeadmChange(node, read, patch)
  return place === 'drop-in' ? dropInChange(node, read, patch, folder) : mainFile(node, read, patch)
}

const pathFolder = (path: string) => path.slice(0, path.lastIndexOf('/'))

function placeOf({ identity, osImage, releaseVersion }: NodeToSet, hasFolder: boolean): PlanMethod {
  const { amiFamily, owner } = identity
  const isNodeadm = amiFamily === 'AL2023' || owner === 'hybrid'
  if (!isNodeadm) return 'kubelet-file'
  // On hybrid nodes nodeadm reads only the NodeConfig that it was given, and writes files only when it is called.
  if (owner !== 'hybrid' && readsNodeadmFolder(osImage, releaseVersion)) return 'nodeadm'
  return hasFolder ? 'drop-in' : 'kubelet-file'
}

function kubeletFilesOf(host: Host | null): WritableFiles | null {
  const { commandLine = [], files = [] } = host?.kubelet ?? {}
  const writable = files.flatMap(({ path, role, sha256: hash = '', content: written }) => {
    const content = isRawObject(written) ? written : null
    if (path === undefined || role === undefined) return []
    return [{ path, role, sha256: /^[a-f0-9]{64}$/.test(hash) ? hash : null, content }]
  })
  return files.length === 0 ? null : { commandLine, files: writable }
}

function overridingFlag(commandLine: readonly string[], fields: readonly string[]) {
  const { fields: given } = flagSettings(commandLine)
  const field = fields.find(one => given.has(one))
  return field === undefined ? null : { name: flagOfField.get(field) ?? field, field }
}

/**
 * A map in the main file is complete: a map with one signal removes every default. Other fields stay, byte for byte. On AL2023 nodeadm writes the file
 * anew at every boot.
 */
function mainFile(
  node: NodeToSet,
  { commandLine, files }: WritableFiles,
  patch: RawObject,
): Remedied {
  const path = flagValue(commandLine, 'config') ?? ''
  const file = files.find(one => one.role === 'config' && one.path === path)
  if (!kubeletFiles.includes(path))
    return { refused: `its configuration file ${path.slice(0, 200)} is none that a plan may write` }
  if (!file || file.sha256 === null || !file.content)
    return { refused: `${path} was read without its content or its hash` }
  const { content } = file
  const style = styles.find(style => sha256(style(content)) === file.sha256) ?? null
  if (!style)
    return {
      refused: `the text of ${path} cannot be rebuilt from what was read: it is no JSON as programs write it, or parts of it are secret`,
    }
  const next = new Map(Object.entries(content))
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) next.delete(field)
    else next.set(field, mergedValue(content[field] ?? node.running[field], value))
  }
  const replaced = Object.fromEntries(next)
  const change = {
    method: 'kubelet-file',
    path,
    oldSha256: file.sha256,
    content: style(replaced),
  } as const
  const lastsUntil =
    node.identity.amiFamily === 'AL2023' && node.identity.owner !== 'hybrid'
      ? 'reboot'
      : 'replacement'
  return changeOfFile(node, { ...change, lastsUntil }, { path, role: 'config', content: replaced })
}

const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }

/** The kubelet merges a drop-in over the main file key by key, so it has only the change. */
function dropInChange(
  node: NodeToSet,
  { files }: WritableFiles,
  patch: RawObject,
  folder: string | null,
): Remedied {
  if (folder !== pathFolder(kubeletDropIn))
    return {
      refused: `drop-ins of this kubelet lie in ${(folder ?? '').slice(0, 200)}, where a plan writes nothing`,
    }
  const present = presentFile(kubeletDropIn, files)
  if (present === 'unread')
    return { refused: `${kubeletDropIn} is there, and what it says was not read` }
  const content = { ...kind, ...overlay(present?.content ?? {}, patch) }
  const change = {
    method: 'drop-in',
    path: kubeletDropIn,
    oldSha256: present?.sha256 ?? 'absent',
    content: `${JSON.stringify(content, null, 2)}\n`,
    lastsUntil: 'replacement',
  } as const
  return changeOfFile(node, change, { path: kubeletDropIn, role: 'drop-in', content })
}

/** nodeadm merges its NodeConfigs key by key, and writes the result as a drop-in. */
function nodeadmChange(node: NodeToSet, { files }: WritableFiles, patch: RawObject): Remedied {
  const gone = leavesOf(patch).find(([, value]) => value === null)
  if (gone)
    return {
      refused: `a NodeConfig cannot take ${gone[0]} away: change it where the node comes from`,
    }
  const present = presentFile(nodeadmPiece, files)
  if (present === 'unread')
    return { refused: `${nodeadmPiece} is there, and what it says was not read` }
  const config = mergePatch(
    mapOf(mapOf(mapOf((present?.content ?? null)?.spec).kubelet).config),
    patch,
  )
  const content = nodeConfig(config)
  const before =
    files.find(({ path, role }) => path === nodeadmDropIn && role === 'drop-in')?.content ?? {}
  const change = {
    method: 'nodeadm',
    path: nodeadmPiece,
    oldSha256: present?.sha256 ?? 'absent',
    content,
    lastsUntil: 'replacement',
  } as const
  return changeOfFile(node, change, {
    path: nodeadmDropIn,
    role: 'drop-in',
    content: { ...kind, ...mergePatch(before, config) },
  })
}

const nodeConfig = (
  config: RawObject,
) => `# Written by highwater. nodeadm merges it over the NodeConfig of the user data.
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
${stringify(config, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }).replace(/^(?=.)/gm, ' '.repeat(6))}`

/** The present file that highwater wrote for an earlier plan. */
function presentFile(path: string, files: readonly WritableFile[]) {
  const file = files.find(one => one.path === path)
  if (!file) return null
  return file.sha256 === null || !file.content
    ? 'unread'
    : { sha256: file.sha256, content: file.content }
}

function changeOfFile(
  { host }: NodeToSet,
  change: Omit<FileChange, 'newSha256' | 'host'>,
  file: Pick<WritableFile, 'path' | 'role' | 'content'>,
): Remedied {
  const { files = [], commandLine = [], ...kubelet } = host?.kubelet ?? {}
  const isFolderNew =
    file.role === 'drop-in' && !commandLine.some(argument => argument.startsWith('--config-dir'))
  const folder = pathFolder(file.path)
  // The kubelet reads the whole folder, including the files that it has ignored so far.
  const isNewlyRead = ({ path, role }: HostFile) =>
    isFolderNew &&
    role === 'ignored' &&
    path?.startsWith(`${folder}/`) === true &&
    path.endsWith('.conf')
  const unread = files.find(one => isNewlyRead(one) && !isRawObject(one.content))
  if (unread)
    return {
      refused: `the kubelet would begin to read ${unread.path}, and what it says was not read`,
      isUnread: true,
    }
  return {
    ...change,
    newSha256: sha256(change.content),
    host: {
      ...host,
      kubelet: {
        ...kubelet,
        commandLine: isFolderNew ? [...commandLine, `--config-dir=${folder}`] : commandLine,
        files: [
          ...files
            .filter(({ path }) => path !== file.path)
            .map(one => (isNewlyRead(one) ? { ...one, role: 'drop-in' as const } : one)),
          file,
        ],
      },
    },
  }
}

/**
 * The text of a JSON file, of which a snapshot has only content and hash. Programs write JSON in few ways (jq, Go, nodeadm). The text whose hash
 * matches is the file, byte for byte, so no part of the file was cut out as a secret or lost in formatting.
 */
type JsonStyle = (content: RawObject) => string

const indents = [2, 4, '\t', 0, 3, 1, 8] as const
const ends = ['\n', ''] as const
/** Go's encoding/json writes these characters as escapes, so that the text is safe in HTML. */
const escapeLikeGo = (text: string) =>
  text.replace(
    /[<>&\u2028\u2029]/g,
    found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const styles: JsonStyle[] = indents.flatMap(indent =>
  ends.flatMap(end => [
    (content: RawObject) => JSON.stringify(content, null, indent) + end,
    (content: RawObject) => escapeLikeGo(JSON.stringify(content, null, indent)) + end,
  ]),
)
