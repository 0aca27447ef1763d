export const summaryPath = (name: string): string => `/api/v1/nodes/${name}/proxy/stats/summary`

/** What is read of a node through its API server. */
export const nodePaths = (name: string): string[] => [
  `/api/v1/nodes/${name}/proxy/configz`,
  summaryPath(name),
  `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}&resourceVersion=0&limit=500`,
]
