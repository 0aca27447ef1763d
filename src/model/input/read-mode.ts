/** Modes of reading a node, and the sources that each mode promises. */

/** `proxy`: the kubelet through the API server. `ssm`: a fixed script on the node. `both`: `proxy` and `ssm`. `kubelet`: the kubelet directly. */
export const readModes = ['proxy', 'ssm', 'both', 'kubelet'] as const
export type ReadMode = (typeof readModes)[number]
export const defaultReadMode: ReadMode = 'proxy'

/** Sources of data about a node, in the order in which reports list missing ones. */
export const sources = ['node', 'pods', 'configz', 'summary', 'host', 'runtime'] as const
export type Source = (typeof sources)[number]

/** Sources that a mode promises to read of each node. If all were read, coverage counts the node as *read*. */
export const promisedSources: Readonly<Record<ReadMode, readonly Source[]>> = {
  proxy: ['node', 'pods', 'configz', 'summary'],
  ssm: ['node', 'pods', 'host', 'runtime'],
  both: sources,
  kubelet: ['node', 'pods', 'configz', 'summary'],
}

export const isReadMode = (value: unknown): value is ReadMode =>
  readModes.some(mode => mode === value)
