import { kubeconfigEndpoints, type NamedEndpoint } from '#clients/kubernetes/kubeconfig.ts'

/** The API server of one context; null: of the current one. */
export async function kubeconfigEndpoint(
  file: string | null,
  context: string | null,
): Promise<NamedEndpoint> {
  const [endpoint] = await kubeconfigEndpoints(file, context === null ? [] : [context])
  return endpoint!
}
