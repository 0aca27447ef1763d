/** The judged cluster as a file: the result in the first line, then one node per line. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gunzipChunks } from '#base/gzip.ts'
import type { Keep } from '#base/keep.ts'
import { judgedLimits, judgedLineLimit } from '#base/limits.ts'
import { jsonFlaw } from '#base/raw-object.ts'
import type { Store } from '#clients/store/store.ts'
import { plainPrediction } from '#judge/run/kept-prediction.ts'
import type { SharedParts } from '#judge/run/shared-parts.ts'
import type { AuditedNode, NodeDetails } from '#model/report.ts'
import type { Judged } from '#pipeline/audit/judge-records.ts'
import { linesIn } from '#snapshot/read.ts'
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
      await file.write({
        ...node,
        prediction: plainPrediction(node.prediction),
        details: node.details(),
      } satisfies NodeLine)
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
  const { maxLines, maxUnpackedBytes } = judgedLimits(body.length)
  for await (const line of linesIn(gunzipChunks(Readable.from([body]), maxUnpackedBytes))) {
    if ('lost' in line) throw new Error(line.lost)
    if (nodes.length > maxLines) throw new Error('no such file has so many lines')
    if (!part) part = share.withTexts(parsedLine(line.bytes) as Omit<JudgedPart, 'nodes'>)
    else {
      const { details, ...node } = parsedLine(line.bytes) as NodeLine
      nodes.push({ ...share.nodeOf(node), details: keep(details) })
    }
  }
  if (!part) throw new Error('it is empty')
  return { ...part, nodes }
}

/** The bucket may be in other hands. @throws Error if the line has more than a function writes */
function parsedLine(line: Buffer): unknown {
  const flaw = jsonFlaw(line, judgedLineLimit(line.length))
  if (flaw !== null) throw new Error(flaw)
  return JSON.parse(line.toString())
}
