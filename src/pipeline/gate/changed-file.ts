/** Reads a changed file: the kubelet settings in it, the lines that hold them, and the nodes that they are meant for. */

import { BudgetExceeded, ForeignTextError, parseToml, TextBudget } from '#base/foreign-text.ts'
import { inputLimits, textLimits } from '#base/limits.ts'
import { once } from '#base/once.ts'
import { isRawObject, mapOf } from '#base/raw-object.ts'
import { type LocatedText, openYaml, textFrom } from '#base/yaml-place.ts'
import { isOwnField, readBottlerocket } from '#clients/user-data/settings.ts'
import { nodePathIn } from '#facts/eks/kubelet-places.ts'
import { fieldOfFlag } from '#facts/kubelet/flag-settings.ts'
import { isExpression } from '#judge/drift/drift.ts'
import type { UnreadFileKind } from '#model/gate.ts'
import { isConfigurationField } from '#model/kubelet/settings.ts'
import { takeDocument, takePatch } from './documents.ts'
import { isPlanText, takePlan } from './terraform-plan.ts'
import {
  type ChangedFile,
  type ChangedPart,
  clusterIn,
  type FileProblem,
  type FileReading,
  fileProblem,
  hidesArguments,
  hidesSettings,
  mention,
  misplacedSettings,
  mostParts,
  takePiece,
  takeUserData,
  unnamed,
  unparsedProblem,
} from './user-data-parts.ts'
import { takeHclVolumes } from './volumes.ts'

export const openBudget = () => new TextBudget(textLimits.clusterUserData)

const userDataForm =
  /^\s*(MIME-Version:|Content-Type:\s*multipart\/|#!|#cloud-config|#cloud-boothook|## template: *jinja|<powershell>|<script>)|^(\s|#.*\n)*(\[{1,2}[ \t]*)?"?settings"?[ \t]*[.\]]|^[A-Za-z0-9+/=\r\n]{16,}$/i
const documentForm = /^(\s|#.*\n|---.*\n)*(apiVersion|kind|\{)/
/** Of Helm, Terraform, Jinja or ERB. */
const templateMark = /\{\{|[{<]%|%\{/
const resourcesField = /^(?:Resources:|[ \t]*"Resources"[ \t]*:)/m
const awsType = /^[ \t]*["']?Type["']?[ \t]*:[ \t]*["']?AWS::/m
/** AWS CloudFormation, Template sections. */
const isStackText = (file: string, text: string) =>
  /\.(ya?ml|json|template)$/.test(file) && resourcesField.test(text) && awsType.test(text)

export const isProgram = (file: string) => /\.(ts|js|py|java|cs|go)$/.test(file)
/** The first line of a script that is for no shell. */
const otherScript = /^#!(?!.*\b(?:[abdkz]|da)?sh\b)/
const namesNodes = /user_?data|launch_?template|node_?(?:group|config|class)|kubelet|bootstrap/i

/** What a file is that may set fields of a kubelet outside the texts that are written out in it. Source: Terraform, Files and Configuration Structure; AWS CDK */
function renderedKind(file: string, text: string): UnreadFileKind | null {
  if (!namesNodes.test(text)) return null
  if (/\.(tf|tofu|tfvars)(\.json)?$/.test(file)) return 'Terraform'
  if (file.endsWith('.hcl')) return 'HCL'
  if (isProgram(file) && /\b(?:aws-cdk|aws_cdk|awscdk|Amazon\.CDK)\b/.test(text)) return 'CDK'
  const isOfNodes = otherScript.test(text) && nodePathIn(text) !== null
  if (isOfNodes || (isProgram(file) && /\bpulumi/i.test(text))) return 'program'
  return isStackText(file, text) ? 'CloudFormation' : null
}

/** What sets something of a kubelet in HCL outside the texts that are written out, or may. Source: terraform-aws-modules/eks, inputs */
const setsInHcl =
  /(?:user_?data|bootstrap|cloudinit|nodeadm)\w{0,80}[ \t]{0,80}=(?!=)(?![ \t]{0,80}(?:true|false|null|\[|\{|\[[ \t]{0,80}\{)[ \t\r]{0,80}$)|kubelet|\b(?:template)?file\(/im

/** @param text of HCL without the texts that are written out in it */
const isEmptyHcl = (file: string, text: string) =>
  /\.(?:tf|tofu|tfvars|hcl)$/.test(file) &&
  !setsInHcl.test(withoutComments(text)) &&
  !mention.test(text)

/** A URL has `//`, too, and a name of a resource `/*`. Lines stay. Source: Terraform, Configuration Syntax, Comments */
const withoutComments = (text: string) =>
  text
    .replace(/^[ \t]*\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))/gm, comment => comment.replace(/.+/g, ''))
    .replace(/(?:#|(?<!\S)\/\/).*$/gm, '')

/** What of a template may set something of a node: NodePools of v1 do not. Anything may come of a template that inserts blocks. */
const mayOfTemplate =
  /kubelet|^kind: *EC2NodeClass|volumeSize|bootstrap|settings|v1(?:alpha|beta)\d|toYaml|include|tpl /im

/** A unit of systemd. */
function readUnit(reading: FileReading, { text }: LocatedText) {
  if (!/KUBELET\w{0,40}=|\bkubelet\b.{0,400}--/.test(text)) return
  const said = 'Not read: a unit of systemd. Give the user data that writes it as a file.'
  reading.problems.push(fileProblem('unread', 1, said))
}

/** Of files with documents, and of templates that make them. */
export const documentEnding = /\.(?:ya?ml|json|conf|template)(?:\.(?:gotmpl|tmpl|tpl|tftpl|j2))?$/

/** By the form of the file. Null: of another kind, whatever it mentions. */
function readerOf(file: string, text: string) {
  if (isPlanText(text)) return takePlan
  if (file.endsWith('.toml')) return readToml
  if (/^\s*\[(?:Unit|Service|Install)\]/.test(text)) return readUnit
  if (/\.(tf|tofu|hcl|tfvars)$/.test(file)) return readHcl
  if (/\.(tf|tofu|tfvars)\.json$/.test(file)) return null
  if (userDataForm.test(text) || file.endsWith('.sh')) return takeUserData
  return documentEnding.test(file) || documentForm.test(text) ? readDocuments : null
}

/** Of a file that may be a configuration. A plan of Terraform has all resources of a state. */
export const longestOf = (text: string) =>
  (isPlanText(text) ? inputLimits.terraformPlan : inputLimits.userData).maxBytes

/** @param whole budget of all files; @param targets what kustomizations select for it, if it is a patch */
export function readChangedFile(
  file: string,
  text: string,
  whole: TextBudget,
  targets: readonly unknown[] = [],
): ChangedFile {
  const isPlan = isPlanText(text)
  const reading: FileReading = {
    file,
    parts: [],
    problems: [],
    unread: null,
    targets,
    budget: new TextBudget(isPlan ? textLimits.clusterUserData : textLimits.userData, whole),
  }
  const rendered = renderedKind(file, text)
  const read = readerOf(file, text)
  const isLong = text.length > longestOf(text)
  const isOfValues = once(() => setsInValues(text))
  if (!read || (isLong && rendered !== null))
    return { ...boundFile(reading), unread: !isLong && isEmptyHcl(file, text) ? null : rendered }
  // No user data is so long.
  if (isLong && read === takeUserData && !mention.test(text)) return boundFile(reading)
  try {
    if (isLong)
      throw new ForeignTextError(
        isPlan
          ? 'it is longer than the plans that are read'
          : 'it is longer than any configuration of a kubelet',
      )
    read(reading, textFrom(text, 1))
  } catch (error) {
    if (!(error instanceof ForeignTextError)) throw error
    // User data in a plan is packed, so its text does not show what it sets.
    if (isPlan || mention.test(text) || isOfValues())
      reading.problems.push(unparsedProblem(error.line ?? 1, error.message))
  }
  const unreadLine = isPlan ? null : unrenderedLine(text, reading.problems.filter(isUnparsed))
  if (unreadLine !== null) {
    const unread = mayOfTemplate.test(text) || isOfValues() ? 'template' : null
    // Of a text with marks of a template, no part is as it will be.
    const parts = templateMark.test(text) ? [] : reading.parts
    const problems = reading.problems.filter(problem => parts.length > 0 && !isUnparsed(problem))
    return { ...boundFile({ ...reading, parts, problems }), unread, unreadLine }
  }
  // Flags with an expression are named one by one.
  const isNamed = reading.parts.some(({ flags }) => flags.some(isExpression))
  if (
    read === takeUserData &&
    !isNamed &&
    hidesArguments(text, /^[^#]*\/etc\/eks\/bootstrap\.sh\s/)
  )
    reading.unread ??= 'template'
  // A size says nothing of user data.
  const isEmpty =
    reading.parts.every(({ kind }) => kind === 'LaunchTemplate') &&
    !reading.problems.some(isUnparsed)
  if (isEmpty && reading.isWhole !== true) reading.unread ??= rendered
  return boundFile(reading)
}

/** Of a text that cannot be parsed until it is rendered. Null: its flaws are no matter of a template. */
function unrenderedLine(text: string, flaws: readonly FileProblem[]) {
  const mark = text.search(templateMark)
  if (mark >= 0 && flaws.length > 0) return text.slice(0, mark).split('\n').length
  const lines = text.split('\n')
  return flaws.find(({ line }) => lines[line - 1]?.includes('${') === true)?.line ?? null
}

const isUnparsed = ({ kind }: FileProblem) => kind === 'unparsed'

/** A kubelet has 150 fields. An unknown key costs a search for the field that was meant, on each node. */
const most = { keys: 1_000, unknownKeys: 50 }

function boundFile({ file, parts, problems, unread }: FileReading): ChangedFile {
  const [first] = parts.slice(mostParts)
  const why = `it has more than ${mostParts} configurations, and the others are not replayed`
  const kept = parts.slice(0, mostParts)
  return {
    file,
    unread,
    parts: kept.filter(part => !isTooLarge(part)).map(withClearFlags),
    problems: [
      ...problems,
      ...(first ? [unparsedProblem(first.lineOf(null), why)] : []),
      ...kept
        .filter(isTooLarge)
        .map(({ lineOf }) =>
          unparsedProblem(lineOf(null), 'it has more settings than any kubelet'),
        ),
    ],
  }
}

function isTooLarge({ config, flags }: ChangedPart) {
  const unknown = Object.keys(config).filter(key => !isConfigurationField(key))
  const keys = Object.values(config).reduce<number>(
    (sum, value) => sum + Object.keys(mapOf(value)).length + 1,
    flags.length,
  )
  return unknown.length > most.unknownKeys || keys > most.keys
}

/** Flags of fields are set apart if their value is an expression. */
function withClearFlags(part: ChangedPart) {
  const { flags } = part
  const isValue = (flag = '') => !flag.startsWith('-') && isExpression(flag)
  const isUnclear = (flag: string, at: number) =>
    fieldOfFlag(flag) !== null &&
    (isExpression(flag) || (!flag.includes('=') && isValue(flags[at + 1])))
  const unclearFlags = flags.filter(isUnclear).flatMap(flag => fieldOfFlag(flag) ?? [])
  const clear = flags.filter((flag, at) => !isUnclear(flag, at))
  return clear.length === flags.length ? part : { ...part, flags: clear, unclearFlags }
}

/** TOML of other programs is ignored. @throws ForeignTextError */
function readToml(reading: FileReading, located: LocatedText) {
  const document = parseToml(located.text, reading.budget)
  const isOurs = Object.keys(mapOf(mapOf(document.settings).kubernetes)).length > 0
  if (!isOurs && misplacedSettings(document).length === 0) return
  const piece = readBottlerocket(located, reading.budget)
  takePiece(reading, piece, clusterIn([piece]), 'Bottlerocket')
}

/** Fields of a kubelet in a file that is no object, such as values of Helm. */
const isObject = /^["']?(?:apiVersion|kind|Resources)["']?[ \t]*:/m
/** Objects that have values of Helm. */
const hasValues =
  /^kind: ?["']?(?:Application|ApplicationSet|HelmRelease|HelmChart|HelmChartConfig)\b/m
const kubeletField =
  /^[ \t-]*["']?(?:eviction(?:Hard|Soft)|imageGC(?:High|Low)ThresholdPercent|(?:kube|system)Reserved|containerLogMax(?:Size|Files))["']?[ \t]*:/m

/** @throws ForeignTextError */
function readDocuments(reading: FileReading, located: LocatedText) {
  const countFound = () => reading.parts.length + reading.problems.length
  for (const document of documentsIn(located)) {
    const place = openYaml(document, reading.budget)
    const before = countFound()
    if (reading.targets.length === 0) takeDocument(reading, place)
    for (const target of reading.targets) takePatch(reading, place, target)
    if (countFound() === before) takeUnknown(reading, document, place.value)
  }
}

/** Whether a text that is no object of its own has fields of a kubelet: by their names, or below a key that is called so. */
function setsInValues(text: string) {
  if (isObject.test(text) && !hasValues.test(text)) return false
  const lines = text.split('\n').filter(line => /^[^#\n]*[^#\s]/.test(line))
  return kubeletField.test(text) || lines.some((_, index) => isOfKubelet(lines, index))
}

const kubeletKey = /^[ \t-]*["']?kubelet[\w-]*["']?[ \t]*:(.*)/i
const keysIn = (text: string) =>
  [...text.matchAll(/(?<!\w)(\w{1,80})["']?[ \t]{0,20}:/g)].map(([, key = '']) => key)
const indentOf = (line: string) => line.search(/[^ \t-]/)

/** Whether the line is such a key, with a field or a template below or beside it. */
function isOfKubelet(lines: readonly string[], index: number) {
  const line = lines[index] ?? ''
  const [, beside] = kubeletKey.exec(line) ?? []
  if (beside === undefined) return false
  // Of GitHub, `${{` is no template.
  if (templateMark.test(beside.replaceAll('${{', ''))) return true
  const below: string[] = []
  for (const next of lines.slice(index + 1, index + 1 + mostBelow)) {
    if (indentOf(next) <= indentOf(line)) break
    if (indentOf(next) === indentOf(below[0] ?? next)) below.push(next)
  }
  return [beside, ...below].flatMap(keysIn).some(isOwnField)
}

/** The lines of values that have fields of a kubelet, with what is below them. */
export function kubeletLines(text: string) {
  let open = Number.POSITIVE_INFINITY
  const isOfOne = (line: string) => {
    if (indentOf(line) > open) return true
    const isKey = kubeletKey.test(line) || kubeletField.test(line)
    open = isKey ? indentOf(line) : Number.POSITIVE_INFINITY
    return isKey
  }
  return text.split('\n').filter(isOfOne).join('\n')
}

/** Lines below a key. Each key has a search. */
const mostBelow = 40

const kubeletWords =
  /\b(?:eviction(?:Hard|Soft)|imageGC(?:High|Low)ThresholdPercent|(?:kube|system)Reserved|containerLogMax(?:Size|Files)|kubeletConfiguration|kubeletExtraArgs|KubeletConfiguration)\b|\b(?:node|image)fs\.(?:available|inodesFree)\b|--(?:eviction-(?:hard|soft)|image-gc-(?:high|low)-threshold|(?:kube|system)-reserved|max-pods)\b/

/** API groups whose objects name fields of a kubelet, and set none on a node of EKS: schemas, alerts, policies, clusters of kind. */
const otherGroups =
  /^(?:apiextensions\.k8s\.io|(?:[\w-]+\.)?gatekeeper\.sh|grafana\.[\w.-]+|integreatly\.org|kind\.x-k8s\.io|kyverno\.io|[\w.-]+\.kyverno\.io|monitoring\.coreos\.com)\//

/** A policy may write fields into objects. Source: kyverno.io, ClusterPolicy, mutate; gatekeeper, Assign */
const writesFields = /"mutate"|"kind":"(?:Assign|ModifySet)/

/** A document of which nothing was read. */
function takeUnknown(reading: FileReading, { text, fileLine }: LocatedText, value: unknown) {
  if (setsInValues(text))
    reading.unread = templateMark.test(text) ? 'template' : 'values of a template'
  const { kind = 'document', apiVersion } = mapOf(value)
  const written = JSON.stringify(value) ?? ''
  if (otherGroups.test(String(apiVersion)) && !writesFields.test(written)) return
  const isOfAutoMode =
    kind === 'NodeClass' && isRawObject(mapOf(mapOf(value).spec).ephemeralStorage)
  const words = isOfAutoMode ? /ephemeralStorage/ : kubeletWords
  const [word] = words.exec(written) ?? []
  if (word === undefined || reading.unread !== null) return
  const line = text.split('\n').findIndex(one => !/^\s*#/.test(one) && one.includes(word))
  const said = `Not read: a ${kind} that names ${word}. Give what the node gets of it as a file.`
  reading.problems.push(fileProblem('unread', fileLine(Math.max(0, line) + 1), said))
}

/** Texts that are written out in HCL: user data, NodeConfigs and manifests; and sizes of volumes. */
function readHcl(reading: FileReading, { text }: LocatedText) {
  const { heredocs, rest } = heredocsIn(text)
  const found = heredocs.map(heredoc => {
    const inner: FileReading = { ...reading, parts: [], problems: [] }
    try {
      if (documentForm.test(heredoc.text)) readDocuments(inner, heredoc)
      else takeUserData(inner, userDataForm.test(heredoc.text) ? heredoc : asScript(heredoc))
    } catch (error) {
      if (error instanceof BudgetExceeded || !(error instanceof ForeignTextError)) throw error
      inner.problems.push(unparsedProblem(error.line ?? heredoc.fileLine(1), error.message))
    }
    return inner
  })
  const read = found.filter(({ parts }) => parts.length > 0)
  const isRead = found.every(({ problems }) => problems.length === 0)
  const isClear = heredocs.every(heredoc => !hidesSettings(heredoc.text))
  reading.isWhole = isRead && isClear && isEmptyHcl(reading.file, rest)
  takeHclVolumes(reading, withoutComments(rest), text)
  if (read.length === 0) return
  for (const { parts } of read)
    for (const part of parts) {
      const { cluster: _cluster, ...named } = part.target
      const isUnnamed = read.length > 1 && Object.keys(named).length === 0
      reading.parts.push(isUnnamed ? { ...part, target: { ...part.target, ...unnamed } } : part)
    }
  // What an expression makes of a broken text is not known.
  const why = 'Only the texts that are written out in this file are judged.'
  reading.problems.push(
    ...found.flatMap(({ problems }) => problems.filter(problem => !isUnparsed(problem))),
    fileProblem('note', 1, why),
  )
}

/** Modules put some texts into a script of their own. Source: terraform-aws-modules/eks, pre_bootstrap_user_data */
const asScript = ({ text, fileLine }: LocatedText): LocatedText =>
  mention.test(text)
    ? { text: `#!/bin/bash\n${text}`, fileLine: line => fileLine(Math.max(1, line - 1)) }
    : { text, fileLine }

/** A document begins at a line `---`. Within a block scalar no line begins so. */
function documentsIn({ text, fileLine }: LocatedText): LocatedText[] {
  const lines = text.split('\n')
  let hasContent = false
  const starts = lines.flatMap((line, index) => {
    const isStart = hasContent && /^---(\s|$)/.test(line)
    hasContent ||= /^[^#\s]/.test(line)
    return isStart ? [index] : []
  })
  return [0, ...starts].map((start, at) => ({
    text: lines.slice(start, starts[at]).join('\n'),
    fileLine: line => fileLine(start + line),
  }))
}

/** Texts in a file of HCL, and the lines outside them. Source: Terraform, Strings and Templates, Heredoc Strings */
function heredocsIn(text: string) {
  const heredocs: LocatedText[] = []
  const rest: string[] = []
  let open: { first: number; isIndented: boolean; marker: string; lines: string[] } | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (!open) {
      const [, dash, marker] = /<<(-?)([A-Za-z_]\w*)[ \t\r]*$/.exec(line) ?? []
      rest.push(marker === undefined ? line : '')
      if (marker !== undefined)
        open = { first: index + 2, isIndented: dash === '-', marker, lines: [] }
      continue
    }
    rest.push('')
    if (line.trim() === open.marker) {
      const { lines, first, isIndented } = open
      const indents = lines.filter(each => each.trim() !== '').map(each => each.search(/\S/))
      const cut = isIndented ? Math.min(...indents, 1_000) : 0
      heredocs.push(textFrom(lines.map(each => each.slice(cut)).join('\n'), first))
      open = null
    } else open.lines.push(line)
  }
  return { heredocs, rest: rest.join('\n') }
}
