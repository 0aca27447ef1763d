/**
 * The least that the same answers cost: `floor.ts FILE` sends the requests of the file with a bare `node:https`, gunzips and parses each
 * answer, and drops it.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { gunzipSync } from 'node:zlib'

export interface FloorWork {
  server: string
  ca: string
  token: string
  concurrency: number
  requests: [url: string, accept: string][]
}

const work: FloorWork = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const agent = new Agent({ keepAlive: true, maxSockets: work.concurrency, ca: work.ca })

function read(url: string, accept: string): Promise<unknown> {
  const headers = { accept, 'accept-encoding': 'gzip', authorization: `Bearer ${work.token}` }
  return new Promise((resolve, reject) => {
    const sent = request(work.server + url, { agent, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () =>
        resolve(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString('utf8'))),
      )
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

let next = 0
async function readOn(): Promise<void> {
  for (let one = work.requests[next++]; one; one = work.requests[next++]) await read(...one)
}
await Promise.all(Array.from({ length: work.concurrency }, readOn))
agent.destroy()
