import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { Unparsed } from '#clients/kubernetes/kubernetes.ts'
import { type Collector, kubeletOptions, type NodeContext } from '#collect/collector.ts'
import { asksForConfigzRight, kubeletPath, ownPath } from '#facts/kubelet/endpoints.ts'
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
async function configzOf(ask: () => Promise<Unparsed>): Promise<() => { configz: RawObject }> {
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

/** Reads configz from the kubelet directly. There the narrow right `get nodes/configz` is enough since 1.33. */
export const kubeletConfigz: Collector = {
  answers: ['configz'],
  permissions: { kubernetes: ['get nodes/configz'] },
  purpose: configz.purpose,
  isAnsweredByKubelet: true,

  async collect(node, context) {
    const options = kubeletOptions(context, 'configz')
    try {
      return await configzOf(() =>
        kubeletOf(context).getUnparsed(context.address, ownPath.configz, options),
      )
    } catch (error) {
      throw withRight(
        error,
        asksForConfigzRight(node.kubeletVersion) ? 'get nodes/configz' : null,
        node.kubeletVersion,
      )
    }
  },
}

/** @throws Error if no token is configured */
function kubeletOf({ kubelet }: NodeContext) {
  if (kubelet === null)
    throw new Error(
      'mode kubelet has no identity here: every kubelet sees the token, so it wants a narrow one of its own. Set kubelet.roleArn in the policy (docs/permissions.md)',
    )
  return kubelet
}

/** Adds the right to grant, because a kubelet's 403 names only subresources. */
function withRight(error: unknown, right: string | null, kubeletVersion: string | null): unknown {
  if (!(error instanceof RequestFailure) || error.status !== 403) return error
  const advice =
    right === null
      ? `A kubelet of this version (${kubeletVersion ?? 'unknown'}) needs the right get nodes/proxy, which also permits a shell in containers: use mode ssm instead`
      : `Grant ${right} to the identity that kubelets see (docs/permissions.md, mode kubelet)`
  return new RequestFailure('http', `${error.message}. ${advice}`, { status: 403, cause: error })
}

/** The kubelet's measurements of filesystems, memory and pods, read through the API server's node proxy. */
export const statsSummary: Collector = {
  answers: ['summary'],
  permissions: { kubernetes: ['get nodes/proxy'] },
  purpose: 'usage of the disks and memory of each node',
  isAnsweredByKubelet: true,

  async collect(node, context) {
    const options = kubeletOptions(context, 'summary')
    const parse = await context.kubernetes.getUnparsed(kubeletPath.statsSummary(node.name), options)
    return () => ({ summary: summaryOf(parse()) })
  },
}

/** @throws Error if the body is not a summary */
export function summaryOf(body: unknown): RawObject {
  if (!isRawObject(body) || !isRawObject(body.node))
    throw new Error('the answer has no "node": it is no stats/summary')
  return body
}

/** Reads the same summary as `stats-summary`, from the kubelet directly. */
export const kubeletStatsSummary: Collector = {
  answers: ['summary'],
  permissions: { kubernetes: ['get nodes/stats'] },
  purpose: statsSummary.purpose,
  isAnsweredByKubelet: true,

  async collect(node, context) {
    const options = kubeletOptions(context, 'summary')
    try {
      const parse = await kubeletOf(context).getUnparsed(
        context.address,
        ownPath.statsSummary,
        options,
      )
      return () => ({ summary: summaryOf(parse()) })
    } catch (error) {
      throw withRight(error, 'get nodes/stats', node.kubeletVersion)
    }
  },
}
