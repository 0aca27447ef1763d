/** The ways to read a node: what each of them promises. */

/** `proxy`: the kubelet through the API server. `ssm`: the node itself, by a fixed script. `both`: the two together. `kubelet`: the kubelet itself. */
export const readModes = ['proxy', 'ssm', 'both', 'kubelet'] as const
export type ReadMode = (typeof readModes)[number]
export const defaultReadMode: ReadMode = 'proxy'

/** In the order in which people read what is missing. */
export const sources = ['node', 'pods', 'configz', 'summary', 'host', 'runtime'] as const
export type Source = (typeof sources)[number]

/** What a mode promises to read of each node: that all of it was is what coverage calls *read*. */
export const promisedSources: Readonly<Record<ReadMode, readonly Source[]>> = {
  proxy: ['node', 'pods', 'configz', 'summary'],
  ssm: ['node', 'pods', 'host', 'runtime'],
  both: sources,
  kubelet: ['node', 'pods', 'configz', 'summary'],
}

export const isReadMode = (value: unknown): value is ReadMode =>
  readModes.some(mode => mode === value)
