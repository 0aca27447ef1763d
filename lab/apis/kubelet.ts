/**
 * A kubelet on its own port: who asks and what they may do is asked of the API server, so a token is good here as it is there.
 * Upstream: pkg/kubelet/server/server.go InstallAuthFilter, auth.go GetRequestAttributes; anonymous requests are off, as on every EKS node.
 */
import { asksForConfigzRight } from '#facts/kubelet/endpoints.ts'
import { type Api, atPath, Refusal, type Route } from '#lab/api.ts'
import type { LabNode } from '#lab/scenarios/scenario.ts'
import type { World, WorldCluster } from '#lab/world.ts'
import { anonymous, isGranted, type User } from './kubernetes/authorization.ts'
import { authenticate } from './kubernetes/bearer-token.ts'
import { type KubeletPath, kubeletAnswer } from './kubernetes/kubelet-proxy.ts'
import { unauthorized } from './kubernetes/status.ts'

/** @param nodeOf the node as it is now; undefined: it is gone */
export function kubeletApi(
  node: LabNode,
  nodeOf: () => LabNode | undefined,
  cluster: WorldCluster,
  world: World,
): Api<User> {
  const version = node.node(world.at).status?.nodeInfo?.kubeletVersion ?? null
  const route = (path: KubeletPath, subresources: readonly string[]): Route<User> => ({
    id: path,
    match: atPath('GET', `/${path}`),
    parameters: [],
    answer(_, __, user) {
      if (!subresources.some(subresource => isGranted(user, 'get', `nodes/${subresource}`, '')))
        throw new Refusal(403, 'Forbidden', forbidden(user, subresources, version))
      return kubeletAnswer(nodeOf() ?? node, path, world.at)
    },
  })
  return {
    name: `kubelet/${cluster.scenario.name}`,
    routes: [
      route('configz', asksForConfigzRight(version) ? ['configz', 'proxy'] : ['proxy']),
      route('stats/summary', ['stats']),
    ],
    parametersOf: request => request.query,
    authenticate(request) {
      const user = authenticate(request, cluster, world)
      if (user === anonymous) throw unauthorized()
      return user
    },
    isAway() {
      const now = nodeOf()
      return now === undefined || now.fault?.kind === 'down'
    },
    error: ({ status, message }) => ({
      status,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: message,
    }),
  }
}

function forbidden(
  { username }: User,
  subresources: readonly string[],
  version: string | null,
): string {
  const asked = asksForConfigzRight(version)
    ? `subresource(s)=[${subresources.join(' ')}]`
    : `subresource=${subresources.join('')}`
  return `Forbidden (user=${username}, verb=get, resource=nodes, ${asked})`
}
