/** Clusters outside EKS, or as kubectl reaches them: contexts of a kubeconfig file. Not for the Lambda: client-node is large. */
import { existsSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import { OperatorError } from '#model/operator-error.ts'
import type { KubernetesEndpoint } from './kubernetes.ts'

const credentialRenewMs = 60_000

/**
 * The API server of one context, with whatever the file says of credentials: tokens, client certificates, exec plugins (run again when theirs expire).
 * @param file  null: $KUBECONFIG, else ~/.kube/config
 * @param contextName  null: the file's current context
 * @throws OperatorError
 */
export async function kubeconfigEndpoint(
  file: string | null,
  contextName: string | null,
): Promise<{ context: string; endpoint: KubernetesEndpoint }> {
  const config = new KubeConfig()
  const from = file ?? 'the default kubeconfig'
  try {
    if (file !== null && !existsSync(file)) throw new Error('there is no such file')
    if (file === null) config.loadFromDefault()
    else config.loadFromFile(file)
  } catch (cause) {
    throw new OperatorError(`${from} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  const contexts = config.getContexts().map(context => context.name)
  const name = contextName ?? config.getCurrentContext()
  if (!contexts.includes(name)) {
    const asked = name ? `has no context "${name}"` : 'names no current context'
    throw new OperatorError(`${from} ${asked}. It has: ${contexts.length === 0 ? 'none' : contexts.join(', ')}. Choose one by --context`)
  }
  config.setCurrentContext(name)
  const cluster = config.getCurrentCluster()
  if (cluster === null || !cluster.server)
    throw new OperatorError(`${from}: context "${name}" names a cluster that the file does not describe`)

  let options = await currentOptions(config, name, from)
  let readAtMs = performance.now()
  return {
    context: name,
    endpoint: {
      server: cluster.server,
      ...(options.ca ? { ca: options.ca as string | Buffer } : {}),
      ...(options.cert && options.key
        ? { clientCertificate: { cert: options.cert as string | Buffer, key: options.key as string | Buffer } }
        : {}),
      ...(cluster.tlsServerName ? { serverName: cluster.tlsServerName } : {}),
      skipTlsVerification: cluster.skipTLSVerify === true,
      authorization: async renew => {
        if (renew || performance.now() - readAtMs > credentialRenewMs) {
          options = await currentOptions(config, name, from)
          readAtMs = performance.now()
        }
        return authorizationHeader(options)
      },
    },
  }
}

async function currentOptions(config: KubeConfig, context: string, from: string): Promise<RequestOptions> {
  const options: RequestOptions = {}
  try {
    await config.applyToHTTPSOptions(options)
  } catch (cause) {
    throw new OperatorError(
      `${from}: the credentials of context "${context}" cannot be had: ${cause instanceof Error ? cause.message : cause}. Does kubectl --context ${context} work?`,
      { cause },
    )
  }
  return options
}

function authorizationHeader({ headers, auth }: RequestOptions): string | null {
  if (typeof auth === 'string' && auth !== '') return `Basic ${Buffer.from(auth).toString('base64')}`
  const header = headers === undefined || !('Authorization' in headers) ? undefined : headers.Authorization
  return typeof header === 'string' ? header : null
}
