/** The judged cluster as a file: the result in the first line, then one node per line. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Keep } from '#base/keep.ts'
import { inputLimits } from '#base/limits.ts'
import { jsonFlaw } from '#base/raw-object.ts'
import type { Store } from '#clients/store/store.ts'
import type { SharedParts } from '#judge/run/shared-parts.ts'
import type { AuditedNode, NodeDetails } from '#model/report.ts'
import type { Judged } from '#pipeline/audit/judge-records.ts'
import { openLines } from '#snapshot/write.ts'
import { readFile } from './files.ts'

type JudgedPart = Omit<Judged, 'header'>
type NodeLine = Omit<AuditedNode, 'details'> & { details: NodeDetails }

export async function writeJudged(
  store: Store,
  key: string,
  { nodes, ...rest }: JudgedPart,
  folder: string,
): Promise<void> {
  const path = join(folder, 'judged.ndjson.gz')
  const file = openLines(path)
  try {
    await file.write(rest)
    for (const node of nodes)
      await file.write({ ...node, details: node.details() } satisfies NodeLine)
    await file.close()
  } catch (error) {
    await file.discard()
    throw error
  }
  await store.writeFile(key, path, 'application/gzip')
  await rm(path)
}

/**
 * Null: no such file. Parts that are equal in several clusters are stored once. @param memory the parts of all clusters, and where the
 * details of nodes are kept
 * @throws BrokenFile if it cannot be parsed
 */
export const readJudged = (
  store: Store,
  key: string,
  memory: NodeMemory,
): Promise<JudgedPart | null> => readFile(store, key, body => parseJudged(body, memory))

interface NodeMemory {
  share: SharedParts
  keep: Keep
}

async function parseJudged(body: Buffer, { share, keep }: NodeMemory): Promise<JudgedPart> {
  let part: Omit<JudgedPart, 'nodes'> | null = null
  const nodes: AuditedNode[] = []
  for await (const line of linesOf(
    Readable.from([body]).pipe(createGunzip()).setEncoding('utf8'),
  )) {
    if (part === null) part = share.withTexts(parsedLine(line) as Omit<JudgedPart, 'nodes'>)
    else {
      const { details, ...node } = parsedLine(line) as NodeLine
      nodes.push({ ...share.nodeOf(node), details: keep(details) })
    }
  }
  if (part === null) throw new Error('it is empty')
  return { ...part, nodes }
}

/** The bucket may be in other hands. @throws Error if the line has more than a function writes */
function parsedLine(line: string): unknown {
  const flaw = jsonFlaw(Buffer.from(line), inputLimits.storedJson)
  if (flaw !== null) throw new Error(flaw)
  return JSON.parse(line)
}

/** Splits a text into lines. Node's readline would hide errors of its input. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of text) {
    const [first = '', ...more] = chunk.split('\n')
    rest += first
    for (const next of more) {
      yield rest
      rest = next
    }
  }
  if (rest !== '') yield rest
}
