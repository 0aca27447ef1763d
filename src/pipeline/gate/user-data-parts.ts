/** User data, NodeConfig and Bottlerocket's settings as parts of a changed file. */

import type { TextBudget } from '#base/foreign-text.ts'
import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import { by } from '#base/text.ts'
import type { LocatedText } from '#base/yaml-place.ts'
import {
  bottlerocketRoot,
  type LineOf,
  type Piece,
  type WrittenDocument,
} from '#clients/user-data/settings.ts'
import { userDataPieces } from '#clients/user-data.ts'
import { bottlerocketMistakes, fieldOfSetting } from '#facts/eks/ami-defaults.ts'
import { nearestName } from '#facts/kubelet/fields.ts'
import { fieldOfFlag } from '#facts/kubelet/flag-settings.ts'
import { isExpression } from '#judge/drift/drift.ts'
import type { ChangedFileKind, GateProblem, GateProblemKind, UnreadFileKind } from '#model/gate.ts'
import type { AmiFamily } from '#model/input/record.ts'
import { cutSettings, isConfigurationField, type KubeletSettings } from '#model/kubelet/settings.ts'

/* What a changed file says to kubelets, part by part. */

/** The nodes that a part names itself. Absent fields: it does not say. Empty: the name is not known. */
export interface Target {
  cluster?: string
  /** Nodegroup. */
  group?: string
  nodePool?: string
  nodeClass?: string
}

export interface DeclaredVolume {
  /** As the file's parser gives it. */
  value: unknown
  /** Null: that of the pods, whatever its device is called. */
  device: string | null
  isRoot?: boolean
  /** Null: the value is an expression, or no size. */
  bytes: number | null
  /** The value as it is written. */
  written: string
  path: string
  line: number
}

export interface ChangedPart {
  kind: ChangedFileKind
  file: string
  lineOf: LineOf
  target: Target
  config: RawObject
  flags: string[]
  /** Who reads `config` and `flags`. `file`: the kubelet itself. `karpenter`, `eksctl`: whatever the node's image reads. Null: they are empty. */
  by: KubeletSettings['source'] | 'file' | 'karpenter' | 'eksctl' | null
  /** The file of the node in which a script puts it. Absent: unknown, or no script. */
  nodePath?: string
  /** A script writes the whole file, so what it had is gone. */
  isWholeFile?: boolean
  /** A script edits it after its own call of bootstrap.sh: whether it restarts the kubelet then. Absent: before, or without a call. */
  afterBootstrap?: 'restarted' | 'running'
  /** Fields whose flag has an expression as its value. `flags` does not have these. */
  unclearFlags?: string[]
  /** Of the image that the file gives its nodes. Absent: their image stays. */
  amiFamily?: AmiFamily
  /** The only image that reads it, if the part names no nodes. Absent: any may. */
  image?: AmiFamily
  /** The nodes' image is their owner's own, so nothing is added to the user data. */
  isOwnImage?: boolean
  /** Volumes of which the part gives the size. Absent: none, or an instance store takes their place. */
  volumes?: DeclaredVolume[]
  /** Its user data mounts disks itself. */
  mountsDisks?: boolean
  /** Why no kubelet gets the part. */
  unused?: string
  /** Why the tool that reads the part refuses it, whatever the node. */
  refusals: FileProblem[]
  /** It is the whole object, so a setting that it does not have is removed. */
  isWhole?: boolean
  /** A patch of an EC2NodeClass that removes all of `spec.kubelet`. */
  removesKubelet?: boolean
}

/** `path` null: the whole part. */
export interface Place {
  part: ChangedPart
  path: string | null
}

/** Whether bootstrap.sh on Amazon Linux 2 runs after the part. @param isAppended whether its owner appends a call to the user data */
export const isBeforeBootstrap = (
  { afterBootstrap, isOwnImage = false }: ChangedPart,
  isAppended: boolean,
) => afterBootstrap === undefined || (isAppended && !isOwnImage)

/** A problem that shows without any node. */
export type FileProblem = Pick<GateProblem, 'kind' | 'line' | 'field' | 'text'>

export interface ChangedFile {
  file: string
  /** In the order in which they act. */
  parts: ChangedPart[]
  problems: FileProblem[]
  /** It is no configuration until it is rendered. Null: it was read. */
  unread: UnreadFileKind | null
  /** At most its comments are other ones than before. */
  isUnchanged?: boolean
  /** The first line that is not rendered. Absent: unknown. */
  unreadLine?: number
}

/** What the reader of one file collects. */
export interface FileReading extends ChangedFile {
  /** All that may set something of a kubelet is written out in the file, and was read. Absent: unknown. */
  isWhole?: boolean
  /** What kustomizations select for it, if it is a patch. */
  targets: readonly unknown[]
  budget: TextBudget
}

/** Of a file. Each costs a replay of each node. */
export const mostParts = 30

/** @param field null: the whole file */
export const fileProblem = (
  kind: GateProblemKind,
  line: number,
  text: string,
  field: string | null = null,
): FileProblem => ({ kind, line, field, text })

export const expressionProblem = (line: number, field: string): FileProblem =>
  fileProblem('unread', line, `${field} is not judged: its value is an expression.`, field)

/** A name as a target has it. */
export const knownName = (name: unknown) =>
  typeof name === 'string' && !isExpression(name) ? name : ''

/** One of several texts of a file, each for other nodes, which the file does not name. */
export const unnamed: Target = { group: '' }

export const unparsedProblem = (line: number, why: string): FileProblem =>
  fileProblem('unparsed', line, `The file cannot be parsed: ${why}.`)

/** Texts that mention none of these are files of another kind, even if they cannot be parsed. */
export const mention =
  /KubeletConfiguration|NodeConfig|EC2NodeClass|NodePool|ClusterConfig|settings(?:\.|:\s+)kubernetes|bootstrap\.sh|KUBELET_EXTRA_ARGS/

/** The whole line, of a shell, Terraform, CloudFormation or a template. */
const expressionLine = /^[ \t]*(?:[$%]?\{.*\}|\$\w+)[ \t\r]*$/m
/** Arguments of the bootstrap script that set nothing of a kubelet. Source: amazon-eks-ami templates/al2/runtime/bootstrap.sh */
const otherFlag =
  /^["']?--(?:b64-cluster-ca|apiserver-endpoint|dns-cluster-ip|ip-family|service-ipv6-cidr|cluster-id)(?:=|$)/

function withoutOtherArguments(line: string) {
  const words = line.split(/[ \t]/).filter(word => word !== '')
  const takesNext = (word = '') =>
    word.endsWith('bootstrap.sh') || (otherFlag.test(word) && !word.includes('='))
  return words
    .filter((word, index) => !otherFlag.test(word) && !takesNext(words[index - 1]))
    .join(' ')
}

const withWholeLines = (text: string) => text.replace(/\\\r?\n/g, ' ')

/** Whether an expression in user data may set something of a kubelet. */
export const hidesSettings = (text: string) =>
  expressionLine.test(withWholeLines(text)) || hidesArguments(text, /bootstrap\.sh|kubelet/i)

/** Whether a command of these has an expression as an argument that is for a kubelet. */
export const hidesArguments = (text: string, commands: RegExp) =>
  withWholeLines(text)
    .split(/\n|[|;>]|&&/)
    .filter(command => commands.test(command))
    .some(command => isExpression(withoutOtherArguments(command)))

/** Takes user data in any form, also from within another file. */
export function takeUserData(
  reading: FileReading,
  located: LocatedText,
  target: Target = {},
  kind: ChangedFileKind = 'UserData',
) {
  const { pieces, unread } = userDataPieces(located, reading.budget)
  // What is of no known form sets nothing of a kubelet, unless it says so.
  const isMentioned = mention.test(located.text) || /\bkubelet\b/.test(located.text)
  for (const { why, line, isHidden } of unread)
    if (isMentioned || isHidden) reading.problems.push(unparsedProblem(line, why))
  const bootstrap = pieces.findIndex(({ step }) => step === 'bootstrap')
  const restart = pieces.findLastIndex(({ step }) => step === 'restart')
  const named = Object.keys(target).length > 0 ? target : clusterIn(pieces)
  // A script beside a NodeConfig is for the same nodes. One with bootstrap.sh is for two images.
  const image = bootstrap < 0 ? pieces.flatMap(({ source }) => imageOf[source] ?? [])[0] : undefined
  for (const [index, piece] of pieces.entries()) {
    const isBottlerocket = kind === 'UserData' && piece.source === 'bottlerocket'
    const cut = { ...piece, ...cutSettings(piece), words: piece.flags }
    const before = reading.parts.length
    if (piece.step === 'edit') {
      const text = "Not read: an edit of the kubelet's file. Give the file that it makes."
      reading.problems.push(fileProblem('unread', piece.lineOf(null), text))
    }
    takePiece(reading, cut, named, isBottlerocket ? 'Bottlerocket' : kind, image)
    if (bootstrap < 0 || index < bootstrap || piece.source !== 'script') continue
    for (const part of reading.parts.slice(before))
      part.afterBootstrap = index < restart ? 'restarted' : 'running'
  }
}

/** The cluster that a NodeConfig or Bottlerocket's settings name. */
export function clusterIn(pieces: readonly Piece[]): Target {
  const names = pieces.flatMap(({ source, document }) => {
    const { spec, settings } = mapOf(document?.value)
    const ofNodeadm = mapOf(mapOf(spec).cluster).name
    const ofBottlerocket = mapOf(mapOf(settings).kubernetes)['cluster-name']
    return (source === 'nodeadm' ? ofNodeadm : ofBottlerocket) ?? []
  })
  const [first] = names.map(knownName).toSorted((a, b) => Number(a === '') - Number(b === ''))
  return first === undefined ? {} : { cluster: first }
}

/** The image that reads user data with such a piece. */
const imageOf: Partial<Record<Piece['source'], AmiFamily>> = {
  nodeadm: 'AL2023',
  bottlerocket: 'Bottlerocket',
}

interface WrittenPiece extends Piece {
  /** Its flags with all that only a kubelet refuses. Absent: `flags` has that. */
  words?: readonly string[]
}

export function takePiece(
  reading: FileReading,
  piece: WrittenPiece,
  target: Target,
  kind: ChangedFileKind,
  image: AmiFamily | undefined = imageOf[piece.source],
) {
  const { config, flags, source } = piece
  const refusals = [...mistakesIn(piece), ...commandsIn(piece)]
  if (Object.keys(config).length + flags.length + refusals.length === 0) return
  const { kind: documentKind, apiVersion } = mapOf(piece.document?.value)
  const isFile = source === 'script' && documentKind !== undefined
  reading.parts.push({
    kind,
    file: reading.file,
    target,
    lineOf: piece.lineOf,
    config: isFile ? { kind: documentKind, apiVersion, ...config } : config,
    flags,
    by: source,
    ...(piece.path !== null && { nodePath: piece.path, isWholeFile: piece.isWholeFile }),
    ...(piece.unread !== null && { unused: piece.unread }),
    ...(image && { image }),
    refusals: refusals.filter(one => one.kind === 'refused'),
  })
  reading.problems.push(...refusals.filter(one => one.kind !== 'refused'))
}

/** Why the kubelet ends at a word. Null: it does not. Source: cmd/kubelet/app/server.go NewKubeletCommand; spf13/pflag flag.go parseLongArg, parseSingleShortArg */
function wordMistake(word: string, isValue: boolean) {
  const [name = ''] = word.split('=', 1)
  if (isExpression(word) || /^-[vh]/.test(word)) return null
  if (/^--[-=]/.test(word)) return `failed to parse kubelet flag: bad flag syntax: ${name}`
  const [, letter] = /^-([^-\d])/.exec(word) ?? []
  if (isValue) return null
  if (letter !== undefined)
    return `failed to parse kubelet flag: unknown shorthand flag: '${letter}' in ${name}`
  return fieldMeant(word) === null || word.startsWith('--')
    ? null
    : `the kubelet ends with "unknown command ${word}": a flag begins with two hyphens`
}

/** With one hyphen, three, or the dash of a word processor. */
const fieldMeant = (word: string) => fieldOfFlag(`--${word.replace(/^[-\u2013\u2014]+/, '')}`)

/** Words that are neither a flag nor the value of the flag before. */
const commandsIn = ({ flags, words = flags, lineOf, unread }: WrittenPiece) =>
  words.flatMap((word, index) => {
    const [name = ''] = word.split('=', 1)
    const isValue = /^--[^=\s]*$/.test(words[index - 1] ?? '')
    const why = unread === null ? wordMistake(word, isValue) : null
    return why === null
      ? []
      : [fileProblem('refused', lineOf(name), `${why}.`, fieldMeant(word) ?? 'flags')]
  })

function mistakesIn({ source, document }: Piece) {
  if (!document) return []
  if (source === 'nodeadm') return nodeConfigMistakes(document)
  return source === 'bottlerocket' ? tomlMistakes(document) : []
}

/** Source: amazon-eks-ami nodeadm/api/v1alpha1 nodeconfig_types.go; nodeadm drops fields that it does not know */
const nodeConfigFields = {
  root: ['apiVersion', 'kind', 'metadata', 'spec'],
  spec: ['cluster', 'containerd', 'featureGates', 'hybrid', 'instance', 'kubelet'],
  kubelet: ['config', 'flags', 'maxPodsExpression'],
}

function nodeConfigMistakes({ value, lineOf }: WrittenDocument) {
  const { apiVersion, kind, spec } = mapOf(value)
  const { kubelet } = mapOf(spec)
  const { config = {}, flags = [] } = mapOf(kubelet)
  const unregistered = `nodeadm: no kind "${kind}" is registered for version "${apiVersion}"`
  const isRegistered = kind === 'NodeConfig' && apiVersion === 'node.eks.aws/v1alpha1'
  const head = kind === 'NodeConfig' ? 'apiVersion' : 'kind'
  const meant = Object.values(nodeConfigFields).flat()
  const ignoredFields = (path: string[], fields: unknown, known: readonly string[]) =>
    Object.keys(mapOf(fields))
      // Any other name may be a field of a later nodeadm.
      .filter(field => isConfigurationField(field) || nearestName(field, meant) !== null)
      .filter(field => !known.includes(field))
      .map(field => [...path, field])
      .map(at =>
        fileProblem('no-effect', lineOf(...at), 'a NodeConfig has no such field.', at.join('.')),
      )
  const isList = Array.isArray(flags) && flags.every(flag => typeof flag === 'string')
  const refuseForm = (field: string, written: unknown, form: string) => {
    const path = `spec.kubelet.${field}`
    const line = lineOf('spec', 'kubelet', field)
    return typeof written === 'string' && isExpression(written)
      ? expressionProblem(line, path)
      : fileProblem('refused', line, `nodeadm: ${path} is no ${form}`, field)
  }
  return [
    ...(isRegistered ? [] : [fileProblem('refused', lineOf(head), unregistered, head)]),
    ...(config === null || isRawObject(config) ? [] : [refuseForm('config', config, 'map')]),
    ...(flags === null || isList ? [] : [refuseForm('flags', flags, 'list of texts')]),
    ...ignoredFields([], value, nodeConfigFields.root),
    ...ignoredFields(['spec'], spec, nodeConfigFields.spec),
    ...ignoredFields(['spec', 'kubelet'], kubelet, nodeConfigFields.kubelet),
  ]
}

function tomlMistakes({ value, lineOf }: WrittenDocument) {
  const document = mapOf(value)
  const { kubernetes } = mapOf(document.settings)
  return [
    ...settingMistakes(mapOf(kubernetes), (...path) => lineOf(...bottlerocketRoot, ...path)),
    ...misplacedSettings(document)
      .slice(0, mostMistakes)
      .map(([table, setting]) =>
        fileProblem(
          'refused',
          lineOf(...bottlerocketRoot, setting),
          `Bottlerocket refuses ${table}: unknown field, ${setting} is one of settings.kubernetes.`,
          setting,
        ),
      ),
  ]
}

/** Each has a search for its line. */
const mostMistakes = 100

/** The first ones; those that Bottlerocket surely refuses count first. @param settings `settings.kubernetes` */
export const settingMistakes = (
  settings: Readonly<RawObject>,
  lineOf: (...path: string[]) => number,
): FileProblem[] =>
  bottlerocketMistakes(settings)
    .toSorted(by(({ isUnknown }) => isUnknown ?? false))
    .slice(0, mostMistakes)
    .flatMap(({ setting, key, why, isUnknown }) => {
      const [field] = fieldOfSetting(setting)
      const value = key === null ? settings[setting] : mapOf(settings[setting])[key]
      if (typeof value === 'string' && isExpression(value)) return []
      const pathTo = (name: string) => (key === null ? [name] : [name, key])
      const text = isUnknown
        ? `${setting} is not judged: a release without this setting refuses it.`
        : `Bottlerocket refuses ${setting}: ${why}. The node does not join the cluster.`
      return fileProblem(
        isUnknown ? 'unread' : 'refused',
        lineOf(...pathTo(setting)),
        text,
        pathTo(field ?? setting).join('.'),
      )
    })

/** Settings of a kubelet in other tables than `settings.kubernetes`. */
export const misplacedSettings = (document: RawObject): [table: string, setting: string][] =>
  Object.entries({
    ...tablesOf(document, 'settings'),
    ...tablesOf(document, 'setting'),
    kubernetes: document.kubernetes,
  }).flatMap(([path, values]): [string, string][] => {
    const setting = Object.keys(mapOf(values)).find(key => fieldOfSetting(key).length > 0)
    return setting === undefined || path === bottlerocketRoot.join('.') ? [] : [[path, setting]]
  })

const tablesOf = (document: RawObject, top: string): RawObject =>
  Object.fromEntries(
    Object.entries(mapOf(document[top])).map(([table, values]) => [`${top}.${table}`, values]),
  )
