/**
 * Nodes in the wrong hands: whatever they answer costs them alone. The real command line reads them in a process that may take
 * 512 MB, beside healthy nodes.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { FindingsDocument } from '#model/finding.ts'
import { measuredHighwater, temporaryFolder } from '#test/cli.ts'

vi.setConfig({ testTimeout: 180_000 })

const mebibyte = 1024 * 1024
const memoryBytes = 512 * mebibyte
const chunk = Buffer.alloc(65_536, ' ')
/** 63 MB of empty lists in 61 KB. */
const bomb = gzipSync(`{"kubeletconfig":{"zz":[${'[],'.repeat(21_000_000)}[]]}}`)

/** Writes spaces until so many bytes are out, or the reader leaves. */
function pour(response: ServerResponse, bytes: number): void {
  response.writeHead(200)
  let written = 0
  const more = () => {
    while (written < bytes && !response.destroyed) {
      written += chunk.length
      if (!response.write(chunk)) {
        response.once('drain', more)
        return
      }
    }
    response.end()
  }
  more()
}

const shapes: Record<string, (response: ServerResponse) => void> = {
  long: response => pour(response, 64 * mebibyte),
  deep: response =>
    response.writeHead(200).end(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
  many: response => response.writeHead(200).end(`{"items":[${'{},'.repeat(1_000_000)}{}]}`),
  endless: response => pour(response, Number.POSITIVE_INFINITY),
  bomb: response => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
}
const kinds = ['configz', 'summary', 'pods']
const hostile = kinds.flatMap(kind => Object.keys(shapes).map(shape => `${kind}-${shape}`))
const healthy = ['good-0', 'good-1', 'good-2']

const nodeOf = (name: string) => ({
  metadata: { name, labels: {} },
  spec: { providerID: 'aws:///eu-west-1a/i-0aaaaaaaaaaaaaaaa' },
  status: {
    nodeInfo: { kubeletVersion: 'v1.34.1', operatingSystem: 'linux' },
    conditions: [{ type: 'Ready', status: 'True' }],
    capacity: { pods: '110' },
    allocatable: {},
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  },
})

/** What a healthy node answers. */
const plain: Record<string, (name: string) => object> = {
  configz: () => ({
    kubeletconfig: {
      kind: 'KubeletConfiguration',
      imageGCHighThresholdPercent: 85,
      imageMinimumGCAge: '2m0s',
      nodeStatusUpdateFrequency: '10s',
      evictionPressureTransitionPeriod: '5m0s',
    },
  }),
  summary: nodeName => ({
    node: {
      ...{ nodeName, fs: { capacityBytes: 1e11, availableBytes: 5e10 } },
      runtime: { imageFs: { capacityBytes: 1e11, availableBytes: 5e10, usedBytes: 1e10 } },
    },
    pods: [],
  }),
  pods: () => ({ kind: 'PodList', metadata: {}, items: [] }),
}

/** Which node is asked for what; null: none is. */
function askedOf(url: URL): { name: string; kind: string } | null {
  const proxied = /\/nodes\/([^/:]+)[^/]*\/proxy\/(configz|stats\/summary)/.exec(
    decodeURIComponent(url.pathname),
  )
  if (proxied)
    return { name: proxied[1] ?? '', kind: proxied[2] === 'configz' ? 'configz' : 'summary' }
  const selected = /nodeName=([^,\s]+)/.exec(url.searchParams.get('fieldSelector') ?? '')
  return url.pathname === '/api/v1/pods' && selected
    ? { name: selected[1] ?? '', kind: 'pods' }
    : null
}

async function apiServer(): Promise<string> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const json = (body: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const asked = askedOf(url)
    if (asked !== null) {
      const [kind, shape = ''] = asked.name.split('-')
      if (kind === asked.kind) shapes[shape]?.(response)
      else json(plain[asked.kind]?.(asked.name) ?? {})
    } else if (url.pathname === '/api/v1/nodes')
      json({ kind: 'NodeList', metadata: {}, items: [...hostile, ...healthy].map(nodeOf) })
    else if (url.pathname === '/api/v1/pods') json({ kind: 'PodList', metadata: {}, items: [] })
    else if (url.pathname === '/version') json({ major: '1', minor: '34', gitVersion: 'v1.34.1' })
    else response.writeHead(404).end('{}')
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What of each node could not be read, and why. */
const errorsIn = (snapshot: string) =>
  new Map(
    gunzipSync(readFileSync(snapshot))
      .toString()
      .split('\n')
      .flatMap(line => {
        const record = line === '' ? {} : JSON.parse(line)
        return record.kind === 'Node' ? [[record.node.metadata.name, record.errors]] : []
      }),
  )

it('cost only themselves: the report comes, names each with its reason, and takes 512 MB', async () => {
  const folder = temporaryFolder()
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [
        { name: 'c', cluster: { server: await apiServer(), 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'u', user: { token: 'abcdefgh' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    }),
  )
  const out = join(folder, 'out')
  const { code, stderr, peakBytes } = await measuredHighwater(
    ['audit', '--kubeconfig', kubeconfig, '--context', 'c', '--out', out],
    { env: { NODE_OPTIONS: '--max-old-space-size=360', AWS_REGION: 'eu-west-1' }, cwd: folder },
  )
  expect([0, 3, 4], stderr.slice(-500)).toContain(code)
  expect(peakBytes).toBeLessThanOrEqual(memoryBytes)
  const document: FindingsDocument = JSON.parse(readFileSync(join(out, 'findings.json'), 'utf8'))
  expect(document.clusters.map(({ coverage }) => coverage)).toMatchObject([
    { nodes: 18, read: healthy.length, partlyRead: hostile.length, notRead: 0 },
  ])
  expect(existsSync(join(out, 'report.html'))).toBe(true)
  const errors = errorsIn(join(out, 'snapshot.ndjson.gz'))
  for (const name of healthy) expect(errors.get(name) ?? [], name).toEqual([])
  const findings = JSON.stringify(document)
  for (const name of hostile) {
    const [kind] = name.split('-')
    const message = expect.stringMatching(
      / is larger than | is not parsed: | times as long as | is no (?:list|stats)/,
    )
    const isCut = / is larger than | times as long as | (?:is nested deeper|has more) than /.test(
      errors.get(name)?.[0]?.message ?? '',
    )
    const error = { what: kind, message, ...(isCut && { reason: 'cut' }) }
    expect(errors.get(name), name).toEqual([error])
    expect(findings).toContain(name)
  }
})
