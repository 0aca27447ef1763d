/** The page down to its findings: verdict, what is new, what breaks next, the fleet, opportunities, the plan. */
import type { Change } from '#model/delta.ts'
import { counted, formatCount } from '#report/numbers.ts'

const nodes = (count: number) => counted(count, 'node')
const clusters = (count: number) => counted(count, 'cluster')
const findings = (count: number) => counted(count, 'finding')

const verdict = {
  /** `evicting`: number of nodes that evict now. */
  headline: (severity: string, count: number, evicting: number) =>
    `${severity}: ${evicting > 0 ? `${nodes(evicting)} ${evicting === 1 ? 'evicts' : 'evict'} now, ` : ''}${findings(count)}`,
  nothingRead: 'Nothing could be read',
  nothingFound: 'No findings in what was read',
  worst: (title: string, subject: string, cluster: string, count: number) =>
    `Worst: ${title} (${subject} of ${cluster}${count === 0 ? '' : `, ${nodes(count)}`})`,
  scope: (clusterCount: number, read: number, all: number, partly: number) =>
    `${clusters(clusterCount)}, ${formatCount(read)} of ${nodes(all)} read${partly > 0 ? `, ${formatCount(partly)} partly` : ''}`,
  bySeverity: 'Findings by severity',
  notCovered: 'Not in this verdict:',
  notAudited: (nodeCount: number, clusterCount: number) =>
    `${[nodeCount > 0 ? nodes(nodeCount) : '', clusterCount > 0 ? counted(clusterCount, 'whole cluster') : ''].filter(Boolean).join(' and ')} not audited`,
  notWhollyRead: (count: number) => `${clusters(count)} not fully read`,
  partlyRead: (count: number) => `${nodes(count)} only partly read`,
  undecided: (count: number) => `${counted(count, 'check')} could not be decided`,
  inputErrors: (count: number) => `${counted(count, 'error')} in the input`,
  noNode: 'No node was found.',
  complete: 'Complete: every node was read, every rule could decide.',
  byCluster: 'Grade and coverage of each cluster',
  grade: 'Grade',
  noGrade: 'no grade',
  noNodeOfCluster: 'no node found',
  coverage: (read: number, all: number, percent: string, partly: number, not: number) =>
    [
      `${formatCount(read)} of ${nodes(all)} read (${percent})`,
      ...(partly > 0 ? [`${formatCount(partly)} partly`] : []),
      ...(not > 0 ? [`${formatCount(not)} not`] : []),
    ].join(', '),
  moreClusters: (count: number) => `${counted(count, 'more cluster')} in findings.json`,
}

const changed: Record<Change, string> = {
  new: 'New',
  worse: 'Worse',
  waiverExpired: 'Waiver expired',
  newlySeen: 'Seen for the first time',
  cannotTell: 'Unclear',
  moved: 'On other nodes',
  better: 'Better',
  fixed: 'Fixed',
  fixedOrGone: 'Fixed or removed',
  gone: 'Removed with its nodes',
  waivedSince: 'Waived since',
}

const news = {
  title: 'New since the last run',
  /** The time of the run is between the two. */
  comparedBefore: 'Compared with the run of ',
  comparedAfter: '. ',
  changed,
  backAgain: 'Back again',
  newOrWorse: 'New or worse',
  fixedOrBetter: 'Fixed, better or removed',
  neither: 'Other changes',
  counts: {
    new: (count: number) => `${formatCount(count)} new`,
    worse: (count: number) => `${formatCount(count)} worse`,
    better: (count: number) => `${formatCount(count)} better`,
    ended: (count: number) => `${formatCount(count)} fixed or removed`,
    otherwise: (count: number) => `${formatCount(count)} with other changes`,
    cannotTell: (count: number) => `${formatCount(count)} unclear`,
    unchanged: (count: number) => `${formatCount(count)} unchanged`,
  },
  summary: (isChanged: boolean, counts: string[]) =>
    `${isChanged ? 'Findings' : 'No finding has changed'}: ${counts.length === 0 ? 'none, as before' : counts.join(', ')}.`,
  withoutHistory: (newOnes: number, ended: number) =>
    `Since the last run: ${formatCount(newOnes)} new, ${formatCount(ended)} fixed or removed.`,
  noEarlierRun: 'There is no earlier run to compare with.',
  nodes: (counts: string[]) => `Nodes: ${counts.join(', ')}.`,
  nodeCounts: {
    added: (count: number) => `${nodes(count)} added`,
    removed: (count: number) => `${nodes(count)} removed`,
    notRead: (count: number) =>
      `${counted(count, 'node or cluster', 'nodes or clusters')} not fully read this time`,
  },
  moreInDiff: (count: number) => `${formatCount(count)} more: highwater diff lists all.`,
  more: (count: number) => `${formatCount(count)} more`,
  gradesChanged: 'Grades that changed',
  grade: (cluster: string, was: string, is: string) => `${cluster}: ${was} → ${is}`,
  notInLastRun: 'not in the last run',
  notInThisRun: 'not in this run',
}

const outlook = {
  title: 'Next to break',
  byTime: 'Nodes by the time to their first eviction',
  caption: 'The nodes that evict first.',
  columns: {
    node: 'Node',
    disk: 'Disk',
    imageGc: 'Image GC',
    pressure: 'Pressure',
    eviction: 'Eviction',
    first: 'If it fills fast',
    victims: 'First evicted',
    victimsAndChange: 'First evicted, and what to change',
  },
  toDo: 'To do:',
  change: (fields: string[], more: number) =>
    `set ${fields.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''}`,
  evictFirst: (isAssumed: boolean) => `Evict first${isAssumed ? ', at assumed growth' : ''}:`,
  /** `title`: that of `evictFirst`; `first`: texts of `evictionOf`. */
  evictFirstBrief: (title: string, first: string[]) => `${title} ${first.join(', ')}`,
  evictionOf: (when: string, name: string) => `${when} ${name}`,
  now: 'now',
  within: (duration: string) => `within ${duration}`,
  withinDays: (days: number) => `within ${counted(days, 'day')}`,
  later: 'not within 7 days',
  neverOrUnwatched: 'never at this growth, or not watched',
  unknownTime: 'unknown',
  never: 'never',
  in: (duration: string) => `in ${duration}`,
  off: 'off',
  below: (threshold: string) => `below ${threshold}`,
  disk: (used: string, free: string) => `${used} used, ${free} free`,
  /** Both are shown only if both occur. */
  asSeen: (within: string) => `${within} at observed growth`,
  asAssumed: (within: string) => `${within} at assumed growth`,
  /** What the times rest on. `coverage`: how many of the nodes have an observed growth; `observed`: their number. */
  basis: (
    coverage: 'none' | 'some' | 'all',
    observed: number,
    isFirstLook: boolean,
    growth: string,
    period: string,
  ) => {
    const burst = `${growth} of its capacity in ${period}`
    const assumed = `growth of ${burst} is assumed (policy assumedGrowthPercent)`
    const seen =
      'growth follows from earlier readings; data written and deleted between two readings is not observed, so a disk may fill faster'
    const order =
      'Order: nodes observed to evict within 7 days, nodes with assumed growth, nodes observed not to evict.'
    const rate = {
      none: `No growth was observed${isFirstLook ? ' (no earlier reading since any node started)' : ''}, so ${assumed}.`,
      some: `On ${nodes(observed)} the ${seen}. On the others ${assumed}. ${order}`,
      all: `The ${seen}. ${order}`,
    }[coverage]
    return `${rate} Times count from the reading of each node until the kubelet begins to act, if nothing is freed before. If it fills fast: what acts first when a disk grows by ${burst}; image GC runs only every ${period}, so eviction may come first.`
  },
  acts: {
    'image-gc': 'image GC first',
    eviction: 'eviction first',
    either: 'eviction may be first',
    nothing: 'nothing acts',
  },
  noVictim: 'no pod can be evicted',
  oneOf: (count: number, pods: string) => `one of ${formatCount(count)} equal candidates: ${pods}`,
  andThen: (first: string, rest: string[]) => `${first}, then ${rest.join(', ')}`,
  leftOut: (count: number) =>
    `${counted(count, 'more node')}, counted above and listed under Nodes.`,
  nothing: 'The time to eviction is unknown for every node.',
}

const overview = {
  title: 'The fleet by headroom',
  lead: 'Every node by its headroom above the nearest eviction threshold, in percent of that disk or memory. Least headroom first.',
  shapes: 'Legend',
  caption: 'Groups of nodes by headroom, the nearest to eviction first',
  columns: { group: 'Group', where: 'Headroom of its nodes' },
  bands: {
    met: 'threshold met',
    'image-gc': 'image GC due',
    close: 'under 5\u00a0%',
    near: '5 to 15\u00a0%',
    calm: 'over 15\u00a0%',
    unknown: 'unknown',
  },
  moreGroups: (count: number) => counted(count, 'more group'),
  described: (count: number, bands: string) => `${nodes(count)}: ${bands}`,
}

const opportunities = {
  title: 'Opportunities',
  caption: 'Changes with a countable gain, largest first',
  columns: { gain: 'Gain', change: 'Change', where: 'Where' },
  wholeFix: 'the whole fix',
  nothing: 'No change with a countable gain.',
  leftOut: (count: number) =>
    `${counted(count, 'smaller one')} not listed here: see the fix of their findings.`,
  noNeedlessEviction: (count: number) => `no eviction for unused images on ${nodes(count)}`,
  /** Image GC's start, before and after the change. */
  earlier: (lead: string, before: string) =>
    `image GC starts ${lead} before eviction, instead of ${before}`,
  leadBefore: (duration: string) => `${duration} before`,
  leadAfter: (duration: string) => `${duration} after`,
  leadNone: 'at the same moment',
  leadNever: 'never',
  usable: (bytes: string) => `${bytes} of disk become usable`,
  /** `all` null: on all nodes. */
  usableOn: (gained: number, all: number | null, percent: number) =>
    `on ${all === null ? nodes(gained) : `${formatCount(gained)} of ${nodes(all)}`}, at a threshold of ${percent}\u00a0%`,
  set: (fields: string) => `set ${fields}`,
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
  objects: (deleted: number, planned: number, failed: number) =>
    `${formatCount(deleted)} of ${counted(planned, 'object')} deleted, ${formatCount(failed)} failed.`,
  approved: (names: string) => `Approved by ${names}; remediate verified the seal.`,
  when: (from: string, until: string) => `From ${from} to ${until}.`,
  since: (from: string) => `Since ${from}, not finished.`,
  leftOut: (count: number) => `${formatCount(count)} more in the report.`,
}

export const summary = { verdict, news, outlook, overview, opportunities, plan, nodeChanges }
