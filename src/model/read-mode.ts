/** The ways to read a node. */

/** `proxy`: the kubelet through the API server. `ssm`: the node itself, by a fixed script. `both`: the two together. `kubelet`: the kubelet itself. */
export const readModes = ['proxy', 'ssm', 'both', 'kubelet'] as const
export type ReadMode = (typeof readModes)[number]
export const defaultReadMode: ReadMode = 'proxy'
