/** Clusters from the contexts of a kubeconfig, or the cluster whose pod runs this process. Not for the Lambda: client-node is large. */

import { existsSync, readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { delimiter, dirname, join } from 'node:path'
import { type Cluster, findHomeDir, KubeConfig } from '@kubernetes/client-node'
import { parseYaml, TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { redact } from '#base/redaction/redact.ts'
import { matchesGlob } from '#base/text.ts'
import type { KubernetesEndpoint } from './kubernetes.ts'

const credentialRenewMs = 60_000
/** Each context is a cluster to read. */
const mostContexts = 1_000
/** A user has about 10 fields, and a plugin of a user has a few variables. */
const mostKeys = 1_000

export interface NamedEndpoint {
  context: string
  endpoint: KubernetesEndpoint
}

/**
 * Endpoints for the contexts of a kubeconfig whose names match; `*` stands for any characters.
 * @param file  null: $KUBECONFIG, else ~/.kube/config
 * @param patterns  empty: the current context
 * @throws OperatorError
 */
export async function kubeconfigEndpoints(
  file: string | null,
  patterns: readonly string[],
): Promise<NamedEndpoint[]> {
  const config = loadedConfig(file)
  const from = file ?? defaultFile
  const all = config.getContexts().map(({ name }) => name)
  const names = patterns.flatMap(pattern => {
    const found = pattern.includes('*') ? all.filter(name => matchesGlob(pattern, name)) : [pattern]
    if (found.length === 0)
      throw new OperatorError(
        `${from} has no context like "${pattern}". It has: ${all.join(', ') || 'none'}`,
      )
    return found
  })
  const wanted = patterns.length === 0 ? [null] : [...new Set(names)]
  if (wanted.length > mostContexts)
    throw new OperatorError(
      `${from} has ${wanted.length} such contexts: choose at most ${mostContexts} by --context`,
    )
  const endpoints = []
  for (const name of wanted) endpoints.push(await contextEndpoint(config, from, name))
  return endpoints
}

const defaultFile = 'the default kubeconfig'

/** @param file null: $KUBECONFIG, else ~/.kube/config @throws OperatorError */
function loadedConfig(file: string | null) {
  const config = new KubeConfig()
  try {
    if (file !== null && !existsSync(file)) throw new Error('there is no such file')
    const named = process.env.KUBECONFIG || join(findHomeDir() ?? '', '.kube', 'config')
    const files = file === null ? named.split(delimiter).filter(existsSync) : [file]
    if (files.length === 0) config.loadFromDefault()
    for (const path of files) addFile(config, path)
  } catch (cause) {
    throw new OperatorError(`${file ?? defaultFile} cannot be read: ${redact(messageOf(cause))}`)
  }
  return config
}

/** The first file that names a cluster, user or context wins. Source: kubectl, merging kubeconfig files. */
function addFile(config: KubeConfig, file: string) {
  const next = new KubeConfig()
  next.loadFromString(plainText(file))
  next.makePathsAbsolute(dirname(file))
  config.clusters.push(...newEntries(config.clusters, next.clusters))
  config.users.push(...newEntries(config.users, next.users))
  config.contexts.push(...newEntries(config.contexts, next.contexts))
  config.currentContext ||= next.currentContext
}

/** The file's values as JSON: the library's parser takes quadratic time for equal keys, the keys of a map, and YAML's tags. @throws Error */
function plainText(file: string) {
  const limits = new TextBudget(textLimits.kubeconfig)
  const value = parseYaml(readFileSync(file, 'utf8'), limits, { hasUniqueKeys: true })
  const rest = [value]
  for (const each of rest) {
    if (typeof each !== 'object' || each === null) continue
    const values = Object.values(each)
    if (!Array.isArray(each) && values.length > mostKeys)
      throw new Error(`it has a map of ${values.length} keys`)
    for (const inner of values) rest.push(inner)
  }
  return JSON.stringify(value)
}

const newEntries = <Item extends { name: string }>(here: Item[], more: Item[]) =>
  more.filter(({ name }) => here.every(known => known.name !== name))

/** With the kubeconfig's credentials: tokens, client certificates, exec plugins (run again after expiry). */
async function contextEndpoint(
  file: KubeConfig,
  from: string,
  contextName: string | null,
): Promise<NamedEndpoint> {
  const name = contextName ?? file.getCurrentContext()
  const chosen = file.getContextObject(name)
  if (!chosen) {
    const contexts = file.getContexts().map(context => context.name)
    const mistake = name ? `has no context "${name}"` : 'names no current context'
    throw new OperatorError(
      `${from} ${mistake}. It has: ${contexts.length === 0 ? 'none' : contexts.join(', ')}. Choose one by --context`,
    )
  }
  const config = new KubeConfig()
  config.loadFromOptions({ ...file, contexts: [chosen], currentContext: name })
  const cluster = config.getCurrentCluster()
  if (!cluster?.server)
    throw new OperatorError(
      `${from}: context "${name}" names a cluster that the file does not describe`,
    )
  const failureText = (why: string) =>
    `${from}: the credentials of context "${name}" could not be read: ${why}. Does kubectl --context ${name} work?`
  return { context: name, endpoint: await endpointOf(config, cluster, failureText) }
}

/**
 * The API server of the cluster whose pod runs this process, with the pod's service account. The kubelet renews the token, so its file is read again.
 * @param name  of the cluster in the report, because a cluster does not know its own name
 * @param root  folder under which the pod's files are read
 * @throws OperatorError
 */
export async function inClusterEndpoint(name: string, root = ''): Promise<NamedEndpoint> {
  // Source: Kubernetes, accessing the API from a pod.
  if (!process.env.KUBERNETES_SERVICE_HOST || !process.env.KUBERNETES_SERVICE_PORT)
    throw new OperatorError(
      '--in-cluster reads the cluster in whose pod it runs, and this is no pod: KUBERNETES_SERVICE_HOST is not set. From outside, use --kubeconfig and --context',
    )
  const config = new KubeConfig()
  config.loadFromCluster(root)
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Error('client-node made no cluster of the pod that it runs in')
  const failureText = (why: string) =>
    `The pod's service account cannot be used: ${why}. Does the pod have a serviceAccountName, and automountServiceAccountToken not off?`
  return { context: name, endpoint: await endpointOf(config, cluster, failureText) }
}

async function endpointOf(
  config: KubeConfig,
  cluster: Cluster,
  failed: (why: string) => string,
): Promise<KubernetesEndpoint> {
  let options = await currentOptions(config, failed)
  let readAtMs = performance.now()
  const { ca, cert, key } = options as Partial<Record<'ca' | 'cert' | 'key', string | Buffer>>
  return {
    server: cluster.server,
    ...(ca && { ca }),
    ...(cert && key && { clientCertificate: { cert, key } }),
    ...(cluster.tlsServerName && { serverName: cluster.tlsServerName }),
    skipTlsVerification: cluster.skipTLSVerify === true,
    authorization: async renew => {
      if (renew || performance.now() - readAtMs > credentialRenewMs) {
        options = await currentOptions(config, failed)
        readAtMs = performance.now()
      }
      return authorizationHeader(options)
    },
  }
}

async function currentOptions(config: KubeConfig, failed: (why: string) => string) {
  const options: RequestOptions = {}
  try {
    await config.applyToHTTPSOptions(options)
  } catch (cause) {
    throw new OperatorError(failed(redact(messageOf(cause).trim())))
  }
  return options
}

function authorizationHeader({ headers, auth }: RequestOptions) {
  if (typeof auth === 'string' && auth !== '')
    return `Basic ${Buffer.from(auth).toString('base64')}`
  const header = !headers || !('Authorization' in headers) ? undefined : headers.Authorization
  return typeof header === 'string' ? header : null
}
