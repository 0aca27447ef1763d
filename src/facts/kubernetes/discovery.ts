/** API discovery: the groups of a server, their versions and resources. Source: Kubernetes API reference, APIGroupList and APIResourceList. */
import { nodeClasses } from '#facts/eks/node-classes.ts'

/** The resource name of a snapshot's record of the API server's version. Source: k8s.io/apimachinery pkg/version Info. */
export const versionResource = 'serverversions'
export const versionPath = '/version'

/** What is read of a cluster for its nodes' sake, and not again for garbage; an event has no finalizers, and is in two groups. */
export const readForNodes: ReadonlySet<string> = new Set([
  ...['nodes', 'events', 'events.events.k8s.io', 'poddisruptionbudgets.policy'],
  ...nodeClasses.map(({ plural, group }) => `${plural}.${group}`),
])
