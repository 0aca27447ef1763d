/** Nodes: their pictures, their groups and what is said of each. */
import { counted, formatCount } from '#report/numbers.ts'

const nodes = (count: number) => counted(count, 'node')

const gauge = {
  oneDisk: 'nodefs = imagefs (one disk)',
  inodesOf: (disk: string) => `${disk}, inodes`,
  memory: 'memory',
  notObserved: 'unknown: not observed',
  bytes: (used: string, all: string, free: string) => `${used} of ${all}, ${free} free`,
  inodes: (used: string, all: string, free: string) => `${used} of ${all} inodes, ${free} free`,
  inodeCount: (count: number) => counted(count, 'inode'),
  marks: {
    'gc-start': 'image GC starts',
    'gc-stop': 'image GC stops',
    alert: 'your alert',
    soft: 'soft eviction',
    hard: 'hard eviction',
  },
  softFor: (threshold: string, grace: string) => `${threshold} for ${grace}`,
  thresholdsUnknown: 'Eviction thresholds: unknown.',
  settingsDoNotParse: (why: string) => `The eviction settings do not parse: ${why}`,
  bytesUnwatched: 'No eviction threshold watches the bytes of this filesystem.',
  memoryUnwatched: 'No eviction threshold watches the memory of this node.',
  imageGcUnknown: 'Image GC: unknown.',
  imageGcOff: (high: number) =>
    `Image GC by disk usage is off (imageGCHighThresholdPercent ${high}).`,
  imageGcFails: (why: string) => `Image GC fails: ${why}`,
  dueUnknown: 'Whether image GC is due: unknown.',
  dueNow: (toFree: string) => `Image GC is due now: ${toFree} to free.`,
  untilImageGc: (bytes: string) => `${bytes} more until image GC starts.`,
  threshold: (mark: string, setting: string) => `${mark} (${setting})`,
  farUnknown: (threshold: string, filesystem: string) =>
    `How far to ${threshold}: unknown, ${filesystem} was not observed.`,
  met: (threshold: string, below: string) => `Met: ${threshold}, ${below} below it.`,
  until: (threshold: string, amount: string) => `${amount} more until ${threshold}.`,
  nowUnknown: 'How full it is now is unknown.',
  now: (used: string, summary: string) => `Now ${used} used, ${summary}.`,
  markAt: (mark: string, percent: string, setting: string) => `${mark} at ${percent} (${setting})`,
  marksAre: (marks: string[]) => `Marks: ${marks.join('; ')}.`,
  noMarks: 'No marks.',
}

const states = { calm: '', 'image-gc': 'image GC is due', pressure: 'eviction threshold met' }

const node = {
  states,
  used: (percent: string) => `${percent} used`,
  link: 'Link to this node',
  ready: { True: 'Ready', False: 'not Ready', Unknown: 'Ready unknown' },
  readinessUnknown: 'readiness unknown',
  asked: (way: string) => `asked ${way}`,
  more: 'more',
  moreReasons: (count: number) => `${count} more reasons are in the snapshot.`,
  disk: 'disk',
  nothingObserved: 'No filesystem was observed, and no reason was recorded.',
  onDisk:
    'Its thresholds are those of the files or settings on its disk: whether the kubelet was restarted since is not known.',
  layoutUnknown: 'Whether nodefs and imagefs are one disk is unknown.',
  layout: {
    shared: (certainty: string) =>
      `That nodefs and imagefs are one disk is ${certainty}: the API does not name devices.`,
    imagefs: (certainty: string) =>
      `That imagefs is a disk of its own is ${certainty}: the API does not name devices.`,
    split: (certainty: string) =>
      `That images have a disk of their own and containers live on nodefs is ${certainty}: the API does not name devices.`,
  },
  notCertain: 'not certain',
}

const distribution = {
  title: (disk: string) => `${disk}: how many nodes stand where`,
  spread: (count: number, lowest: string, median: string, ninetieth: string, highest: string) =>
    `${nodes(count)}: lowest ${lowest} used, median ${median}, 90th percentile ${ninetieth}, highest ${highest}.`,
  unknown: (count: number) => `${nodes(count)}: unknown.`,
  marksOf: (count: number, others: number) =>
    `The marks are those of ${nodes(count)}, not of the other ${formatCount(others)}.`,
}

const fleet = {
  title: 'Nodes and their high-water marks',
  noNode: 'No node is known.',
  legend: 'How to read the pictures',
  whereNow: 'where it stands now',
  keptFree: 'kept free by hard eviction',
  withoutGroup: 'Nodes without a group',
  fargate: 'Fargate nodes',
  nearest: (count: number) => `The ${count === 1 ? 'node' : `${count} nodes`} nearest to eviction`,
  about: (cluster: string, count: string, coverage: string) => `${cluster}, ${count}: ${coverage}`,
  coverage: (count: number, state: string) => `${formatCount(count)} ${state}`,
  asTable: (count: number, isRest: boolean) =>
    `${counted(count, isRest ? 'more node' : 'node')} of this group, as a table`,
  restAsTable: (count: number) => `${nodes(count)} of these groups, as a table`,
  caption: (group: string) =>
    `${group}, used of each disk and what is left above the nearest eviction threshold, in percent of its capacity`,
  columns: {
    node: 'Node',
    coverage: 'Coverage',
    imageDisk: 'Image disk',
    nodefs: 'nodefs, where apart',
    memory: 'Memory',
    headroom: 'Headroom',
    now: 'Now',
  },
  notDrawn: (count: number) =>
    `${nodes(count)} not drawn as a picture: of large groups the page draws those nearest to eviction and lists the others in tables, so that it stays light.`,
  notListed: (count: number) =>
    `${nodes(count)} neither drawn nor listed, so that the page stays light. The snapshot holds every one.`,
}

export const ofNodes = { gauge, node, distribution, fleet }
