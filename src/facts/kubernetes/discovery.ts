/** API discovery: the groups of a server, their versions and resources. Source: Kubernetes API reference, APIGroupList and APIResourceList. */
import { nodeClasses } from '#facts/eks/node-classes.ts'

/** Resource of the snapshot record that contains the API server's version. Source: k8s.io/apimachinery pkg/version Info. */
export const versionResource = 'serverversions'
export const versionPath = '/version'

/** Resources that are read for the nodes, and so not again for garbage. Events have no finalizers, and are in two groups. */
export const readForNodes: ReadonlySet<string> = new Set([
  ...['nodes', 'events', 'events.events.k8s.io', 'poddisruptionbudgets.policy'],
  ...nodeClasses.map(({ plural, group }) => `${plural}.${group}`),
])
