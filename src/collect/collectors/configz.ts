import type { RawObject } from '#base/raw-object.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { Unparsed } from '#clients/kubernetes/kubernetes.ts'
import { type Collector, kubeletOptions } from '#collect/collector.ts'
import { kubeletPath } from '#facts/kubelet/endpoints.ts'
import { checkAnsweredConfigz } from '#model/kubelet/configuration.ts'

/** The kubelet's running configuration, read through the API server's node proxy. */
export const configz: Collector = {
  answers: ['configz'],
  permissions: { kubernetes: ['get nodes/proxy'] },
  purpose: 'the running configuration of each kubelet: thresholds, image GC, reservations, logs',
  isAnsweredByKubelet: true,

  async collect(node, context) {
    // This is the running configuration: a file changed without a restart is not visible here.
    return configzOf(() =>
      context.kubernetes.getUnparsed(
        kubeletPath.configz(node.name),
        kubeletOptions(context, 'configz'),
      ),
    )
  },
}

/** Reads configz. A kubelet without this endpoint gets its own message. */
export async function configzOf(
  ask: () => Promise<Unparsed>,
): Promise<() => { configz: RawObject }> {
  try {
    const parse = await ask()
    return () => {
      const body = parse()
      checkAnsweredConfigz(body)
      return { configz: body as RawObject }
    }
  } catch (error) {
    // Upstream: pkg/kubelet/server/server.go InstallAuthRequiredHandlers. The API server's own 404 (no such node) has a Status; the kubelet's 404 is plain text.
    if (error instanceof RequestFailure && error.status === 404 && error.body === null)
      throw new Error(noDebuggingHandlers, { cause: error })
    throw error
  }
}

const noDebuggingHandlers =
  'the kubelet answers, but shows no /configz (404): its debugging handlers are off (enableDebuggingHandlers: false), so its running configuration cannot be read. Mode ssm reads its configuration on disk'
