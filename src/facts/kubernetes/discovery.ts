/** What an API server says of itself: its groups, their versions and the resources of each. Source: Kubernetes API reference, APIGroupList and APIResourceList. */
import { nodeClasses } from '#facts/eks/node-classes.ts'

/** Under which name a snapshot has what the API server says of its own version. Source: k8s.io/apimachinery pkg/version Info. */
export const versionResource = 'serverversions'
export const versionPath = '/version'

/** What is read of a cluster for its nodes' sake, and not again for garbage; an event has no finalizers, and is in two groups. */
export const readForNodes: ReadonlySet<string> = new Set([
  ...['nodes', 'events', 'events.events.k8s.io', 'poddisruptionbudgets.policy'],
  ...nodeClasses.map(({ plural, group }) => `${plural}.${group}`),
])
