/** Reads a snapshot line by line, gzipped or not. A line that is no record becomes `Malformed` with its number, and reading continues. */

import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { gunzipChunks } from '#base/gzip.ts'
import {
  answerLimits,
  inputLimits,
  listLimits,
  objectsAtOnce,
  snapshotLimits,
  textLimits,
} from '#base/limits.ts'
import { codeOf, messageOf, OperatorError } from '#base/operator-error.ts'
import { isRawObject, jsonFlaw, jsonWithKeys, type RawObject } from '#base/raw-object.ts'
import { redact } from '#base/redaction/redact.ts'
import {
  type MalformedLine,
  type NodeRecord,
  type SnapshotRecord,
  snapshotSchema,
  sourcesUnknownTo,
} from '#model/input/record.ts'
import { isMoment } from '#model/plan.ts'
import { nodeParts, prune } from './prune.ts'

const { maxBytes: maxLineLength } = inputLimits.snapshotLine
/** After this many malformed lines the file is no snapshot, and the rest is not read. */
const maxMalformedLines = 10_000

export interface ReadOptions {
  /** Aborts the reading. */
  signal?: AbortSignal | undefined
  /** The file is a part of a snapshot, so it needs no header. */
  isPart?: boolean
  /** What is needed of each record, in their order. Null: nothing. The rest is neither redacted nor kept. */
  cut?: RecordCut | undefined
  /** Keys of a node's record that are needed. The others are neither parsed nor checked. Default: all. */
  nodeKeys?: ReadonlySet<string> | undefined
}

export type RecordCut = (record: SnapshotRecord) => SnapshotRecord | null

/**
 * Ends after 10,000 malformed lines.
 * @throws OperatorError when the file cannot be opened, or is of a schema that this version does not know; the signal's reason
 */
export async function* readSnapshot(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<SnapshotRecord | MalformedLine> {
  let malformed = 0
  for await (const record of recordsIn(path, options)) {
    for (const page of pagesOf(record)) {
      const needed = page.kind === 'Malformed' ? page : (options.cut ?? keepRecord)(page)
      if (needed) yield needed.kind === 'Malformed' ? needed : prune(needed)
    }
    if (record.kind !== 'Malformed' || ++malformed < maxMalformedLines) continue
    const message = `${malformed} lines are no records: what follows is not read`
    yield { kind: 'Malformed', line: record.line, message }
    return
  }
}

const keepRecord: RecordCut = record => record

/** Long lists of objects are cut page by page: each takes up to a second. */
function* pagesOf(record: SnapshotRecord | MalformedLine): Iterable<typeof record> {
  if (record.kind !== 'Objects' || record.items.length <= objectsAtOnce) return yield record
  for (let at = 0; at < record.items.length; at += objectsAtOnce)
    yield { ...record, items: record.items.slice(at, at + objectsAtOnce) }
}

/** How this program begins the line of a node. */
const nodeStart = Buffer.from('{"kind":"Node",')

async function* recordsIn(
  path: string,
  { isPart = false, signal, nodeKeys }: ReadOptions,
): AsyncGenerator<SnapshotRecord | MalformedLine> {
  let line = 0
  let hasHeader = isPart
  let unknownSources = isPart ? [] : sourcesUnknownTo({})
  const clusters = new Set<string>()
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  const { maxLines, maxNodes, maxClusters } = snapshotLimits(size)
  let nodes = 0
  const tooMany = (what: string): MalformedLine => ({
    kind: 'Malformed',
    line,
    message: `no snapshot of ${size} bytes has so many ${what}: what follows is not read`,
  })
  for await (const found of lines(path, signal)) {
    line += 1
    if (line > maxLines) return yield tooMany('lines')
    if ('lost' in found) {
      yield { kind: 'Malformed', line, message: found.lost }
      continue
    }
    const { bytes } = found
    const isCuttable =
      nodeKeys !== undefined && nodeStart.equals(bytes.subarray(0, nodeStart.length))
    const needed = isCuttable ? jsonWithKeys(bytes, nodeKeys) : bytes
    const text = needed.toString()
    // Windows editors begin a UTF-8 file with a byte order mark.
    const written = line === 1 ? text.replace(/^\uFEFF/, '') : text
    if (written.trim() === '') continue
    const record = parseLine(written, needed, line)
    if (record.kind === 'Snapshot') {
      if (record.schema !== snapshotSchema)
        throw new OperatorError(
          `${path} is of schema ${JSON.stringify(record.schema)}; this version reads ${snapshotSchema}`,
        )
      if (hasHeader) {
        yield { kind: 'Malformed', line, message: 'a Snapshot line stands only at the beginning' }
        continue
      }
      hasHeader = true
      unknownSources = sourcesUnknownTo(record)
    } else if (!hasHeader) {
      hasHeader = true
      yield {
        kind: 'Malformed',
        line,
        message: `the first line is no {"kind":"Snapshot","schema":"${snapshotSchema}","takenAt":…}`,
      }
    }
    if (record.kind === 'Node') nodes += shareOf(record)
    if (nodes > maxNodes) return yield tooMany('nodes')
    if ('cluster' in record && clusters.add(record.cluster).size > maxClusters)
      return yield tooMany('clusters')
    yield record.kind === 'Node' ? { ...record, unknownSources } : record
  }
  if (line === 0 && !isPart) throw new OperatorError(`${path} is empty`)
}

/** What a node costs, as a share of one that was read. */
const shareOf = ({ configz, summary, runtime, host }: NodeRecord) =>
  configz || summary || runtime || host ? 1 : 1 / 3

/** `lost`: why the line is lost, or the file from here on. */
type Line = { bytes: Buffer } | { lost: string }

/** The lines of a file's bytes. @throws what the chunks throw; the signal's reason */
export async function* linesIn(
  chunks: AsyncIterable<Buffer>,
  signal?: AbortSignal,
): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let length = 0
  const add = (part: Buffer) => {
    length += part.length
    // A line that is too long is counted, not kept. Reading continues with the next line.
    if (length <= maxLineLength) parts.push(part)
    else parts = []
  }
  const take = (): Line => {
    const line =
      length <= maxLineLength
        ? { bytes: Buffer.concat(parts) }
        : { lost: `it has ${length} bytes: no record is that long` }
    parts = []
    length = 0
    return line
  }
  for await (const chunk of chunks) {
    signal?.throwIfAborted()
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      add(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  if (length > 0) yield take()
}

const newline = 0x0a

async function* lines(path: string, signal?: AbortSignal): AsyncGenerator<Line> {
  try {
    yield* linesIn(await chunksOf(path), signal)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof OperatorError) throw error
    if (codeOf(error) === 'ENOENT') throw new OperatorError(`${path}: there is no such file`)
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EISDIR')
      throw new OperatorError(`${path} cannot be read (${codeOf(error)})`)
    yield { lost: `the file breaks off here (${messageOf(error)}): what follows is lost` }
  }
}

/** The file's bytes, unpacked if the file is gzipped. @throws OperatorError for a device or a pipe, which may never end */
export async function chunksOf(path: string): Promise<AsyncIterable<Buffer>> {
  const found = await stat(path)
  if (!found.isFile() && !found.isDirectory())
    throw new OperatorError(
      `${path} is no file, but a device or a pipe: save what it gives as a file`,
    )
  const isPacked = await isGzip(path)
  const file = createReadStream(path)
  if (!isPacked) return file
  return gunzipChunks(file, snapshotLimits(found.size).maxUnpackedBytes)
}

async function isGzip(path: string) {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(2), position: 0 })
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}

function parseLine(text: string, bytes: Buffer, line: number): SnapshotRecord | MalformedLine {
  const flaw = jsonFlaw(bytes, inputLimits.snapshotLine)
  if (flaw !== null) return { kind: 'Malformed', line, message: flaw }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return {
      kind: 'Malformed',
      line,
      message: `it is no JSON (${text.length} characters): cut off, or not a line of a snapshot`,
    }
  }
  const mistake = mistakeIn(value)
  return mistake === null
    ? (value as SnapshotRecord)
    : { kind: 'Malformed', line, message: mistake }
}

/** Checks only what every later stage relies on. The other fields are parsed where they are used. */
function mistakeIn(value: unknown) {
  if (!isRawObject(value)) return 'it is no JSON object'
  const { kind, cluster } = value
  if (kind === 'Snapshot') {
    if (typeof value.takenAt !== 'string' || !isMoment(value.takenAt))
      return 'Snapshot without a takenAt time'
    return value.parts == null || Array.isArray(value.parts) ? null : 'Snapshot.parts is no list'
  }
  if (kind !== 'Cluster' && kind !== 'Node' && kind !== 'Objects')
    return `unknown kind ${redact(String(JSON.stringify(kind)).slice(0, 400)).slice(0, 40)}`
  if (typeof cluster !== 'string' || cluster === '') return `${kind} without a cluster name`
  if ('errors' in value && !areErrors(value.errors))
    return `${kind}.errors is no list of {"what","message"}`
  const long = kind === 'Objects' ? null : longListIn(value)
  if (long !== null) return `${kind}.${long}`
  if (kind === 'Node') return mistakeInNode(value)
  if (kind === 'Objects')
    return typeof value.resource === 'string' && isListOfObjects(value.items)
      ? null
      : 'Objects without a resource or a list of items'
  for (const key of ['nodegroups', 'launchTemplates', 'insights'])
    if (value[key] != null && !isListOfObjects(value[key]))
      return `Cluster.${key} is no list of objects`
  return value.eks == null || isRawObject(value.eks) ? null : 'Cluster.eks is no object'
}

function mistakeInNode(value: Record<string, unknown>) {
  const { node, at } = value
  const metadata = isRawObject(node) ? node.metadata : null
  if (!isRawObject(metadata) || typeof metadata.name !== 'string' || metadata.name === '')
    return 'Node without node.metadata.name'
  if (at != null && (typeof at !== 'string' || !isMoment(at))) return 'Node.at is no time'
  const wrong = Object.entries(nodeParts).find(([name, { form }]) => {
    const hasForm = form === 'object' ? isRawObject : isListOfObjects
    return value[name] != null && !hasForm(value[name])
  })
  return wrong ? `Node.${wrong[0]} is no ${wrong[1].form}` : null
}

/** A list that is longer than any real one; null: none. */
function longListIn(record: RawObject) {
  const { node, runtime, host, pods, volumes, errors, configz } = record
  const status = isRawObject(node) && isRawObject(node.status) ? node.status : {}
  const { images, containers, sandboxes } = isRawObject(runtime) ? runtime : {}
  const { logLines, kubelet } = isRawObject(host) ? host : {}
  if (valuesIn(configz) > answerLimits.configz.maxValues)
    return 'configz has more values than a kubelet prints'
  if (isRawObject(kubelet) && valuesIn(kubelet.files) > textLimits.nodeFiles.maxTokens)
    return 'host.kubelet.files has more values than the files of a kubelet'
  const lists = { pods, volumes, errors, images, containers, sandboxes, logLines }
  const found = [...Object.entries(lists), ['images', status.images] as const].find(
    ([name, list]) =>
      Array.isArray(list) && list.length > listLimits[name as keyof typeof listLimits],
  )
  return found ? `${found[0]} has more entries than a node can have` : null
}

const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, one) => sum + valuesIn(one), 1)
    : 1

const isListOfObjects = (value: unknown) => Array.isArray(value) && value.every(isRawObject)
const areErrors = (value: unknown) =>
  Array.isArray(value) &&
  value.every(
    entry =>
      isRawObject(entry) && typeof entry.what === 'string' && typeof entry.message === 'string',
  )
