import { RequestFailure } from '#clients/failure.ts'
import { type Collector, kubeletOptions, type NodeContext } from '#collect/collector.ts'
import { asksForConfigzRight, ownPath } from '#facts/kubelet/endpoints.ts'
import { configz, configzOf } from './configz.ts'

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
export function kubeletOf({ kubelet }: NodeContext) {
  if (kubelet === null)
    throw new Error(
      'mode kubelet has no identity here: every kubelet sees the token, so it wants a narrow one of its own. Set kubelet.roleArn in the policy (docs/permissions.md)',
    )
  return kubelet
}

/** Adds the right to grant, because a kubelet's 403 names only subresources. */
export function withRight(
  error: unknown,
  right: string | null,
  kubeletVersion: string | null,
): unknown {
  if (!(error instanceof RequestFailure) || error.status !== 403) return error
  const advice =
    right === null
      ? `A kubelet of this version (${kubeletVersion ?? 'unknown'}) needs the right get nodes/proxy, which also permits a shell in containers: use mode ssm instead`
      : `Grant ${right} to the identity that kubelets see (docs/permissions.md, mode kubelet)`
  return new RequestFailure('http', `${error.message}. ${advice}`, { status: 403, cause: error })
}
