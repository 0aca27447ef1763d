/**
 * Reads kubelet settings that are written literally in a script: arguments of EKS's bootstrap script, `KUBELET_…` variables, documents written by
 * `cat <<EOF` or `echo`, fields set by jq or sed. The script is not run, so values of variables and commands are unknown, but for paths.
 *
 * Source  amazon-eks-ami templates/al2/runtime/bootstrap.sh; EKS user guide (Windows bootstrap script); scripts as people have them
 */
import type { TextBudget } from '#base/foreign-text.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { LocatedText } from '#base/yaml-place.ts'
import { nodePathIn } from '#facts/eks/kubelet-places.ts'
import { isConfigurationField, isKubeletFlag } from '#model/kubelet/settings.ts'
import { lineIn, type Piece, piece, settingsIn } from './settings.ts'

/** A command with its continued lines, as one line. */
interface Command {
  text: string
  /** The same with its lines. */
  located: LocatedText
  /** Index of its first line. */
  at: number
}

interface PlacedPiece {
  at: number
  piece: Piece
}

/** In the order of the script. @throws BudgetExceeded */
export function readShell({ text, fileLine }: LocatedText, budget: TextBudget) {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const linesFrom: LinesFrom = (lineNumber, count, given) => ({
    text: given ?? lines.slice(lineNumber - 1, lineNumber - 1 + count).join('\n'),
    fileLine: inner => fileLine(lineNumber + inner - 1),
  })
  const { documents, rest } = documentsIn(lines, linesFrom, { budget, copies: copiesIn(lines) })
  const hasRedirectedBlock = isRedirected.test(text)
  const commands = commandsOf(lines, rest, linesFrom).filter(
    command => hasRedirectedBlock || !printsOnly.test(command.text),
  )
  // A script that names one file of a kubelet in a variable works on that file.
  const onlyPath = nodePathIn(commands.map(command => command.text).join('\n'))
  const steps = stepsIn(commands)
  const [bootstrap] = steps.filter(({ piece }) => piece.step === 'bootstrap')
  const isAfter = ({ at }: Command) => at > (bootstrap?.at ?? lines.length)
  const setting = commands.filter(({ text }) => Object.keys(fieldsIn(text)).length > 0)
  const pathOf = ({ text }: Command) => nodePathIn(text) ?? onlyPath
  const found = [
    ...documents,
    ...commands.flatMap(command =>
      readCommand(command, onlyPath).map(found => ({ at: command.at, piece: found })),
    ),
    ...[...Map.groupBy(setting, one => `${isAfter(one)} ${pathOf(one)}`).values()].map(group =>
      fieldPiece(group, pathOf),
    ),
    ...steps,
  ]
  return found.toSorted((a, b) => a.at - b.at).map(({ piece }) => piece)
}

/** A command whose text goes nowhere, unless the block around it is written to a file. */
const printsOnly = /^\s*(?:echo|printf)\s(?:(?!\$\()[^>|;&`])*$/
const isRedirected = /^[ \t]*(?:\}|\)|done|fi)\s*[>|]/m

/** Calls of bootstrap.sh, which starts a kubelet that does not run yet, and starts of the kubelet. */
function stepsIn(commands: readonly Command[]): PlacedPiece[] {
  const isStopped = commands.some(({ text }) => kubeletService.exec(text)?.[1] === 'stop')
  return commands.flatMap(({ text, located, at }) => {
    const [, verb] = kubeletService.exec(text) ?? []
    const isRestart = verb === 'restart' || (verb === 'start' && isStopped)
    const steps = [
      text.split(separator).some(isBootstrapCall) && 'bootstrap',
      isRestart && 'restart',
    ] as const
    return steps.flatMap(step =>
      step ? [{ at, piece: piece('script', lineIn(located), { step }) }] : [],
    )
  })
}

const kubeletService = /\bsystemctl\b[^;&|]{0,80}\b(restart|start|stop)\b[^;&|]{0,80}\bkubelet\b/

/** What stands before a call of bootstrap.sh on its line, the call, and what stands after it. */
function aroundBootstrap(line: string) {
  let start = 0
  for (const command of line.split(separator)) {
    const end = start + command.length
    if (isBootstrapCall(command))
      return [line.slice(0, start), command, line.slice(end)].filter(text => text.trim() !== '')
    start = end + 1
  }
  return [line]
}

const separator = /[;&|]/

/** A command that edits bootstrap.sh is no call of it. */
function isBootstrapCall(command: string) {
  const words = wordsOf(command)
  const at = words.findIndex(word => /(^|\/)bootstrap\.sh$/.test(word))
  return (
    at >= 0 &&
    words.slice(0, at).every(word => /^(sudo|exec|bash|sh|then|do|-\w+|\w+=.*)$/.test(word))
  )
}

function fieldPiece(setting: readonly Command[], pathOf: (command: Command) => string | null) {
  const [first] = setting
  const config = fieldsIn(setting.map(({ text }) => text).join('\n'))
  const places = setting.map(({ located }) => located)
  const path = first ? pathOf(first) : null
  const at = setting.at(-1)?.at ?? 0
  return { at, piece: piece('script', lineIn(joinTexts(places)), { config, path }) }
}

/** Texts of one file, one after the other. */
function joinTexts(texts: readonly LocatedText[]): LocatedText {
  const lines = texts.flatMap(({ text, fileLine }) =>
    text.split('\n').map((_, index) => fileLine(index + 1)),
  )
  return { text: texts.map(({ text }) => text).join('\n'), fileLine: line => lines[line - 1] ?? 1 }
}

/** @param given the text of these lines. Absent: as they are */
type LinesFrom = (line: number, count: number, given?: string) => LocatedText

/** Separates kubelet documents, of heredocs and of quoted texts, from the rest, which is read as a script. @returns `rest`: indices of lines */
function documentsIn(
  lines: readonly string[],
  from: LinesFrom,
  { budget, copies }: DocumentReading,
) {
  const documents: PlacedPiece[] = []
  const rest: number[] = []
  const lastAt = new Map(lines.map((line, index) => [line.trim(), index]))
  const take = (at: number, located: LocatedText, command: string) => {
    const found = settingsIn(located, budget)
    if (found) documents.push({ at, piece: { ...found, ...writtenFile(command, copies) } })
    return found !== null
  }
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const quoted = quotedText(lines, at)
    if (quoted && take(at, from(at + 1, 1, quoted.text), quoted.after)) {
      // Other commands of the line are still read, and the document with them: it says the same twice.
      at = quoted.lastAt
      if (/[;&]/.test(quoted.after)) rest.push(at)
      continue
    }
    rest.push(at)
    const [, , word = ''] = /<<-?\s*(["']?)(\w+)\1/.exec(line) ?? []
    if (word === '' || (lastAt.get(word) ?? -1) <= at) continue
    const start = at + 1
    for (at++; lines[at]?.trim() !== word; at++);
    if (!take(start, from(start + 1, at - start), line))
      for (let inner = start; inner < at; inner++) rest.push(inner)
  }
  return { documents, rest }
}

interface DocumentReading {
  budget: TextBudget
  copies: Copies
}

const longestQuote = 500

/** The text that `echo` or `printf` writes on these lines. Null: none that ends. @returns `after`: what follows the text on its last line */
function quotedText(lines: readonly string[], first: number) {
  const line = lines[first] ?? ''
  const [opening, , quote] =
    /^[^#]*?(?<![\w-])(?:echo|printf)\s+(?:-\w+\s+)*(?:(["'])%s(?:\\n)?\1\s+)?(["'])/.exec(line) ??
    []
  if (opening === undefined) return null
  const end = quote === '"' ? /^((?:[^"\\]|\\.)*)"/ : /^([^']*)'/
  const texts: string[] = []
  for (let at = first; at < Math.min(lines.length, first + longestQuote); at++) {
    const part = at === first ? line.slice(opening.length) : (lines[at] ?? '')
    const [whole, inner = ''] = end.exec(part) ?? []
    if (whole !== undefined) {
      const text = [...texts, inner].join('\n')
      const plain = quote === '"' ? text.replace(/\\(["\\$`])/g, '$1') : text
      return { text: plain, after: part.slice(whole.length), lastAt: at }
    }
    texts.push(part)
  }
  return null
}

interface Copies {
  /** Paths by the name of the variable that holds each. */
  variables: ReadonlyMap<string, string>
  /** Files of a kubelet by the path of the file that is copied there. */
  targets: ReadonlyMap<string, string>
}

const variablePath = /(?:^|[\s;])([A-Za-z_]\w*)=(["']?)(\/[\w./-]{1,128})\2(?=$|[\s;])/g

function copiesIn(lines: readonly string[]): Copies {
  const text = lines.join('\n')
  const variables = new Map(
    [...text.matchAll(variablePath)].map(([, name = '', , path = '']) => [name, path]),
  )
  const targets = new Map<string, string>()
  for (const command of lines.flatMap(line => withPaths(line, variables).split(separator))) {
    const [, source, target] =
      /\b(?:cp|mv|install)\s+(?:-\S+\s+|\d+\s+)*(\S+)\s+(\S+)/.exec(command) ?? []
    const path = nodePathIn(target ?? '')
    if (source !== undefined && path !== null) targets.set(plainWord(source), path)
  }
  return { variables, targets }
}

const withPaths = (line: string, variables: Copies['variables']) =>
  line.replace(/\$\{?([A-Za-z_]\w*)\}?/g, (written, name) => variables.get(name) ?? written)

const plainWord = (word: string) => word.replace(/["']/g, '')

/** The file to which the command writes its text, or the file to which that file is copied later. */
function writtenFile(
  command: string,
  { variables, targets }: Copies,
): Pick<Piece, 'path' | 'isWholeFile'> {
  const line = withPaths(command, variables)
  const [, word = ''] = /(?:>\|?|\btee\b(?:\s+-\S+)*)\s*([^\s<>|;&]+)/.exec(line) ?? []
  const target = targets.get(plainWord(word))
  return { path: target ?? nodePathIn(line), isWholeFile: isOverwriting(line) }
}

/** Whether the command writes the text unchanged, and replaces the content of the file. */
function isOverwriting(line: string) {
  const [first = '', ...filters] = line.split(/(?<![>|])\|(?!\|)/)
  if (filters.some(filter => !/^\s*(?:sudo\s+)?tee\b/.test(filter))) return false
  const tees = line.split(/[;&]/).flatMap(command => command.split(/\btee\b/).slice(1))
  return tees.length > 0
    ? !tees.some(words => /\s(?:-\w*a|--append\b)/.test(words))
    : /(?<![\d>&])>(?!>)/.test(first) && !first.includes('>>')
}

/** Comments are no commands. A line that ends with a backslash, or as in PowerShell, is continued. */
function commandsOf(lines: readonly string[], rest: readonly number[], from: LinesFrom) {
  const commands: Command[] = []
  let open: number[] = []
  for (const index of rest) {
    const line = lines[index] ?? ''
    if (open.length === 0 && /^\s*#/.test(line)) continue
    open.push(index)
    if (/[\\`]$/.test(line) && index !== rest.at(-1)) continue
    const text = open.map(at => lines[at] ?? '').map(part => part.replace(/[\\`]$/, ' '))
    const at = open[0] ?? 0
    const located = from(at + 1, open.length)
    for (const [index, part] of aroundBootstrap(text.join('')).entries())
      commands.push({ text: part, located, at: at + index / 3 })
    open = []
  }
  return commands
}

function readCommand({ text, located }: Command, onlyPath: string | null) {
  const words = wordsOf(text)
  const lineOf = lineIn(located)
  const path = nodePathIn(text) ?? onlyPath
  const pieces: Piece[] = []
  const isBootstrap =
    words.some(word => /(^|\/)bootstrap\.sh$|Start-EKSBootstrap/i.test(word)) ||
    /-KubeletExtraArgs/i.test(text)
  const rest: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const [, given] = /^--?kubelet-?extra-?args(?:=([\s\S]*))?$/i.exec(word) ?? []
    if (/^--?kubelet-?extra-?args/i.test(word)) {
      const value = given ?? words[at + 1] ?? ''
      if (given === undefined) at++
      const flags = wordsOf(value)
      pieces.push(
        isBootstrap
          ? piece('bootstrap', lineOf, { flags })
          : piece('script', lineOf, { flags, path }),
      )
    } else rest.push(word)
  }
  for (const word of rest) {
    const value = kubeletVariable(word)
    if (value !== undefined) pieces.push(piece('script', lineOf, { flags: wordsOf(value), path }))
  }
  // Kubelet flags in any other command, such as sed.
  const loose = rest
    .filter(word => kubeletVariable(word) === undefined)
    .flatMap(word => word.match(assignedWord) ?? [])
    .map(assigned => assigned.slice(Math.max(0, assigned.search(/--[a-z]/))))
  const flags = loose.filter(flag => isKubeletFlag(/^--([a-z][\w-]*)=/.exec(flag)?.[1] ?? ''))
  if (flags.length > 0) return [...pieces, piece('script', lineOf, { flags, path })]
  const isRead = pieces.length > 0 || Object.keys(fieldsIn(text)).length > 0
  const isUnclear = !isRead && path !== null && edits.test(text)
  return isUnclear ? [piece('script', lineOf, { step: 'edit' })] : pieces
}

/** Editors in place, of which only assignments are read. */
const edits = /\b(?:sed|perl)\b.{0,400}[\s'"]-(?:-in-place|\w{0,20}i)/

/** `name=value`, from the first letter or hyphen of the name. `s/--max-pods=10` contains one. */
const assignedWord = /(?<![\w-])[\w-]+=[^\s"'/|;]*/g

/** The value of a variable such as `KUBELET_EXTRA_ARGS=…`. */
function kubeletVariable(word: string) {
  const [, name = '', value] = /^(\w+)=([\s\S]*)$/.exec(word) ?? []
  return name.includes('KUBELET') ? value : undefined
}

/** Splits a line into words and removes shell quotes. Variables and commands are not expanded. */
function wordsOf(line: string) {
  const words =
    line.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\([^$()]{0,200}\)|\\.|[^\s"'\\;|&]|["'])+/g) ?? []
  return words.map(word =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"?|'([^']*)'|\\(.)/g,
      (_, double?: string, single?: string, escaped?: string) =>
        double !== undefined ? double.replace(/\\(["\\$`])/g, '$1') : (single ?? escaped ?? ''),
    ),
  )
}

const assignment =
  /(?<![\w.-])\.?"?([a-z][A-Za-z0-9]+)"?\s*(?:\|?=|:)\s*(\{[^{}\n]*\}|"[^"\n]*"|[\w.%]+)/g
const inMap = /\.([a-z][A-Za-z0-9]+)\.?\[?"([\w.-]+)"\]?\s*\|?=\s*"([^"\n]*)"/g

/** Reads `.imageGCHighThresholdPercent=70`, `"evictionHard": {…}`, `.evictionHard["imagefs.available"]="15%"`. */
function fieldsIn(script: string) {
  const text = script.replace(/\\(["\\ ])/g, '$1')
  const config: RawObject = {}
  for (const [, field = '', written = ''] of text.matchAll(assignment)) {
    const value = isConfigurationField(field) && /[A-Z]/.test(field) ? scalarOf(written) : undefined
    if (value !== undefined) config[field] = value
  }
  for (const [, field = '', key = '', value = ''] of text.matchAll(inMap)) {
    const before = Object.hasOwn(config, field) ? config[field] : {}
    if (isConfigurationField(field) && isRawObject(before))
      config[field] = { ...before, [key]: value }
  }
  return config
}

function scalarOf(written: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    return written.startsWith('{') ? undefined : written.replace(/^"|"$/g, '')
  }
}
