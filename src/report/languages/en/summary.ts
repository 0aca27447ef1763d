/** The page down to its findings: verdict, what is new, what breaks next, the fleet, opportunities, the plan. */
import type { Change } from '#model/delta.ts'
import { counted, formatCount } from '#report/numbers.ts'

const nodes = (count: number) => counted(count, 'node')
const clusters = (count: number) => counted(count, 'cluster')
const findings = (count: number) => counted(count, 'finding')

const verdict = {
  /** `evicting`: how many nodes do so at this moment. */
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
  notWhollyRead: (count: number) => `${clusters(count)} not wholly read`,
  partlyRead: (count: number) => `${nodes(count)} only partly read`,
  undecided: (count: number) => `${counted(count, 'question')} without an answer`,
  inputErrors: (count: number) => `${counted(count, 'error')} in the input`,
  noNode: 'No node is known.',
  complete: 'Nothing was left out: every node was read, every question has its answer.',
  byCluster: 'Grade and coverage of each cluster',
  grade: 'Grade',
  noGrade: 'no grade',
  noNodeOfCluster: 'no node known',
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
  waiverExpired: 'Waiver ended',
  newlySeen: 'Seen for the first time',
  cannotTell: 'Cannot be told',
  moved: 'On other nodes',
  better: 'Better',
  fixed: 'Fixed',
  fixedOrGone: 'Fixed or gone',
  gone: 'Gone with its nodes',
  waivedSince: 'Waived since',
}

const news = {
  title: 'New since the last run',
  /** The time of the run stands between the two. */
  comparedBefore: 'Compared with the run of ',
  comparedAfter: '. ',
  changed,
  backAgain: 'Back again',
  newOrWorse: 'New or worse',
  fixedOrBetter: 'Fixed, better or gone',
  neither: 'Neither',
  counts: {
    new: (count: number) => `${formatCount(count)} new`,
    worse: (count: number) => `${formatCount(count)} worse`,
    better: (count: number) => `${formatCount(count)} better`,
    ended: (count: number) => `${formatCount(count)} fixed or gone`,
    otherwise: (count: number) => `${formatCount(count)} otherwise changed`,
    cannotTell: (count: number) => `${formatCount(count)} cannot be told`,
    unchanged: (count: number) => `${formatCount(count)} unchanged`,
  },
  summary: (isChanged: boolean, counts: string[]) =>
    `${isChanged ? 'Findings' : 'No finding has changed'}: ${counts.length === 0 ? 'there was none, and there is none' : counts.join(', ')}.`,
  withoutHistory: (newOnes: number, ended: number) =>
    `Since the last run: ${formatCount(newOnes)} new, ${formatCount(ended)} fixed or gone.`,
  noEarlierRun: 'No earlier run is known, so nothing here is called new.',
  nodes: (counts: string[]) => `Nodes: ${counts.join(', ')}.`,
  nodeCounts: {
    added: (count: number) => `${nodes(count)} added`,
    removed: (count: number) => `${nodes(count)} removed`,
    notRead: (count: number) =>
      `${counted(count, 'node or cluster', 'nodes or clusters')} not fully read this time`,
  },
  moreInDiff: (count: number) => `${formatCount(count)} more: highwater diff names every one.`,
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
  neverOrUnwatched: 'never at this growth, or unwatched',
  unknownTime: 'not known',
  never: 'never',
  in: (duration: string) => `in ${duration}`,
  off: 'off',
  below: (threshold: string) => `below ${threshold}`,
  disk: (used: string, free: string) => `${used} used, ${free} free`,
  /** As a disk was seen to grow, and as is assumed where both occur. */
  asSeen: (within: string) => `${within} at seen growth`,
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
    const assumed = `a disk is taken to grow by ${burst} (policy assumedGrowthPercent)`
    const seen =
      'growth is that of earlier readings; what comes and goes between two of them is not seen, so a disk may fill faster'
    const order =
      'List and counts have one order: who was seen to get there within 7 days, whose growth is assumed, who was seen not to get there.'
    const rate = {
      none: `No growth was observed${isFirstLook ? ' (no earlier reading since any node started)' : ''}, so ${assumed}.`,
      some: `On ${nodes(observed)} the ${seen}. On the others ${assumed}. ${order}`,
      all: `The ${seen}. ${order}`,
    }[coverage]
    return `${rate} Times count from the moment each node was read, as if nothing were freed before: it is when the kubelet begins to act. If it fills fast: what comes first when a disk grows by ${burst}; image GC looks only every ${period}, so eviction may come before its next look.`
  },
  acts: {
    'image-gc': 'image GC first',
    eviction: 'eviction first',
    either: 'eviction may be first',
    nobody: 'nothing acts',
  },
  noVictim: 'no pod that may be evicted',
  oneOf: (count: number, pods: string) => `one of ${formatCount(count)} alike: ${pods}`,
  andThen: (first: string, rest: string[]) => `${first}, then ${rest.join(', ')}`,
  leftOut: (count: number) =>
    `${counted(count, 'more node')} after these, counted above; each is in its group under Nodes.`,
  nothing: 'Of no node is it known when it would evict.',
}

const overview = {
  title: 'The fleet by headroom',
  lead: 'Every node by what is left above its nearest eviction threshold, in percent of that disk or memory, the nearest first.',
  shapes: 'What the shapes mean',
  caption: 'Groups of nodes by headroom, the nearest to eviction first',
  columns: { group: 'Group', where: 'Where its nodes stand' },
  bands: {
    met: 'threshold met',
    'image-gc': 'image GC due',
    close: 'under 5\u00a0%',
    near: '5 to 15\u00a0%',
    calm: 'over 15\u00a0%',
    unknown: 'not known',
  },
  moreGroups: (count: number) => counted(count, 'more group'),
  described: (count: number, bands: string) => `${nodes(count)}: ${bands}`,
}

const opportunities = {
  title: 'Opportunities',
  caption: 'Changes whose gain can be counted, the largest first',
  columns: { gain: 'Gain', change: 'Change', where: 'Where' },
  wholeFix: 'the whole fix',
  nothing: 'No change of which a gain could be counted.',
  leftOut: (count: number) =>
    `${counted(count, 'smaller one')} not listed here: their findings carry the fix.`,
  noNeedlessEviction: (count: number) => `no eviction for unused images on ${nodes(count)}`,
  /** Image GC's start, before and after the change. */
  earlier: (lead: string, before: string) =>
    `image GC starts ${lead} before eviction, instead of ${before}`,
  leadBefore: (duration: string) => `${duration} before`,
  leadAfter: (duration: string) => `${duration} after`,
  leadNone: 'at the same moment',
  leadNever: 'never',
  usable: (bytes: string) => `${bytes} of disk become usable`,
  /** `all` null: on all of them. */
  usableOn: (gained: number, all: number | null, percent: number) =>
    `on ${all === null ? nodes(gained) : `${formatCount(gained)} of ${nodes(all)}`}, at a threshold of ${percent}\u00a0%`,
  set: (fields: string) => `set ${fields}`,
}

const plan = {
  title: 'A plan to mend it',
  digest: 'Digest',
  failed: (why: string) => `A plan of what can be fixed could not be made: ${why}`,
  beside: (never: number, refused: number, unchanged: number) =>
    `Beside them: ${formatCount(never)} never touched, ${formatCount(refused)} refused, ${formatCount(unchanged)} as wanted already.`,
  nothing: (beside: string) => `No node would be changed by a plan of what can be fixed. ${beside}`,
  made: (count: number, waves: number, beside: string) =>
    `${nodes(count)} can be mended in ${counted(waves, 'wave')}, one of each cohort first. ${beside} Nothing has been changed: plan.json says what would be written on which node, and what that would do. Who has read it approves it by:`,
}

export const summary = { verdict, news, outlook, overview, opportunities, plan }
