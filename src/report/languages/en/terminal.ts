/** Texts of the summary that `highwater audit` prints. */
import { counted } from '#report/numbers.ts'

const terminal = {
  columns: { cluster: 'cluster', grade: 'grade', read: 'nodes read', findings: 'findings' },
  partly: (read: string, count: number) => `${read}, ${count} partly`,
  next: (name: string, state: string, where: string) => `${name}: ${state} (${where})`,
  since: (counts: string[]) => `Since the last run: ${counts.join(', ')}`,
  changedFinding: (label: string, title: string, where: string) => `${label}: ${title} (${where})`,
  tallied: (count: number, severity: string) => `${count} ${severity}`,
  moreClusters: (count: number) => `… and ${counted(count, 'more cluster')}`,
  moreFindings: (count: number) =>
    `… and ${counted(count, 'more finding')}, in the report and with --verbose.`,
  verbose: (text: string) => `${text}, in the report and with --verbose.`,
  noFindings: 'No findings.',
  input: (message: string) => `input ${message}`,
  ruleFailed: (rule: string, node: string, message: string) =>
    `rule ${rule} failed on ${node}: ${message}. This is a bug in highwater: please report it`,
  notAudited: (count: number) => `Not audited (${count}):`,
  cluster: (name: string) => `cluster ${name}`,
  node: (cluster: string, node: string) => `${cluster}, node ${node}`,
  andOthers: (count: number) => ` and ${counted(count, 'other')}`,
  more: (count: number) => `… and ${count} more, in the report`,
  report: 'Report:',
  snapshot: 'Snapshot:',
  nextCommand: 'Next:',
}

export const ofTerminal = { terminal }
