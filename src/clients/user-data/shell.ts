/**
 * Reads kubelet settings that are written literally in a script: arguments of EKS's bootstrap script, `KUBELET_…` variables, documents written by
 * `cat <<EOF`, fields set by jq or sed. The script is not run, so values of variables and commands are unknown.
 *
 * Source  amazon-eks-ami templates/al2/runtime/bootstrap.sh; EKS user guide (Windows bootstrap script); scripts as people have them
 */
import type { TextBudget } from '#base/foreign-text.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { isConfigurationField, isKubeletFlag } from '#model/kubelet/settings.ts'
import { type Piece, piece, settingsIn } from './settings.ts'

/** @throws BudgetExceeded */
export function readShell(script: string, budget: TextBudget): Piece[] {
  const { documents, rest } = documentsIn(script.replaceAll('\r\n', '\n').split('\n'), budget)
  const lines = rest
    .join('\n')
    .replace(/[\\`]\n/g, ' ')
    .split('\n')
    .filter(line => !/^\s*#/.test(line))
  const config = fieldsIn(lines.join('\n'))
  return [
    ...documents,
    ...lines.flatMap(readLine),
    ...(Object.keys(config).length > 0 ? [piece('script', config)] : []),
  ]
}

/** Separates heredocs that are kubelet documents from the rest, which is read as a script. */
function documentsIn(lines: string[], budget: TextBudget): { documents: Piece[]; rest: string[] } {
  const documents: Piece[] = []
  const rest: string[] = []
  const lastAt = new Map(lines.map((line, index) => [line.trim(), index]))
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    rest.push(line)
    const [, , word = ''] = /<<-?\s*(["']?)(\w+)\1/.exec(line) ?? []
    if (word === '' || (lastAt.get(word) ?? -1) <= at) continue
    const body: string[] = []
    for (at++; lines[at]?.trim() !== word; at++) body.push(lines[at] ?? '')
    const found = settingsIn(body.join('\n'), budget)
    if (found === null) rest.push(...body)
    else documents.push(found)
  }
  return { documents, rest }
}

function readLine(line: string) {
  const words = wordsOf(line)
  const pieces: Piece[] = []
  const isBootstrap =
    words.some(word => /(^|\/)bootstrap\.sh$|Start-EKSBootstrap/i.test(word)) ||
    /-KubeletExtraArgs/i.test(line)
  const rest: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const [, given] = /^--?kubelet-?extra-?args(?:=([\s\S]*))?$/i.exec(word) ?? []
    if (/^--?kubelet-?extra-?args/i.test(word)) {
      const value = given ?? words[at + 1] ?? ''
      if (given === undefined) at++
      pieces.push(piece(isBootstrap ? 'bootstrap' : 'script', {}, wordsOf(value)))
    } else rest.push(word)
  }
  for (const word of rest) {
    const value = kubeletVariable(word)
    if (value !== undefined) pieces.push(piece('script', {}, wordsOf(value)))
  }
  // Kubelet flags in any other command, such as sed.
  const loose = rest
    .filter(word => kubeletVariable(word) === undefined)
    .flatMap(word => word.match(assignedWord) ?? [])
    .map(assigned => assigned.slice(Math.max(0, assigned.search(/--[a-z]/))))
  const flags = loose.filter(flag => isKubeletFlag(/^--([a-z][\w-]*)=/.exec(flag)?.[1] ?? ''))
  return flags.length > 0 ? [...pieces, piece('script', {}, flags)] : pieces
}

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
function fieldsIn(script: string): RawObject {
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
