/**
 * The kubelets of a scenario behind a real API server, which asks them as EKS's does: through a way of its own into the nodes' network (upstream's egress
 * selector), with a client certificate, over TLS that it checks. What they answer is the scenario's.
 */
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createKubelet, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createAuthority, issueClient, issueServing } from '#lab/certificates.ts'
import type { ClusterScenario, LabNode } from '#lab/scenarios/scenario.ts'

export interface Kubelets {
  /** Of the API server. */
  flags: readonly string[]
  /** What they were asked, `<node> /configz`. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

/** @param at "now" in what they answer. @param folder for the API server's files */
export async function startKubelets(
  { nodes }: ClusterScenario,
  at: string,
  folder: string,
): Promise<Kubelets> {
  const authority = createAuthority('kubelets')
  const asked: string[] = []
  const kubelets = new Map<string, Server>()
  for (const name of nodes.names()) {
    const node = nodes.node(name)
    const { status } = node?.node(at) ?? {}
    const ip = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    if (!node || ip === undefined || node.fault?.kind === 'down') continue
    const { keyPem: key, certificatePem: cert } = issueServing(authority, { dns: [name], ip: [ip] })
    const tls = {
      key,
      cert,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: false,
    }
    const kubelet = createKubelet(tls, (incoming, response) => {
      asked.push(`${name} ${incoming.url}`)
      answer(node, at, incoming, response)
    })
    kubelets.set(`${ip}:${status?.daemonEndpoints?.kubeletEndpoint?.Port}`, kubelet)
  }
  const way = createServer()
  way.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    const kubelet = kubelets.get(incoming.url ?? '')
    if (!kubelet) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    kubelet.emit('connection', socket)
  })
  const path = `${folder}/nodes.sock`
  await new Promise<void>(done => way.listen(path, done))
  return {
    flags: flagsOf(
      folder,
      path,
      authority.certificatePem,
      issueClient(authority, 'kube-apiserver-kubelet-client'),
    ),
    asked,
    async close() {
      for (const kubelet of kubelets.values()) kubelet.closeAllConnections()
      await new Promise<void>(done => way.close(() => done()).closeAllConnections())
    },
  }
}

function flagsOf(
  folder: string,
  path: string,
  ca: string,
  client: ReturnType<typeof issueClient>,
): string[] {
  const write = (name: string, content: string) => {
    writeFileSync(`${folder}/${name}`, content)
    return `${folder}/${name}`
  }
  const connection = { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: path } } }
  const egress = {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection }],
  }
  return [
    ...['--egress-selector-config-file', write('egress.json', JSON.stringify(egress))],
    ...[
      '--kubelet-certificate-authority',
      write('kubelet-ca.pem', ca),
      '--kubelet-preferred-address-types',
      'InternalIP',
    ],
    ...['--kubelet-client-certificate', write('kubelet-client.pem', client.certificatePem)],
    ...['--kubelet-client-key', write('kubelet-client.key', client.keyPem)],
  ]
}

/** Upstream: pkg/kubelet/server/server.go; anonymous requests are off, as on every EKS node. */
function answer(
  node: LabNode,
  at: string,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  const bodies: Record<string, () => unknown> = {
    '/configz': () => node.configz(at),
    '/stats/summary': () => node.summary(at),
  }
  const body = bodies[(incoming.url ?? '').replace(/\?.*$/, '')]
  const isKnown = (incoming.socket as TLSSocket).authorized
  const status = body ? 200 : 404
  response.writeHead(isKnown ? status : 401, { 'content-type': 'application/json' })
  response.end(isKnown && body ? JSON.stringify(body()) : '')
}
