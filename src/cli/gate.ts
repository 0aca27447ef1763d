/** `highwater gate`: what changed configuration files would do to the nodes of a snapshot. */
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, normalize, relative } from 'node:path'
import { Argument, Command } from 'commander'
import { inputLimits } from '#base/limits.ts'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { isGzip } from '#clients/user-data.ts'
import type { GateDocument } from '#model/gate.ts'
import { documentEnding, longestOf } from '#pipeline/gate/changed-file.ts'
import { type GateText, gate, kustomizationNames } from '#pipeline/gate/gate.ts'
import type { GroupOption } from '#pipeline/gate/reach.ts'
import { gateSarif } from '#report/gate/sarif.ts'
import { gateMarkdown, gateText } from '#report/gate/words.ts'
import {
  addFormatOption,
  addPolicyOption,
  addSelectionOptions,
  exitAction,
  parseText,
  policyFile,
  repeatableOption,
  type SelectionOptions,
  selectionOf,
} from './options.ts'
import { gateExitCode, jsonText, screenOf, sheetOf, version } from './terminal.ts'

const formats = ['text', 'markdown', 'sarif', 'json'] as const

interface GateCommandOptions extends SelectionOptions {
  snapshot: string
  group: GroupOption[]
  base?: string
  policy?: string
  format: (typeof formats)[number]
}

export function gateCommand() {
  const command = new Command('gate')
    .addArgument(new Argument('<file...>', 'files that a pull request changes; of a folder all'))
    .requiredOption('--snapshot <file>', 'nodes of a saved snapshot', parseText)
    .addOption(
      repeatableOption(
        '--group <[file=]name>',
        'nodegroup, nodepool or node that a file is for, if it does not say; repeatable, with *',
        'by its path, else all nodes',
        parseGroup,
      ),
    )
    .option(
      '--base <dir>',
      'the files before the change, below this folder, and the policy: only what the change makes worse counts',
      parseText,
    )
  return addFormatOption(addPolicyOption(addSelectionOptions(command)), formats)
    .addHelpText(
      'after',
      `
Reads KubeletConfiguration and drop-ins, NodeConfig, EC2NodeClass, NodePool,
Bottlerocket TOML, user data, eksctl's ClusterConfig, CloudFormation and plans
of Terraform as JSON. Other files are named and ignored.

Examples:
  highwater gate --snapshot snapshot.ndjson.gz nodeclass.yaml
  highwater gate --snapshot snapshot.ndjson.gz --group general user-data.sh
  git diff -z --name-only --no-renames main |
    xargs -0 highwater gate --snapshot snapshot.ndjson.gz --base ../main --

Exit codes: 0 no node gets worse; 1 a kubelet would refuse a file, or a node
gets worse; 2 bad usage, a missing file or a bad snapshot; 3 no node gets worse
by what was read, and a template or a value could not be read; 4 failed.`,
    )
    .action(exitAction(runGate))
}

function parseGroup(text: string): GroupOption {
  const at = text.lastIndexOf('=')
  return at < 0
    ? { file: null, group: parseText(text) }
    : { file: parseText(text.slice(0, at)), group: parseText(text.slice(at + 1)) }
}

async function runGate(given: string[], options: GateCommandOptions) {
  const { snapshot, group, base, format } = options
  const files = [...new Set(given.flatMap(path => filesOf(path, base)))]
  const changed = files.map(file => gateTextOf(file, base))
  const unknown = group.find(({ file }) => file !== null && !files.includes(file))
  if (unknown)
    throw new OperatorError(
      `--group ${unknown.file}=${unknown.group}: ${unknown.file} is not among the files`,
    )
  const document = await gate(snapshot, {
    texts: [...changed, ...kustomizationsOf(files, base)],
    groups: group,
    hasBase: base !== undefined,
    selection: selectionOf(options),
    // A change cannot waive its own findings.
    policy: policyFile(options.policy, base),
    version,
  })
  process.stdout.write(documentText(document, format))
  return gateExitCode(document)
}

function documentText(document: GateDocument, format: GateCommandOptions['format']) {
  if (format === 'json') return jsonText(document)
  if (format === 'sarif') return gateSarif(document)
  if (format === 'markdown') return gateMarkdown(document)
  return gateText(document, sheetOf(screenOf(process.stdout), Number.POSITIVE_INFINITY).bold)
}

/** Of a folder those that the gate may read, as they are now and as they were. */
function filesOf(path: string, base: string | undefined) {
  const folders = [path, ...(base === undefined ? [] : [beforeOf(path, base)])].filter(isFolder)
  if (folders.length === 0) return [path]
  const found = folders.flatMap(folder =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && mayBeRead(entry.name))
      .map(entry => join(path, relative(folder, join(entry.parentPath, entry.name)))),
  )
  const files = [...new Set(found)].filter(
    file => !/(?:^|\/)(?:\.git|node_modules|\.terraform)\//.test(file),
  )
  if (files.length === 0 || files.length > mostFiles)
    throw new OperatorError(
      `${path}: ${files.length === 0 ? 'no file of this folder' : `no more than ${mostFiles} files of a folder`} can be read`,
    )
  return files.sort()
}

const mostFiles = 1_000
const endings = /\.(?:toml|sh|tf|tofu|tfvars|hcl|txt|gz)$/
const mayBeRead = (name: string) =>
  endings.test(name) || documentEnding.test(name) || kustomizationNames.includes(name)
const statOf = (path: string) => statSync(path, { throwIfNoEntry: false })
const isFolder = (path: string) => statOf(path)?.isDirectory() === true

/** Kustomizations that may name a changed file as a patch: of its folder, and of the one above. */
function kustomizationsOf(files: readonly string[], base: string | undefined): GateText[] {
  const folders = files
    .filter(file => /\.(?:ya?ml|json)$/.test(file))
    .flatMap(file => [dirname(file), dirname(dirname(file))])
  const names = folders.flatMap(folder => kustomizationNames.map(name => join(folder, name)))
  return [...new Set(names)]
    .filter(name => !files.some(file => normalize(file) === name) && isOwnFile(name))
    .map(name => ({ ...gateTextOf(name, base), isContext: true }))
}

function gateTextOf(file: string, base: string | undefined): GateText {
  if (base === undefined) return { file, text: boundedText(file), base: null }
  if (!isFolder(base)) throw new OperatorError(`--base ${base}: there is no such folder`)
  const before = beforeOf(file, base)
  const hasBefore = isFile(before)
  const isDeleted = hasBefore && !isFile(file)
  return {
    file,
    text: isDeleted ? '' : boundedText(file),
    base: hasBefore ? boundedText(before) : null,
  }
}

const beforeOf = (path: string, base: string) =>
  join(base, isAbsolute(path) ? relative(process.cwd(), path) : path)

/** A pull request can add a link, too. */
const isOwnFile = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
const isFile = (path: string) => statOf(path)?.isFile() === true

function textFrom(handle: number, bytes: number) {
  const buffer = Buffer.alloc(Math.min(bytes, fstatSync(handle).size))
  const read = buffer.subarray(0, readSync(handle, buffer, 0, buffer.length, 0))
  // Packed user data is read like its text in base64.
  if (isGzip(read) && read.length <= longestUserData) return read.toString('base64')
  return new TextDecoder(encodingOf(read)).decode(read)
}

/** Source: AWS, EC2 user guide, User data */
const longestUserData = 16_384

/** By the byte order mark: PowerShell writes UTF-16. */
function encodingOf([first, second]: Uint8Array) {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** A character has at most 3 bytes for each of its units in UTF-16. */
const bytesPerUnit = 3

/** The text of a file, longer than the limit if the file is: such a file is of another kind. @throws OperatorError */
function boundedText(file: string) {
  try {
    if (!statSync(file).isFile()) throw new Error('it is no file')
    const handle = openSync(file, 'r')
    try {
      const start = textFrom(handle, bytesPerUnit * (inputLimits.userData.maxBytes + 1))
      const longest = longestOf(start)
      return longest < start.length ? start : textFrom(handle, bytesPerUnit * (longest + 1))
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${messageOf(error)}`)
  }
}
