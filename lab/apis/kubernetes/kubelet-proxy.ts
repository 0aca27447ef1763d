/** `nodes/{name}/proxy`: the kubelet's own answers, passed through, with the faults that the scenario gives it. */
import type { Answer, Reply } from '#lab/api.ts'
import type { LabNode } from '#lab/scenarios/scenario.ts'
import { serviceUnavailable } from './status.ts'

export type KubeletPath = 'configz' | 'stats/summary'

/** @throws Refusal 503 when nothing listens on the node's kubelet port. */
export function kubeletAnswer(node: LabNode, path: KubeletPath, at: string): Answer {
  const { fault } = node
  const body = () => JSON.stringify(path === 'configz' ? node.configz(at) : node.summary(at))
  switch (fault?.kind) {
    case undefined:
      return json(body())
    case 'down':
      throw serviceUnavailable(
        `error trying to reach service: dial tcp ${internalIp(node, at)}:10250: connect: connection refused`,
      )
    case 'hanging':
      return 'hang'
    case 'status':
      return text(fault.status, fault.body)
    case 'truncated': {
      const whole = body()
      return json(whole.slice(0, Math.floor(whole.length / 2)))
    }
    case 'broken': {
      const whole = body()
      return { ...json(whole), breakAfterBytes: Math.floor(whole.length / 2) }
    }
    case 'no-debugging-handlers':
      // Upstream: pkg/kubelet/server/server.go: without the debugging handlers there is no /configz, but stats stay.
      return path === 'configz' ? text(404, '404 page not found\n') : json(body())
    case 'slow':
      return { ...json(body()), delayMs: fault.delayMs }
  }
}

const internalIp = (node: LabNode, at: string) =>
  node.node(at).status?.addresses?.find(address => address.type === 'InternalIP')?.address ??
  '127.0.0.1'

const json = (body: string): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body,
})
const text = (status: number, body: string): Reply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})
