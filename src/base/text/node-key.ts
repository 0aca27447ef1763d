/** Key of a node in a map over clusters. */
export const nodeKey = (cluster: string, node: string | null) => JSON.stringify([cluster, node])
