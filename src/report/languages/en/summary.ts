/** Texts of the verdict, of plans and of remediation runs. */
import { counted, formatCount } from '#report/numbers.ts'
import { clusters, findings, nodes } from './counts.ts'

const verdict = {
  /** `evicting`: number of nodes that evict now. */
  headline: (severity: string, count: number, evicting: number, causes: number) =>
    `${severity}: ${evicting > 0 ? `${nodes(evicting)} ${evicting === 1 ? 'evicts' : 'evict'} now, ` : ''}${findings(count)} from ${counted(causes, 'cause')}`,
  nothingRead: 'Nothing could be read',
  nothingFound: 'No findings in what was read',
  scope: (clusterCount: number, read: number, all: number, partly: number) =>
    `${clusters(clusterCount)}, ${formatCount(read)} of ${nodes(all)} read${partly > 0 ? `, ${formatCount(partly)} partly` : ''}`,
  bySeverity: 'Findings by severity',
  notCovered: 'Not in this verdict:',
  notAudited: (nodeCount: number, clusterCount: number) =>
    `${[nodeCount > 0 ? nodes(nodeCount) : '', clusterCount > 0 ? counted(clusterCount, 'whole cluster') : ''].filter(Boolean).join(' and ')} not audited`,
  notWhollyRead: (count: number) => `${clusters(count)} not fully read`,
  partlyRead: (count: number) => `${nodes(count)} only partly read`,
  inputErrors: (count: number) => `${counted(count, 'error')} in the input`,
  noNode: 'No node was found.',
  complete: 'Complete: every node was read.',
  noGrade: 'no grade',
  moreClusters: (count: number) => `${counted(count, 'more cluster')} in findings.json`,
}

const plan = {
  title: 'Plan',
  digest: 'Digest',
  failed: (why: string) => `The plan could not be made: ${why}`,
  beside: (never: number, refused: number, unchanged: number) =>
    `Other nodes: ${formatCount(never)} excluded, ${formatCount(refused)} refused, ${formatCount(unchanged)} already as planned.`,
  nothing: (beside: string) => `The plan changes no node. ${beside}`,
  made: (count: number, waves: number, beside: string) =>
    `The plan changes ${nodes(count)} in ${counted(waves, 'wave')}, one of each cohort first. ${beside} Nothing has been changed yet: plan.json lists what is written on which node, and the effect. Read it, then approve it with:`,
}

const nodeChanges = {
  title: 'Changes to nodes',
  source:
    'remediate wrote this list. An audit has no key to verify it: the bucket policy keeps other writers away.',
  states: {
    running: 'running',
    paused: 'paused',
    stopped: 'stopped',
    done: 'done',
    'rolled-back': 'rolled back',
  },
  run: (run: string, state: string) => `Run ${run}: ${state}`,
  nodes: (changed: number, planned: number, failed: number, rolledBack: number) =>
    `${formatCount(changed)} of ${nodes(planned)} changed, ${formatCount(failed)} failed, ${formatCount(rolledBack)} rolled back.`,
  approved: (names: string) => `Approved by ${names}; remediate verified the seal.`,
  when: (from: string, until: string) => `From ${from} to ${until}.`,
  since: (from: string) => `Since ${from}, not finished.`,
  leftOut: (count: number) => `${formatCount(count)} more in the report.`,
}

export const summary = { verdict, plan, nodeChanges }
