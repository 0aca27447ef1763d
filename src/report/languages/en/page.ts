import { formatCount } from '#report/numbers.ts'

/** Texts around the sections of the page, and of its script. */
const page = {
  /** Shown on the page of an owner. */
  audience: (owner: string) =>
    `For ${owner}: only their clusters and groups. Coverage, outcomes and grades cover only these.`,
  title: (headline: string, clusters: string) => `${headline} in ${clusters} · highwater`,
  skip: 'Skip to the verdict',
  contents: 'Contents',
  /** Shown in print only. */
  paper:
    'On paper: causes, findings with their evidence, and nodes. Snippets, further commands, rules, thresholds and tables of disks are only in the page.',
  /** The time of the snapshot stands between the next two texts. */
  snapshotBefore: 'Snapshot of ',
  snapshotAfter: '',
}

/** Texts, not functions: the page contains them. Its script replaces `{shown}` and `{all}`. */
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

/** The list of a bucket's runs. */
const runs = {
  title: 'Runs',
  latest: 'The latest report',
  caption: 'Newest first. The bucket deletes old reports',
  columns: {
    at: 'Snapshot',
    verdict: 'Verdict',
    severe: 'Critical and high findings',
    fullest: 'Fullest disk',
  },
}

/** The upgrade of nodes that are behind. */
const upgrades = {
  title: 'Kubelets and AMI releases that are behind',
  lead: 'What the minor of the control plane changes on these nodes. A new AMI brings its own files; what those change besides is not predicted.',
  steps: 'The steps of each group:',
  columns: { group: 'Group', versions: 'Version', changes: 'What changes' },
  newer: (where: string) =>
    `${where} runs this release already. What the files of its AMI change is not predicted.`,
  leftOut: (groups: number) =>
    `${formatCount(groups)} more groups with other changes are not shown: run highwater upgrade.`,
}

export const ofPage = { page, runs, script, upgrades }
