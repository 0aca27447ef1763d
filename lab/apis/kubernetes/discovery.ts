/** What kubectl asks before anything else: which groups and resources there are. */

const core = ['events', 'nodes', 'pods'] as const
const kinds = { events: 'Event', nodes: 'Node', pods: 'Pod' } as const
const shortNames = { events: 'ev', nodes: 'no', pods: 'po' } as const

export const apiVersions = { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }

export const apiGroups = (groups: object[]) => ({ kind: 'APIGroupList', apiVersion: 'v1', groups })

/** @param more of the core group, beside what every lab has */
export const coreResources = (more: readonly object[]) => ({
  kind: 'APIResourceList',
  groupVersion: 'v1',
  resources: [
    ...core.map(name => ({
      name,
      singularName: kinds[name].toLowerCase(),
      namespaced: name !== 'nodes',
      kind: kinds[name],
      verbs: name === 'nodes' ? ['get', 'list'] : ['list'],
      shortNames: [shortNames[name]],
    })),
    {
      name: 'nodes/proxy',
      singularName: '',
      namespaced: false,
      kind: 'NodeProxyOptions',
      verbs: ['get'],
    },
    ...more,
  ],
})

/** `GET /version`. */
export const serverVersion = (minor: string) => ({
  major: minor.split('.')[0],
  minor: minor.split('.')[1],
  gitVersion: `v${minor}.1-eks-3cfe0ce`,
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '2026-10-01T00:00:00Z',
  goVersion: 'go1.25.1',
  compiler: 'gc',
  platform: 'linux/amd64',
})
