/** Texts around the sections of the page, and of its script. */
const page = {
  /** For an owner's page. */
  audience: (owner: string) =>
    `For ${owner}: only their clusters and groups. Coverage, outcomes and grades cover only these.`,
  title: (headline: string, clusters: string) => `${headline} in ${clusters} · highwater`,
  skip: 'Skip to the verdict',
  /** The time is between the two. */
  snapshotBefore: 'Snapshot of ',
  snapshotAfter: '',
}

/** Texts, not functions: they are part of the page. `{shown}` and `{all}` are numbers. */
const script = {
  copy: 'Copy',
  copied: 'Copied',
  filterFindings: 'Filter findings',
  filterNodes: 'Filter nodes',
  clear: 'Clear',
  search: 'Search',
  searchNodes: 'Search nodes, groups, states',
  severity: 'Severity',
  cluster: 'Cluster',
  family: 'Family',
  order: 'Order',
  any: 'all',
  worstFirst: 'worst first',
  orders: { nodes: 'nodes', newest: 'newest', cluster: 'cluster' },
  shown: '{shown} of {all} shown',
  nodesShown: '{shown} of {all} nodes on this page shown',
}

export const ofPage = { page, script }
