/** Reads a changed file: the kubelet settings in it, the lines that hold them, and the nodes that they are meant for. */
import { type Document, isMap, isNode, isScalar, LineCounter } from 'yaml'
import {
  composeYaml,
  ForeignTextError,
  parseToml,
  TextBudget,
  YamlError,
  yamlValue,
} from '#base/foreign-text.ts'
import { inputLimits, textLimits } from '#base/limits.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { bottlerocketPiece } from '#clients/user-data/bottlerocket.ts'
import { ofNodeConfig } from '#clients/user-data/settings.ts'
import { bottlerocketSettings } from '#facts/eks/bottlerocket-settings.ts'
import { refusedByEksctl } from '#facts/eks/eksctl.ts'
import { nodeClassKubeletFields } from '#facts/eks/karpenter.ts'
import { nearestName } from '#facts/kubelet/configuration-schema.ts'
import { fieldOfFlag } from '#facts/kubelet/flag-settings.ts'
import { isExpression } from '#judge/drift/drift.ts'
import { mapOf } from '#model/input/config-value.ts'
import { isConfigurationField } from '#model/kubelet/settings.ts'
import {
  type ChangedFile,
  type ChangedPart,
  type FileReading,
  linesOf,
  mention,
  refuseBottlerocket,
  takeUserData,
  unparsed,
  type YamlPart,
} from './file-reading.ts'

export const openBudget = (): TextBudget => new TextBudget(textLimits.clusterUserData)

const userDataForm =
  /^\s*(MIME-Version:|Content-Type:\s*multipart\/|#!|#cloud-config|#cloud-boothook|## template: *jinja|<powershell>|<script>)|^(\s|#.*\n)*(\[{1,2}[ \t]*)?"?settings"?[ \t]*[.\]]|^[A-Za-z0-9+/=\r\n]{16,}$/i
const documentForm = /^(\s|#.*\n|---.*\n)*(apiVersion|kind|\{)/

type Reader = (reading: FileReading, text: string) => void

/** By the form of the file. Null: of another kind, whatever it mentions. */
function readerOf(file: string, text: string): Reader | null {
  if (file.endsWith('.toml')) return readToml
  if (userDataForm.test(text) || file.endsWith('.sh')) return takeWhole
  return /\.(ya?ml|json|conf)$/.test(file) || documentForm.test(text) ? readDocuments : null
}

const takeWhole: Reader = (reading, text) => takeUserData(reading, text, linesOf(text), {})

/** @param whole budget of all files */
export function readChangedFile(file: string, text: string, whole: TextBudget): ChangedFile {
  const { parts, problems, ...reading }: FileReading = {
    file,
    parts: [],
    problems: [],
    budget: new TextBudget(textLimits.userData, whole),
  }
  const open = { ...reading, parts, problems }
  const read = readerOf(file, text)
  if (read === null) return { file, parts, problems }
  let isTemplate = false
  try {
    if (text.length > inputLimits.userData.maxBytes)
      throw new ForeignTextError('it is longer than any configuration of a kubelet')
    read(open, text)
  } catch (error) {
    if (!(error instanceof ForeignTextError)) throw error
    isTemplate = mention.test(text) && text.includes('{{')
    if (!isTemplate && mention.test(text)) problems.push(unparsed(error.line ?? 1, error.message))
  }
  const [first] = parts.splice(most.parts)
  const why = `it has more than ${most.parts} configurations, and the others are not replayed`
  if (first) problems.push(unparsed(first.lines.from, why))
  const readable = parts.filter(part => !isTooLarge(part)).map(withClearFlags)
  for (const { lines } of parts.filter(isTooLarge))
    problems.push(unparsed(lines.from, 'it has more settings than any kubelet'))
  return { file, parts: readable, problems, isTemplate }
}

/** A kubelet has 150 fields. An unknown key costs a search for the field that was meant, on each node, and a part costs a replay of each node. */
const most = { parts: 30, keys: 1_000, unknownKeys: 50 }

function isTooLarge({ content, source }: ChangedPart) {
  const config = content ?? source?.config ?? {}
  const unknown = Object.keys(config).filter(key => !isConfigurationField(key))
  const keys = Object.values(config).reduce<number>(
    (sum, value) => sum + Object.keys(mapOf(value)).length + 1,
    source?.flags?.length ?? 0,
  )
  return unknown.length > most.unknownKeys || keys > most.keys
}

/** Flags of fields are set apart if their value is an expression. */
function withClearFlags(part: ChangedPart): ChangedPart {
  const { flags = [] } = part.source ?? {}
  const isValue = (flag = '') => !flag.startsWith('-') && isExpression(flag)
  const isUnclear = (flag: string, at: number) =>
    fieldOfFlag(flag) !== null &&
    (isExpression(flag) || (!flag.includes('=') && isValue(flags[at + 1])))
  const unclearFlags = flags.filter(isUnclear).flatMap(flag => fieldOfFlag(flag) ?? [])
  const clear = flags.filter((flag, at) => !isUnclear(flag, at))
  return clear.length === flags.length
    ? part
    : { ...part, source: { ...part.source, flags: clear }, unclearFlags }
}

/** @throws ForeignTextError */
function readToml(reading: FileReading, text: string) {
  const document = parseToml(text, reading.budget)
  if (Object.keys(mapOf(mapOf(document.settings).kubernetes)).length > 0) takeWhole(reading, text)
  for (const top of ['settings', 'setting'])
    for (const [table, values] of Object.entries(mapOf(document[top]))) {
      const setting = Object.keys(mapOf(values)).find(key =>
        Object.hasOwn(bottlerocketSettings, key),
      )
      if (setting === undefined || `${top}.${table}` === 'settings.kubernetes') continue
      reading.problems.push({
        kind: 'refused',
        line: 1,
        field: setting,
        text: `Bottlerocket refuses ${top}.${table}: unknown field, ${setting} is one of settings.kubernetes.`,
      })
    }
}

/** @throws ForeignTextError */
function readDocuments(reading: FileReading, text: string) {
  for (const { body, line } of documentsIn(text)) {
    const part = yamlPart(body, line, reading.budget)
    if (part !== null) takeDocument(reading, part)
  }
}

/** A document begins at a line `---`. Within a block scalar no line begins so. */
function documentsIn(text: string): { body: string; line: number }[] {
  const documents: { body: string; line: number }[] = []
  let lines: string[] = []
  let line = 1
  for (const [index, written] of text.split('\n').entries()) {
    if (/^---(\s|$)/.test(written) && lines.some(one => /^[^#\s]/.test(one))) {
      documents.push({ body: lines.join('\n'), line })
      lines = []
      line = index + 1
    }
    lines.push(written)
  }
  return [...documents, { body: lines.join('\n'), line }]
}

/** Null: the document is no map. @throws ForeignTextError with the line in the file */
function yamlPart(text: string, line: number, budget: TextBudget): YamlPart | null {
  const lineCounter = new LineCounter()
  let document: Document
  try {
    document = composeYaml(text, budget, { lineCounter })
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const at = lineCounter.linePos(Math.max(0, error.offset)).line
    throw new ForeignTextError(error.message, line - 1 + Math.max(1, at))
  }
  const value = yamlValue(document)
  if (!isRawObject(value)) return null
  const lines = linesOf(text, line)
  return {
    value,
    lines,
    linesAt: (...path) => {
      const range = rangeAt(document, path)
      if (range === null) return lines
      const [from, to] = range.map(offset => line - 1 + lineCounter.linePos(offset).line)
      return { from: from ?? lines.from, to: to ?? lines.to }
    },
  }
}

/** From the key to the end of its value. */
function rangeAt(document: Document, path: readonly (string | number)[]): [number, number] | null {
  const node = document.getIn(path, true)
  const parent = document.getIn(path.slice(0, -1), true)
  if (!isNode(node) || !node.range) return null
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
    : undefined
  const start = isNode(pair?.key) ? (pair.key.range?.[0] ?? node.range[0]) : node.range[0]
  return [start, Math.max(start, node.range[1] - 1)]
}

function takeDocument(reading: FileReading, part: YamlPart) {
  const { value, lines } = part
  const { apiVersion = '', kind = '' } = value
  const group = String(apiVersion).split('/')[0]
  if (kind === 'KubeletConfiguration' || isKubeletFile(value))
    reading.parts.push({
      kind: 'KubeletConfiguration',
      file: reading.file,
      lines,
      target: {},
      content: value,
    })
  else if (group === 'node.eks.aws') {
    takeNodeConfigMistakes(reading, part)
    const source = { ...ofNodeConfig(value) }
    reading.parts.push({ kind: 'NodeConfig', file: reading.file, lines, target: {}, source })
  } else if (group === 'karpenter.k8s.aws' && kind === 'EC2NodeClass') takeNodeClass(reading, part)
  else if (group === 'karpenter.sh' && kind === 'NodePool') takeNodePool(reading, part)
  else if (group === 'eksctl.io') clusterConfigParts(reading, part)
}

/** Source: amazon-eks-ami nodeadm/api/v1alpha1 nodeconfig_types.go; nodeadm drops fields that it does not know */
const nodeConfigFields = {
  spec: ['cluster', 'containerd', 'featureGates', 'hybrid', 'instance', 'kubelet'],
  kubelet: ['config', 'flags', 'maxPodsExpression'],
}

function takeNodeConfigMistakes({ problems }: FileReading, { value, linesAt }: YamlPart) {
  const { apiVersion, kind, spec } = value
  const { kubelet } = mapOf(spec)
  const { config = {} } = mapOf(kubelet)
  const refuse = (field: string, text: string, line: number) =>
    problems.push({ kind: 'refused', line, field, text: `nodeadm: ${text}` })
  const unregistered = `no kind "${kind}" is registered for version "${apiVersion}"`
  if (kind !== 'NodeConfig') refuse('kind', unregistered, linesAt('kind').from)
  else if (apiVersion !== 'node.eks.aws/v1alpha1')
    refuse('apiVersion', unregistered, linesAt('apiVersion').from)
  if (config !== null && !isRawObject(config))
    refuse('config', 'spec.kubelet.config is no map', linesAt('spec', 'kubelet', 'config').from)
  const meant = Object.values(nodeConfigFields).flat()
  const ignore = (path: string[], fields: object, known: readonly string[]) => {
    for (const field of Object.keys(fields)) {
      // Any other name may be a field of a later nodeadm.
      const isMeant = isConfigurationField(field) || nearestName(field, meant) !== null
      if (known.includes(field) || !isMeant) continue
      problems.push({
        kind: 'no-effect',
        line: linesAt(...path, field).from,
        field,
        text: `${[...path, field].join('.')} takes no effect: a NodeConfig has no such field.`,
      })
    }
  }
  ignore(['spec'], mapOf(spec), nodeConfigFields.spec)
  ignore(['spec', 'kubelet'], mapOf(kubelet), nodeConfigFields.kubelet)
}

/** A file that forgot its kind, which the kubelet refuses. */
const isKubeletFile = ({ kind, apiVersion, ...fields }: RawObject) =>
  kind === undefined &&
  apiVersion === undefined &&
  Object.keys(fields).length > 0 &&
  Object.keys(fields).every(isConfigurationField) &&
  Object.keys(fields).some(field => /^(eviction|imageGC|kubeReserved|systemReserved)/.test(field))

/** Empty: it has none, or an expression. */
function nameOf({ metadata }: RawObject) {
  const name = String(mapOf(metadata).name ?? '')
  return isExpression(name) ? '' : name
}

/** Null: the class does not say, or of no family with known files. Source: karpenter.sh, NodeClasses, spec.amiFamily */
function familyOf({ amiFamily, amiSelectorTerms }: RawObject) {
  const terms = Array.isArray(amiSelectorTerms) ? amiSelectorTerms : []
  const aliases = terms.map(term => String(mapOf(term).alias ?? '').split('@')[0])
  const families = ['AL2', 'AL2023', 'Bottlerocket'] as const
  return (
    families.find(family => family === amiFamily) ??
    families.find(family => aliases.includes(family.toLowerCase())) ??
    null
  )
}

function takeNodeClass(reading: FileReading, part: YamlPart) {
  const before = reading.parts.length
  takeClassParts(reading, part)
  const amiFamily = familyOf(mapOf(part.value.spec))
  if (amiFamily !== null) for (const own of reading.parts.slice(before)) own.amiFamily = amiFamily
}

function takeClassParts(reading: FileReading, { value, linesAt }: YamlPart) {
  const { file, parts } = reading
  const spec = mapOf(value.spec)
  const target = { nodeClass: nameOf(value) }
  const kind = 'EC2NodeClass'
  // Karpenter appends its own part to the user data, so its own part acts last.
  if (typeof spec.userData === 'string')
    takeUserData(reading, spec.userData, linesAt('spec', 'userData'), target, kind)
  if (!isRawObject(spec.kubelet)) return
  const unused =
    spec.amiFamily === 'Custom'
      ? 'Karpenter tells nodes of amiFamily Custom nothing but their own user data'
      : undefined
  const source = { config: spec.kubelet, source: 'karpenter' }
  const lines = linesAt('spec', 'kubelet')
  for (const field of Object.keys(spec.kubelet))
    if (isConfigurationField(field) && !Object.hasOwn(nodeClassKubeletFields, field))
      reading.problems.push({
        kind: 'refused',
        line: linesAt('spec', 'kubelet', field).from,
        field,
        text: `strict decoding error: unknown field "spec.kubelet.${field}": EC2NodeClass does not have it up to Karpenter 1.14.`,
      })
  parts.push({ kind, file, lines, target, source, ...(unused && { unused }) })
}

/** Only v1beta1 has kubelet settings in a NodePool. Source: karpenter.sh upgrade guide, v1 migration. */
function takeNodePool(reading: FileReading, { value, linesAt }: YamlPart) {
  const { kubelet } = mapOf(mapOf(mapOf(value.spec).template).spec)
  if (!isRawObject(kubelet)) return
  const lines = linesAt('spec', 'template', 'spec', 'kubelet')
  const target = { nodePool: nameOf(value) }
  const isOld = String(value.apiVersion).endsWith('/v1beta1')
  if (!isOld)
    reading.problems.push({
      kind: 'refused',
      line: lines.from,
      field: 'spec.template.spec.kubelet',
      text: 'strict decoding error: unknown field "spec.template.spec.kubelet": since karpenter.sh/v1 the EC2NodeClass has it.',
    })
  const source = { config: kubelet, source: 'karpenter' }
  reading.parts.push({
    kind: 'NodePool',
    file: reading.file,
    lines,
    target,
    ...(isOld
      ? { source }
      : { source, unused: 'a NodePool of karpenter.sh/v1 has no kubelet settings' }),
  })
}

/**
 * Kubelet settings in eksctl's ClusterConfig.
 * Source: eksctl pkg/apis/eksctl.io/v1alpha5 validation.go, pkg/nodebootstrap al2023.go; managedNodeGroups have no kubeletExtraConfig
 */
const lists = ['nodeGroups', 'managedNodeGroups'] as const

function clusterConfigParts(reading: FileReading, part: YamlPart) {
  const cluster = String(mapOf(part.value.metadata).name ?? '')
  for (const list of lists) {
    const groups = part.value[list]
    if (!Array.isArray(groups)) continue
    for (const [index, group] of groups.entries())
      if (isRawObject(group)) takeGroup(reading, part, group, { list, index, cluster })
  }
}

interface GroupPlace {
  list: (typeof lists)[number]
  index: number
  cluster: string
}

function takeGroup(
  reading: FileReading,
  { linesAt }: YamlPart,
  group: RawObject,
  { list, index, cluster }: GroupPlace,
) {
  const { file, parts, problems } = reading
  const target = { cluster, group: String(group.name ?? '') }
  const head = { kind: 'ClusterConfig', file, target } as const
  const lines = (...path: (string | number)[]) => linesAt(list, index, ...path)
  const refuse = (text: string, field: string, at = lines('kubeletExtraConfig')) =>
    problems.push({ kind: 'refused', line: at.from, field, text: `eksctl: ${text}` })
  const { kubeletExtraConfig, amiFamily, preBootstrapCommands, overrideBootstrapCommand } = group
  if (isRawObject(kubeletExtraConfig)) {
    const at = `${list}[${index}]`
    if (list === 'managedNodeGroups')
      refuse('json: unknown field "kubeletExtraConfig"', 'kubeletExtraConfig')
    else if (amiFamily === 'Bottlerocket' || String(amiFamily).startsWith('Windows'))
      refuse(
        `kubeletExtraConfig is not supported for ${amiFamily} nodegroups (path=${at}.kubeletExtraConfig)`,
        'kubeletExtraConfig',
      )
    for (const field of Object.keys(kubeletExtraConfig))
      if (refusedByEksctl.has(field))
        refuse(
          `cannot override "${field}" in kubelet config, as it's critical to eksctl functionality`,
          field,
        )
    const source = { config: kubeletExtraConfig, source: 'eksctl' }
    if (list === 'nodeGroups') parts.push({ ...head, lines: lines('kubeletExtraConfig'), source })
  }
  for (const key of Object.keys(group))
    if (key !== 'kubeletExtraConfig' && nearestName(key, ['kubeletExtraConfig']) !== null)
      refuse(`json: unknown field "${key}", did you mean kubeletExtraConfig`, key, lines(key))
  const commands = Array.isArray(preBootstrapCommands) ? preBootstrapCommands : []
  for (const [at, command] of commands.entries())
    if (typeof command === 'string')
      takeUserData(
        reading,
        `#!/bin/bash\n${command}`,
        lines('preBootstrapCommands', at),
        target,
        'ClusterConfig',
      )
  if (typeof overrideBootstrapCommand === 'string')
    takeUserData(
      reading,
      overrideBootstrapCommand,
      lines('overrideBootstrapCommand'),
      target,
      'ClusterConfig',
    )
  const { kubernetes } = mapOf(mapOf(group.bottlerocket).settings)
  if (!isRawObject(kubernetes)) return
  const at = lines('bottlerocket', 'settings', 'kubernetes')
  refuseBottlerocket(reading, kubernetes, at)
  // YAML has numbers that JSON and TOML lack.
  const source = { ...bottlerocketPiece(JSON.parse(JSON.stringify(kubernetes))) }
  parts.push({ ...head, lines: at, source })
}
