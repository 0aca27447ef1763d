/** Collectors of one node: through the API server, from its kubelet, and by a script on the node. */
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { ssmPermissions } from '#clients/aws/ssm.ts'
import { RequestFailure } from '#clients/failure.ts'
import type { Unparsed } from '#clients/kubernetes/kubernetes.ts'
import { type Collector, kubeletOptions, type NodeContext } from '#collect/collect.ts'
import { asksForConfigzRight, kubeletPath, ownPath } from '#facts/kubelet/endpoints.ts'
import type { ReadError } from '#model/input/record.ts'
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
async function configzOf(ask: () => Promise<Unparsed>) {
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
  if (!kubelet)
    throw new Error(
      'mode kubelet has no identity here: every kubelet sees the token, so it wants a narrow one of its own. Set kubelet.roleArn in the policy (docs/permissions.md)',
    )
  return kubelet
}

/** Adds the right to grant, because a kubelet's 403 names only subresources. */
function withRight(error: unknown, right: string | null, kubeletVersion: string | null) {
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

/**
 * The pods bound to the node, in any phase. One small list per node keeps the memory of a run constant. With `resourceVersion=0` the API server answers
 * from its watch cache, which is indexed by node (upstream: pkg/registry/core/pod/strategy.go NodeNameTriggerFunc), not from etcd.
 */
export const pods: Collector = {
  answers: ['pods'],
  permissions: { kubernetes: ['list pods'] },
  purpose: 'pods of each node: the order of eviction, images in use',
  isAnsweredByKubelet: false,

  async collect(node, { kubernetes, signal, timeoutsMs }) {
    const query = { fieldSelector: `spec.nodeName=${node.name}`, resourceVersion: '0' }
    const parse = await kubernetes.listUnparsed('/api/v1/pods', query, {
      signal,
      timeoutMs: timeoutsMs.list,
      kind: 'pods',
    })
    return () => ({ pods: parse() })
  },
}

/** Data that only the node itself has, from a fixed script that SSM runs there: kubelet files and flags, disks, logs, images, containers. */
export const inspect: Collector = {
  answers: ['host', 'runtime'],
  permissions: { kubernetes: [], aws: ssmPermissions },
  purpose:
    'data of the node itself: files on disk, images and their pins, dead containers, filesystems, logs, kernel',
  isAnsweredByKubelet: true,

  async collect(node, { inspector }) {
    if (!inspector)
      throw new Error(
        "in which account and region the cluster's instances are is not known: give --region, or set AWS_REGION",
      )
    const { host, runtime, configz } = await inspector.inspect(node)
    const isBare = Object.keys(host).every(key => key === 'schema' || key === 'unread')
    const parts = {
      host,
      ...(runtime !== null && { runtime }),
      // Absent if the kubelet does not serve configz, or refuses root.
      ...(configz !== null && { configz }),
      errors: [
        ...(isBare
          ? [missingPartError('host', host, 'the node reported nothing about itself')]
          : []),
        ...(runtime
          ? []
          : [missingPartError('runtime', host, 'the node reported no images and no containers')]),
      ],
    }
    return () => parts
  },
}

function missingPartError(
  what: 'host' | 'runtime',
  { unread }: RawObject,
  otherwise: string,
): ReadError {
  const reasons = (Array.isArray(unread) ? unread.filter(isRawObject) : [])
    .map(entry => ({ of: String(entry.what), why: String(entry.why) }))
    .filter(({ of }) => of === 'host' || of.startsWith(what))
    .map(({ of, why }) => `${of}: ${why}`)
  return { what, message: reasons.join('; ').slice(0, reasonMaxLength) || otherwise }
}

const reasonMaxLength = 600
