/** Where a kubelet answers through the API server's node proxy. Upstream: pkg/kubelet/server/server.go; staging/src/k8s.io/api core/v1 nodes/proxy. */
export const kubeletPath = {
  configz: (node: string) => `/api/v1/nodes/${encodeURIComponent(node)}/proxy/configz`,
  statsSummary: (node: string) => `/api/v1/nodes/${encodeURIComponent(node)}/proxy/stats/summary`,
}
