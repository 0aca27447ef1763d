/** What an API server says of itself: its groups, their versions and the resources of each. Source: Kubernetes API reference, APIGroupList and APIResourceList. */
import { nodeClasses } from '#facts/eks/node-classes.ts'
import type { ApiResource } from '#model/api-resources.ts'

/** Under which name a snapshot has the answers: one APIResourceList for each version of each group, the preferred version first; one without `resources` did not come. */
export const discoveryResource = 'apiresourcelists'

export const discoveryPaths = {
  core: '/api/v1',
  groups: '/apis',
  /** @param groupVersion `apps/v1` */
  version: (groupVersion: string) => `/apis/${groupVersion}`,
} as const
export const coreVersion = 'v1'

/** Under which name a snapshot has what the API server says of its own version. Source: k8s.io/apimachinery pkg/version Info. */
export const versionResource = 'serverversions'
export const versionPath = '/version'

/** What is read of a cluster for its nodes' sake, and not again for garbage; an event has no finalizers, and is in two groups. */
export const readForNodes: ReadonlySet<string> = new Set([
  ...['nodes', 'events', 'events.events.k8s.io', 'poddisruptionbudgets.policy'],
  ...nodeClasses.map(({ plural, group }) => `${plural}.${group}`),
])

/** What cannot be deleted one by one was not stored. Upstream: pkg/controller/garbagecollector/garbagecollector.go GetDeletableResources, which also wants `watch`. */
export const isCollectable = ({ verbs }: Pick<ApiResource, 'verbs'>): boolean =>
  verbs.includes('delete') && verbs.includes('list')
