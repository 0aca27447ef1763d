/** Key of a node in a map over clusters. */
export const nodeKey = (cluster: string, node: string | null): string =>
  JSON.stringify([cluster, node])
