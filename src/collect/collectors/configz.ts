import { RequestFailure } from '#clients/failure.ts'
import type { Collector } from '#collect/collector.ts'
import { kubeletPath } from '#facts/kubelet/endpoints.ts'
import { checkAnsweredConfigz } from '#model/kubelet-configuration.ts'
import type { RawObject } from '#model/record.ts'

/** The configuration the kubelet runs with, read through the API server's node proxy. */
export const configz: Collector = {
  answers: ['configz'],
  permissions: { kubernetes: ['get nodes/proxy'] },
  purpose: 'the running configuration of each kubelet: thresholds, image GC, reservations, logs',
  isAnsweredByKubelet: true,

  async collect(node, { kubernetes, signal, attempts, timeoutsMs }) {
    // What runs, not what is written on disk: a file changed without a restart does not show here.
    const options = {
      signal,
      attempts,
      timeoutMs: timeoutsMs.configz,
      isProxied: true,
      kind: 'configz' as const,
    }
    return {
      configz: await configzOf(() => kubernetes.getJson(kubeletPath.configz(node.name), options)),
    }
  },
}

/** The answer, read; a kubelet that has no such page says what it is, not that something failed. */
export async function configzOf(ask: () => Promise<unknown>): Promise<RawObject> {
  try {
    const body = await ask()
    checkAnsweredConfigz(body)
    return body as RawObject
  } catch (error) {
    // Upstream: pkg/kubelet/server/server.go InstallAuthRequiredHandlers. The API server's own 404 (no such node) is a Status, the kubelet's is text.
    if (error instanceof RequestFailure && error.status === 404 && error.body === null)
      throw new Error(noDebuggingHandlers, { cause: error })
    throw error
  }
}

const noDebuggingHandlers =
  'the kubelet answers, but shows no /configz (404): its debugging handlers are off (enableDebuggingHandlers: false), so its running configuration cannot be read. Mode ssm reads its configuration on disk'
