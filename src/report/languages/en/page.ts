/** What stands around the sections of the page, and what its script writes. */
const page = {
  /** Of an owner's page. */
  audience: (owner: string) =>
    `For ${owner}: only what is theirs. Coverage, outcomes and grades are of their part of each cluster.`,
  title: (headline: string, clusters: string) => `${headline} in ${clusters} · highwater`,
  skip: 'Skip to the verdict',
  /** The time stands between the two. */
  snapshotBefore: 'Snapshot of ',
  snapshotAfter: '',
  sections: 'Sections',
  contents: {
    news: 'New',
    outlook: 'Next to break',
    fleet: 'Fleet',
    trends: 'How it went',
    opportunities: 'Opportunities',
    findings: 'Findings',
    plan: 'Plan',
    thresholds: 'Thresholds',
    nodes: 'Nodes',
    garbage: 'Cluster garbage',
    waived: 'Waived',
    passed: 'Passed',
    undecided: 'Without an answer',
    notAudited: 'Not audited',
    howRead: 'How it was read',
  },
}

/** Texts, not functions: they travel in the page. `{shown}` and `{all}` are numbers. */
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
