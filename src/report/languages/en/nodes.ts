/** Texts of the nodes: their pictures, groups and details. */
import { counted, formatCount } from '#report/numbers.ts'
import { nodes } from './counts.ts'

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
    critical: 'your critical alert',
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
    `Distance to ${threshold}: unknown, ${filesystem} was not observed.`,
  met: (threshold: string, below: string) => `Met: ${threshold}, ${below} below it.`,
  until: (threshold: string, amount: string) => `${amount} more until ${threshold}.`,
  nowUnknown: 'Its current use is unknown.',
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
  links: {
    disk: 'What holds its disk',
    findings: 'Its findings',
    instance: 'EC2 console',
    session: 'SSM session',
  },
  calm: (title: string, used: string, summary: string) => `${title}: ${used}, ${summary}`,
  ready: { True: 'Ready', False: 'not Ready', Unknown: 'Ready unknown' },
  readinessUnknown: 'readiness unknown',
  asked: (way: string) => `read ${way}`,
  more: 'more',
  moreReasons: (count: number) => `${count} more reasons are in the snapshot.`,
  disk: 'disk',
  nothingObserved: 'No filesystem was observed, and no reason was recorded.',
  onDisk:
    'Thresholds from the files or settings on its disk. Whether the kubelet was restarted since then is unknown.',
  layoutUnknown: 'Whether nodefs and imagefs are one disk is unknown.',
  layout: {
    shared: (certainty: string) =>
      `One disk for nodefs and imagefs: ${certainty}, because the API does not name devices.`,
    imagefs: (certainty: string) =>
      `A separate disk for imagefs: ${certainty}, because the API does not name devices.`,
    split: (certainty: string) =>
      `A separate disk for images, with containers on nodefs: ${certainty}, because the API does not name devices.`,
  },
  notCertain: 'not certain',
}

const fleet = {
  title: 'Nodes and their high-water marks',
  noNode: 'No node was found.',
  legend: 'How to read the pictures',
  whereNow: 'current use',
  keptFree: 'kept free by hard eviction',
  rounded: 'one percent below its setting, because the kubelet rounds use up',
  moreGroups: (count: number) => counted(count, 'more group'),
  withoutGroup: 'Nodes without a group',
  fargate: 'Fargate nodes',
  nearest: (count: number) => `The ${count === 1 ? 'node' : `${count} nodes`} nearest to eviction`,
  about: (cluster: string, count: string, coverage: string) => `${cluster}, ${count}: ${coverage}`,
  coverage: (count: number, state: string) => `${formatCount(count)} ${state}`,
  asTable: (count: number, isRest: boolean) =>
    `${counted(count, isRest ? 'more node' : 'node')} of this group, as a table`,
  restAsTable: (count: number) => `${nodes(count)} of these groups, as a table`,
  caption: (group: string) =>
    `${group}: use of each disk, and headroom above the nearest eviction threshold, in percent of its capacity`,
  columns: {
    node: 'Node',
    coverage: 'Coverage',
    imageDisk: 'Image disk',
    nodefs: 'nodefs, if separate',
    memory: 'Memory',
    headroom: 'Headroom',
    now: 'Now',
  },
  notDrawn: (count: number) =>
    `${nodes(count)} not drawn, to keep the page light: in large groups only the nodes nearest to eviction are drawn; tables list the others.`,
  notListed: (count: number) =>
    `${nodes(count)} neither drawn nor listed, to keep the page light. The snapshot has all of them.`,
}

/** The strip of all nodes on one axis. */
const strip = {
  title: 'All nodes, by the use of the disk nearest to eviction',
  /** `unread`: nodes without an observed disk. */
  count: (drawn: number, unread: number) =>
    `${nodes(drawn)}${unread === 0 ? '' : `; ${nodes(unread)} without an observed disk`}. The marks are those of most nodes.`,
  own: "a node's own mark",
  states: {
    calm: (count: number) => `${formatCount(count)} below their marks`,
    'image-gc': (count: number) => `${formatCount(count)} with image GC due`,
    pressure: (count: number) => `${formatCount(count)} at an eviction threshold`,
  },
  /** `mark`: the node's own, such as `hard eviction 70 %`. Null: none. */
  dot: (name: string, percent: string, mark: string | null) =>
    `${name}: ${percent} used${mark === null ? '' : `, ${mark}`}`,
  pile: (count: number, percent: string) => `${nodes(count)} at ${percent}`,
  description: (piles: string[]) => `${piles.join(', ')}.`,
}

const picture = {
  /** `victims`: pods that the kubelet evicts first. */
  victims: 'Goes first',
  victimsOfDisk: 'Goes first, if deleted images free too little',
  holder: 'Holds the disk',
  holderOfMemory: 'Holds the memory',
  estimate: 'between two bounds',
  where: (where: string) => `cluster ${where}`,
  short: (size: string) => `${size} short`,
  /** `marks`: such as `image GC starts 74 %`, which lie above hard eviction. */
  later: (marks: string[]) => `only later: ${marks.join(', ')}`,
  step: 'What to do',
  legend: 'What holds this disk',
}

const plot = {
  title: (disk: string, readings: number, from: string, to: string) =>
    `${disk}: use in ${formatCount(readings)} readings from ${from} to ${to}`,
  description: (percents: string[], rounds: number, evictions: number) =>
    `Used: ${percents.join(', ')}. Rounds of image GC: ${formatCount(rounds)}. Evictions: ${formatCount(evictions)}.`,
  rounds: 'short blue lines: image GC',
  evictions: 'upright red lines: evictions',
  round: (at: string) => `image GC at ${at} UTC`,
  eviction: (at: string) => `eviction at ${at} UTC`,
}

export const ofNodes = { gauge, node, fleet, strip, picture, plot }
