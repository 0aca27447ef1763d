/** The summary that `highwater audit` prints. */
const terminal = {
  columns: { cluster: 'cluster', grade: 'grade', read: 'nodes read', findings: 'findings' },
  partly: (read: string, count: number) => `${read}, ${count} partly`,
  since: (counts: string[]) => `Since the last run: ${counts.join(', ')}`,
  changedFinding: (severity: string, title: string, where: string) =>
    `${severity}: ${title} (${where})`,
  nothingFound: 'nothing found',
  tallied: (count: number, severity: string) => `${count} ${severity}`,
  moreFindings: (count: number) => `… and ${count} more findings, in the report.`,
  noFindings: 'No findings.',
  input: (message: string) => `input ${message}`,
  ruleFailed: (rule: string, node: string, message: string) =>
    `rule ${rule} failed on ${node}: ${message}. This is a bug in highwater: please report it`,
  nodes: (count: number, names: string[]) => `${count} nodes, ${names.join(', ')}, …`,
  notAudited: (count: number) => `Not audited (${count}):`,
  cluster: (name: string) => `cluster ${name}`,
  node: (cluster: string, node: string) => `${cluster}, node ${node}`,
  moreNotAudited: (count: number) => `… and ${count} more, in the report`,
  report: 'Report:',
  snapshot: 'Snapshot:',
}

export const ofTerminal = { terminal }
