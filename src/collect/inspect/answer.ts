/**
 * Reads what an inspect script printed on a node. The node may be broken or hostile, so the form is checked strictly. A malformed answer is
 * refused with the reason. A malformed part is dropped as a whole and named in `unread`.
 */

import { createHash } from 'node:crypto'
import type * as z from 'zod'
import { ForeignTextError, parseYaml, TextBudget } from '#base/foreign-text.ts'
import { gunzip } from '#base/gzip.ts'
import { inputLimits, maxCompressionRatio, textLimits } from '#base/limits.ts'
import { isRawObject, jsonFlaw, parsedJson, type RawObject } from '#base/raw-object.ts'
import { redact } from '#base/redaction/redact.ts'
import { inspectSchema } from '#facts/aws/inspect-targets.ts'
import { flagValue } from '#facts/kubelet/flag-settings.ts'
import { type AnsweredFile, hostParts, isTime, runtimeParts } from '#model/input/inspection.ts'
import { checkAnsweredConfigz } from '#model/kubelet/configuration.ts'

export interface InspectAnswer {
  isKnown: true
  instanceId: string
  /** Empty: the node did not report it. */
  nodeName: string
  /** RFC 3339, by the node's own clock; null: not reported. */
  at: string | null
  host: RawObject
  runtime: RawObject | null
  /** The body of the kubelet's own `/configz`. */
  configz: RawObject | null
}

export interface NoAnswer {
  isKnown: false
  reason: string
}

const hostSchema = 'highwater.host/1'
const { maxBytes: answerMaxBytes } = inputLimits.inspection
const shownLength = 80

/** @param sentTo the instance that received the command; another instance's answer is refused @param node its node */
export function readAnswer(
  output: string,
  sentTo: string,
  node: string | null = null,
): InspectAnswer | NoAnswer {
  try {
    const outer = parseDocument(output.trim())
    const document = outer.encoding === undefined ? outer : parseDocument(unpackAnswer(outer))
    if (document.encoding !== undefined) throw new AnswerRefusal('it is packed twice')
    const answer = answerOf(document, sentTo)
    const other = node === null ? null : whyOtherNode(answer, node)
    if (other !== null) throw new AnswerRefusal(other)
    return answer
  } catch (error) {
    if (error instanceof AnswerRefusal)
      return {
        isKnown: false,
        reason: `what the inspect script printed cannot be used: ${error.message}`,
      }
    throw error
  }
}

/** Adds the answer of the second document: the use of disks. @param disks an error: why there is none */
export function withDiskUse(answer: InspectAnswer, disks: InspectAnswer | Error): InspectAnswer {
  const first = unreadOf(answer)
  const reasons =
    disks instanceof Error ? [{ what: 'diskUse', why: disks.message }] : unreadOf(disks)
  const known = new Set(first.map(({ what }) => what))
  const { diskUse } = disks instanceof Error ? {} : disks.host
  return {
    ...answer,
    host: {
      ...answer.host,
      ...(diskUse === undefined ? {} : { diskUse }),
      unread: [...first, ...reasons.filter(({ what }) => !known.has(what))],
    },
  }
}

const unreadOf = ({ host }: InspectAnswer): Unread[] =>
  Array.isArray(host.unread) ? host.unread : []

const packedHead =
  /^\{"schema":"highwater\.inspect\/1","encoding":"gzip\+base64","bytes":\d{1,9},"sha256":"[0-9a-f]{64}","data":"/
/** The agent writes this mark in place of the last characters. Source: amazon-ssm-agent, agent/framework/processor/executer/iohandler. */
const truncatedMark = /-{2,3} ?output truncated ?-{2,3}\s*$/i

/**
 * Reads the whole answer from S3, where other nodes may write, too. The answer counts only if it begins with what SSM delivered for
 * this instance. That beginning contains the length and the SHA-256 of the rest.
 * @param delivered the beginning of the answer, which SSM keeps
 */
export function readWholeAnswer(
  output: string,
  delivered: string,
  sentTo: string,
  node: string,
): InspectAnswer | NoAnswer {
  const beginning = delivered.replace(truncatedMark, '')
  if (!packedHead.test(beginning))
    return {
      isKnown: false,
      reason: 'what SSM delivered names no length and SHA-256, so the object in S3 proves nothing',
    }
  return output.startsWith(beginning)
    ? readAnswer(output, sentTo, node)
    : {
        isKnown: false,
        reason:
          'the object in S3 is not what the node printed: it begins otherwise than what SSM delivered',
      }
}

/**
 * Why the answer does not belong to this node; null: it may belong to it. A node's name is the kubelet's --hostname-override, else the host's name in
 * small letters. The in-tree AWS cloud provider ignores the host's name, so then the reported name proves nothing.
 * Source: pkg/util/node GetHostname; k8s.io/legacy-cloud-providers aws.go CurrentNodeName.
 */
export function whyOtherNode({ nodeName, host }: InspectAnswer, node: string): string | null {
  const reported = nodeName.trim().toLowerCase()
  const isSame =
    reported === '' ||
    reported === node ||
    node.startsWith(`${reported}.`) ||
    reported.startsWith(`${node}.`)
  if (isSame || isNamedByProvider(host.kubelet)) return null
  return `it says that it is the node ${valueText(nodeName)}, not ${node}`
}

/** The kubelet takes its node name from EC2, so it differs from the name of the host. */
function isNamedByProvider(kubelet: unknown) {
  const line =
    isRawObject(kubelet) && Array.isArray(kubelet.commandLine)
      ? kubelet.commandLine.map(String)
      : []
  return (
    flagValue(line, 'cloud-provider') === 'aws' && flagValue(line, 'hostname-override') === null
  )
}

class AnswerRefusal extends Error {}

function parseDocument(text: string) {
  if (text === '') throw new AnswerRefusal('it is empty')
  if (text.length > answerMaxBytes)
    throw new AnswerRefusal(`it has ${text.length} characters: no answer is that long`)
  const excess = jsonFlaw(Buffer.from(text), inputLimits.inspection)
  if (excess !== null) throw new AnswerRefusal(excess)
  const document = parsedJson(text, inputLimits.inspection)
  if (document === undefined) {
    const isBegun = text.startsWith('{"schema":"highwater.inspect/')
    throw new AnswerRefusal(
      isBegun
        ? `it breaks off or is damaged within its ${text.length} characters`
        : 'it is no JSON',
    )
  }
  const flaw = jsonFlawOf(text)
  if (flaw !== null) throw new AnswerRefusal(flaw)
  if (!isRawObject(document)) throw new AnswerRefusal('it is no JSON object')
  if (document.schema !== inspectSchema)
    throw new AnswerRefusal(
      `it is of schema ${valueText(document.schema)}; this version reads ${inspectSchema}`,
    )
  return document
}

/** Unpacks an answer. Its length and hash must be those that the node reports. */
function unpackAnswer({ encoding, bytes, sha256, data }: RawObject) {
  if (encoding !== 'gzip+base64')
    throw new AnswerRefusal(`its encoding ${valueText(encoding)} is not known`)
  if (typeof data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data) || data.length % 4 !== 0)
    throw new AnswerRefusal('its data is no base64')
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    throw new AnswerRefusal('it does not say how long it is')
  if (bytes > answerMaxBytes)
    throw new AnswerRefusal(`it says that it has ${bytes} bytes: no answer is that long`)
  const text = gunzippedData(Buffer.from(data, 'base64'), bytes)
  if (text.length !== bytes)
    throw new AnswerRefusal(`it says that it has ${bytes} bytes, and has ${text.length}`)
  if (createHash('sha256').update(text).digest('hex') !== sha256)
    throw new AnswerRefusal('its SHA-256 differs from the stated one')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(text).trim()
  } catch {
    throw new AnswerRefusal('it is no UTF-8')
  }
}

/** Stops one byte after the stated size, so a decompression bomb is not unpacked. */
function gunzippedData(packed: Buffer, bytes: number) {
  const unpacked = gunzip(packed, bytes + 1)
  if (typeof unpacked !== 'string') return unpacked
  if (unpacked === 'broken') throw new AnswerRefusal('its data cannot be unpacked')
  throw new AnswerRefusal(
    unpacked === 'too-long'
      ? `it says that it has ${bytes} bytes, and has more`
      : `it is more than ${maxCompressionRatio} times as long as its gzip`,
  )
}

function answerOf(document: RawObject, sentTo: string): InspectAnswer {
  const { instanceId, nodeName, at, host, runtime, configz } = document
  if (instanceId !== sentTo)
    throw new AnswerRefusal(`it comes from ${valueText(instanceId)}, not from ${sentTo}`)
  if (!isRawObject(host)) throw new AnswerRefusal('it has no "host"')
  if (host.schema !== hostSchema)
    throw new AnswerRefusal(
      `its host is of schema ${valueText(host.schema)}; this version reads ${hostSchema}`,
    )
  const unread: Unread[] = []
  const keptHost = keptParts(host, hostParts, 'host.', unread)
  const keptRuntime = isRawObject(runtime)
    ? keptParts(runtime, runtimeParts, 'runtime.', unread)
    : null
  if (runtime !== undefined && runtime !== null && !keptRuntime)
    unread.push(malformedPart('runtime', 'no object'))
  const reportedAt = typeof at === 'string' && isTime(at) ? at : null
  if (isRawObject(keptHost.kubelet))
    keptHost.kubelet = withSoundStart(keptHost.kubelet, reportedAt, unread)
  const lacking = Array.isArray(keptHost.unread) ? keptHost.unread : []
  const kubelet = isRawObject(keptHost.kubelet)
    ? { kubelet: withParsedFiles(keptHost.kubelet, unread) }
    : {}
  const keptConfigz = readConfigz(configz, unread)
  return {
    isKnown: true,
    instanceId: sentTo,
    nodeName: typeof nodeName === 'string' ? nodeName : '',
    at: reportedAt,
    host: {
      schema: hostSchema,
      ...keptHost,
      ...kubelet,
      ...declaredMirrors(keptHost),
      unread: [...lacking, ...unread],
    },
    runtime: keptRuntime && Object.keys(keptRuntime).length > 0 ? keptRuntime : null,
    configz: keptConfigz,
  }
}

/** A clock that was set back can explain minutes. A later start time is dropped, because it shows no restart. */
const clockSetBackMs = 5 * 60_000

function withSoundStart(
  { startedAt, ...kubelet }: RawObject,
  at: string | null,
  unread: Unread[],
): RawObject {
  if (typeof startedAt !== 'string') return kubelet
  if (at !== null && Date.parse(startedAt) <= Date.parse(at) + clockSetBackMs)
    return { startedAt, ...kubelet }
  const why =
    at === null
      ? 'the node reported no time of its own to compare it with'
      : `${startedAt} is after ${at}, the time of the node's answer`
  unread.push({ what: "the kubelet's start", why })
  return kubelet
}

/** On Bottlerocket the settings declare containerd's mirrors: as a list of registries with endpoints, in older versions as a map. */
function declaredMirrors({ bottlerocket }: RawObject): RawObject {
  const registries =
    isRawObject(bottlerocket) && isRawObject(bottlerocket.containerRegistry)
      ? bottlerocket.containerRegistry.mirrors
      : undefined
  if (registries === undefined) return {}
  const entries: unknown[] = Array.isArray(registries)
    ? registries
    : Object.entries(isRawObject(registries) ? registries : {}).map(([registry, endpoint]) => ({
        registry,
        endpoint,
      }))
  const mirrors = entries
    .filter(isRawObject)
    .map(({ registry, endpoint }) => ({
      registry: String(registry),
      hosts: Array.isArray(endpoint) ? endpoint.map(String) : [],
    }))
  return { containerd: { mirrors } }
}

interface Unread {
  what: string
  why: string
}

function keptParts(
  whole: RawObject,
  parts: Readonly<Record<string, z.ZodType>>,
  where: string,
  unread: Unread[],
) {
  const kept: RawObject = {}
  for (const [name, part] of Object.entries(parts)) {
    if (whole[name] === undefined || whole[name] === null) continue
    const parsed = part.safeParse(whole[name])
    if (parsed.success) kept[name] = parsed.data
    else
      unread.push(malformedPart(`${where}${name}`, parsed.error.issues[0]?.path.join('.') || 'it'))
  }
  return kept
}

const malformedPart = (what: string, where: string): Unread => ({
  what,
  why: `not of the form that the script prints (${valueText(where)}), so all of it was dropped`,
})

/** Content that is no JSON came as text. The kubelet reads both as YAML. */
function withParsedFiles(kubelet: RawObject, unread: Unread[]): RawObject {
  const budget = new TextBudget(textLimits.nodeFiles)
  const files = Array.isArray(kubelet.files) ? kubelet.files : []
  return { ...kubelet, files: files.map(file => parsedFile(file, unread, budget)) }
}

function parsedFile(file: AnsweredFile, unread: Unread[], budget: TextBudget): AnsweredFile {
  const isConfiguration = file.role !== 'environment'
  if (!isConfiguration || typeof file.content !== 'string') return file
  const parsed = parseYamlObject(file.content, budget)
  // A flaw in a file that the kubelet ignores leaves no doubt about the kubelet's settings.
  if (!parsed.value && file.role !== 'ignored')
    unread.push({ what: `kubelet file ${file.path}`, why: parsed.reason })
  return { ...file, content: parsed.value }
}

function readConfigz(configz: unknown, unread: Unread[]) {
  if (configz === undefined || configz === null) return null
  try {
    checkAnsweredConfigz(configz)
    return isRawObject(configz) ? configz : null
  } catch (error) {
    unread.push({
      what: 'the running configuration',
      why: error instanceof Error ? error.message.slice(0, 300) : String(error),
    })
    return null
  }
}

const valueText = (value: unknown) =>
  redact((JSON.stringify(value) ?? 'none').slice(0, 4 * shownLength)).slice(0, shownLength)

/* Finds flaws of a JSON text that JSON.parse does not report. */

const deepest = 64

/** Why a text that JSON.parse accepts is refused: a duplicate key (only the last would count), or too deep nesting. */
function jsonFlawOf(json: string) {
  /** The keys of each open object; null: a list. */
  const open: (Set<string> | null)[] = []
  let isKeyNext = false
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') {
      const end = endOfString(json, at)
      const keys = open.at(-1)
      if (isKeyNext && keys) {
        const key: unknown = JSON.parse(json.slice(at, end + 1))
        if (typeof key !== 'string' || keys.has(key))
          return `the key ${JSON.stringify(key).slice(0, 80)} stands twice in one object`
        keys.add(key)
      }
      isKeyNext = false
      at = end
    } else if (character === '{' || character === '[') {
      if (open.push(character === '{' ? new Set() : null) > deepest)
        return `it is nested deeper than ${deepest}`
      isKeyNext = character === '{'
    } else if (character === '}' || character === ']') {
      open.pop()
      isKeyNext = false
    } else if (character === ',') isKeyNext = open.at(-1) !== null
  }
  return null
}

function endOfString(json: string, begin: number) {
  let at = begin + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}

/**
 * Parses a configuration file as the kubelet does: YAML 1.1, which includes JSON. Duplicate keys are refused, because nothing shows which one counts.
 * Aliases are refused, because they can expand a small text. The kubelet's reader also ends a line at a lone CR, so a CR becomes an LF here. A text
 * with one of three line ends beyond ASCII is refused: such a character may be part of a value.
 *
 * Source: go.yaml.in/yaml/v2 yamlprivateh.go is_break
 * @param budget what all files of the node may still cost
 */
export function parseYamlObject(
  text: string,
  budget: TextBudget,
): { value: RawObject; reason: '' } | { value: null; reason: string } {
  if (/[\u0085\u2028\u2029]/.test(text))
    return {
      value: null,
      reason: 'it has ends of line beyond CR and LF, which not every reader takes for such',
    }
  try {
    const parsed = parseYaml(text.replace(/\r\n?/g, '\n'), budget, kubeletForm)
    const value: unknown = JSON.parse(JSON.stringify(parsed) ?? 'null')
    return isRawObject(value)
      ? { value, reason: '' }
      : { value: null, reason: 'its YAML is no object' }
  } catch (error) {
    if (!(error instanceof ForeignTextError)) throw error
    return { value: null, reason: error.message }
  }
}

const kubeletForm = {
  version: '1.1',
  hasUniqueKeys: true,
  hasAliases: false,
  isFirstDocumentOnly: true,
} as const
