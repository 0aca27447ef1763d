/**
 * An API server for a bench, in a process of its own: `fleet-server.ts NODES [SLOW_MS]`. The kubelet of the first node takes SLOW_MS for an answer. It keeps each answer of the lab's API server compressed in memory,
 * so that serving costs little. It sends its kubeconfig and the nodes' names when it listens, and its usage since the last time for each message.
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { answer } from '#lab/api.ts'
import { kubernetesApi } from '#lab/apis/kubernetes.ts'
import { issueServing } from '#lab/certificates.ts'
import { kubeconfig } from '#lab/kubeconfig.ts'
import { createWorld } from '#lab/world.ts'
import { nodePaths } from './paths.ts'
import { variedFleet } from './varied-fleet.ts'

/** What the server did since the last message. */
export interface ServerUsage {
  cpuMs: number
  /** Each answered GET: its URL and what it accepts. */
  requests: [url: string, accept: string][]
  /** Before compression. */
  bodyBytes: number
  failed: number
}

export interface ServerStart {
  kubeconfig: string
  token: string
  names: readonly string[]
}

interface Kept {
  status: number
  headers: Record<string, string | number>
  body: Buffer
  bodyBytes: number
}

const keptStatus = 200
/** As long as the token of a ServiceAccount. */
const tokenBytes = 750

const count = Number(process.argv[2])
const slowMs = Number(process.argv[3] ?? 0)
const region = 'us-east-1'
const world = createWorld([variedFleet(count)], { region, at: new Date().toISOString() })
world.kubeconfigToken = randomBytes(tokenBytes).toString('base64url')
const [cluster] = world.clusters.values()
if (!cluster) throw new Error('the bench has no cluster')
const api = kubernetesApi(cluster, world)
const authorization = `Bearer ${world.kubeconfigToken}`
const kept = new Map<string, Kept>()
let usage = noUsage()
let cpu = process.cpuUsage()

const names = cluster.scenario.nodes.names()
for (const name of names) for (const path of nodePaths(name)) await answerOf(path, '*/*')

const { keyPem, certificatePem } = issueServing(cluster.authority, {
  dns: ['localhost'],
  ip: ['127.0.0.1'],
})
const server = createServer({ key: keyPem, cert: certificatePem }, (request, response) => {
  request.resume()
  const { url = '/', headers } = request
  const accept = headers.accept ?? '*/*'
  const isAllowed = headers.authorization === authorization && request.method === 'GET'
  const isSlow = slowMs > 0 && url.includes(`/nodes/${names[0]}/proxy/`)
  const reply = isAllowed ? answerOf(url, accept) : Promise.resolve(null)
  Promise.all([reply, isSlow ? setTimeout(slowMs) : null]).then(([reply]) => {
    if (reply?.status === keptStatus) {
      usage.requests.push([url, accept])
      usage.bodyBytes += reply.bodyBytes
    } else usage.failed++
    response.writeHead(reply?.status ?? 401, reply?.headers)
    response.end(reply?.body)
  })
})
server.listen(0, '127.0.0.1', () => {
  cluster.endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const start: ServerStart = { kubeconfig: kubeconfig(world), token: world.kubeconfigToken, names }
  cpu = process.cpuUsage()
  process.send?.(start)
})
process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu)
  process.send?.({ ...usage, cpuMs: (user + system) / 1000 })
  cpu = process.cpuUsage()
  usage = noUsage()
})
process.on('disconnect', () => process.exit())

/** The same for every way to write an address. */
async function answerOf(url: string, accept: string): Promise<Kept> {
  const form = accept.includes('PartialObjectMetadataList') ? accept : '*/*'
  const key = `${form} ${url.replace('stats%2Fsummary', 'stats/summary')}`
  const known = kept.get(key)
  if (known) return known
  const made = await madeOf(key.slice(form.length + 1), form)
  if (made.status === keptStatus) kept.set(key, made)
  return made
}

async function madeOf(url: string, accept: string): Promise<Kept> {
  const [path = '/', query = ''] = url.split('?')
  const headers = { accept, authorization }
  const request = {
    method: 'GET',
    path,
    query: new URLSearchParams(query),
    headers,
    body: Buffer.alloc(0),
  }
  const reply = await answer(api, request, () => undefined)
  if (typeof reply === 'string') throw new Error(`the lab has no answer to ${url}`)
  const body = gzipSync(reply.body, { level: 1 })
  return {
    status: reply.status,
    headers: {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': body.length,
    },
    body,
    bodyBytes: Buffer.byteLength(reply.body),
  }
}

function noUsage(): ServerUsage {
  return { cpuMs: 0, requests: [], bodyBytes: 0, failed: 0 }
}
