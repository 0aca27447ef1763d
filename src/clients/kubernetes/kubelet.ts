/** Direct calls to kubelets, on their own port. Certificates are always verified against the cluster's CA, because a token is sent. */
import { isIPv6 } from 'node:net'
import { RequestFailure } from '#clients/failure.ts'
import type { PaceLimits } from '#clients/pace.ts'
import type { KubeletAddress } from '#facts/kubelet/endpoints.ts'
import {
  type GetOptions,
  KubernetesClient,
  type KubernetesEndpoint,
  type Unparsed,
} from './kubernetes.ts'

/** The identity for calls to kubelets. Every kubelet sees its token: give it few other rights. */
export interface KubeletIdentity {
  /** PEM of the cluster's CA. */
  ca: string | Buffer
  authorization: KubernetesEndpoint['authorization']
}

export class KubeletApi {
  readonly #identity: KubeletIdentity
  readonly #pace: PaceLimits

  constructor(identity: KubeletIdentity, pace: PaceLimits) {
    this.#identity = identity
    this.#pace = pace
  }

  /** GETs one JSON answer of one kubelet. @throws as KubernetesClient.getUnparsed */
  async getUnparsed(
    { ip, port, names }: KubeletAddress,
    path: string,
    options: GetOptions,
  ): Promise<Unparsed> {
    if (ip === null)
      throw new RequestFailure(
        'name',
        'the Node object has no InternalIP, so its kubelet cannot be reached',
      )
    const { ca, authorization } = this.#identity
    const host = isIPv6(ip) ? `[${ip}]` : ip
    const client = new KubernetesClient(
      { server: `https://${host}:${port}`, ca, names, authorization },
      { pace: this.#pace, hints },
    )
    try {
      return await client.getUnparsed(path, options)
    } catch (error) {
      throw error instanceof RequestFailure ? withAdvice(error, `${host}:${port}`) : error
    } finally {
      client.close()
    }
  }
}

const hints = {
  401: 'The API server does not know the token that the kubelet received: map the role of policy.kubelet by an EKS access entry, and check this machine’s clock',
  403: '',
}

function adviceOn(kind: RequestFailure['kind'], address: string) {
  if (kind === 'timeout' || kind === 'network')
    return `. Kubelet ${address}: is the node's security group open for this machine on that port?`
  if (kind !== 'tls') return ''
  return '. A kubelet whose certificate was not issued by the cluster (serverTLSBootstrap off, or its request not approved) cannot be read directly; use mode proxy or ssm'
}

/** Adds advice about direct access to kubelets to the failure of a connection. */
function withAdvice(failure: RequestFailure, address: string) {
  const { kind, status, retryAfterMs, body, cause } = failure
  return new RequestFailure(kind, `${failure.message}${adviceOn(kind, address)}`, {
    ...(status === null ? {} : { status }),
    retryAfterMs,
    body,
    cause,
  })
}
