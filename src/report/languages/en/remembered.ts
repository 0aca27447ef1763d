/** Texts from earlier runs: growth of disks, trends, findings that came back. */
import type { Ending } from '#model/finding/delta.ts'
import type { UnseenGrowth } from '#model/history.ts'
import { counted, formatCount } from '#report/numbers.ts'

const readings = (count: number) => counted(count, 'reading')

const growth = {
  unseen: {
    first: () => 'no earlier reading since the node started',
    few: count => `only ${readings(count)} so far`,
    near: () => 'readings are too close together',
    emptier: count => `use mostly fell in ${readings(count)}`,
  } satisfies Record<UnseenGrowth['why'], (readings: number) => string>,
  seen: (rate: string, seen: string) => `grows ${rate}, ${seen}`,
  assumed: (why: string | null) => `growth assumed${why === null ? '' : `: ${why}`}`,
  note: (disk: string, rate: string, seen: string) => `${disk} grew by about ${rate}: ${seen}.`,
  readings: (count: number, duration: string, falls: number) =>
    `${readings(count)} in ${duration}${falls === 0 ? '' : `, with ${counted(falls, 'fall')}`}`,
  /** `range` null: the growth was constant. */
  rate: (bytes: string, isHourly: boolean, range: string | null) =>
    `${bytes} ${isHourly ? 'an hour' : 'a day'}${range === null ? '' : ` (${range})`}`,
  notWithin: (duration: string) => `not within ${duration}`,
  fastest: (duration: string) => `at the fastest observed ${duration}`,
  about: (duration: string) => `in about ${duration}`,
  fromTo: (from: string, to: string) => `${from} to ${to}`,
  orLater: (from: string) => `${from} or later`,
}

const trends = {
  title: 'Trends',
  clustersCaption: 'Clusters. The faint line counts critical and high findings',
  groups: 'Group by group, the fullest first',
  groupsOverTime: 'Groups of nodes over time',
  groupsCaption:
    "Near: image GC is due, or less than 5 points of use away. The faint line is the median of the group's disks",
  columns: {
    cluster: 'Cluster',
    group: 'Group',
    grade: 'Grade',
    findings: 'Findings',
    near: 'Nodes near image GC',
    used: 'Fullest image disk',
    freed: 'Freed, of the counted bytes',
    error: 'Error of the prediction',
  },
  lead: (days: number, first: string, last: string) =>
    `${counted(days, 'day')} from ${first} to ${last}, the last run of each. Gaps are days with unknown values.`,
  allClusters: 'All clusters',
  moreClusters: (count: number) => `${counted(count, 'more cluster')}: see highwater history.`,
  moreGroups: (count: number) => `${counted(count, 'more group')}: see highwater history.`,
  /** `known` null: all nodes are known. */
  about: (cluster: string, known: number | null, nodes: number) =>
    `${cluster}, ${known === null ? counted(nodes, 'node') : `${formatCount(known)} of ${counted(nodes, 'node')} known`}`,
  reclaims: 'Rounds of image GC: what they freed, and how far the prediction was off',
  rounds: (count: number, day: string) => `${counted(count, 'round')}, last on ${day}`,
  freedOf: (freed: string, counted: string) => `${freed} of ${counted}`,
  nearImageGc: 'Near image GC',
  atFirst: (now: string, first: string) => `${now}, ${first} at first`,
  noGrade: 'none',
  gradeUntil: (grade: string, day: string) => `${grade} until ${day}`,
  median: (percent: string) => `median ${percent}`,
  described: (what: string, first: string, least: string, most: string, now: string) =>
    `${what} by day: first ${first}, least ${least}, most ${most}, now ${now}`,
}

/** Parts of the sentence about the changes of a week. */
const week = {
  in: (days: number, parts: string[]) => `In ${formatCount(days)} days: ${parts.join('; ')}.`,
  findings: (change: string, urgent: string[]) =>
    `findings ${change}${urgent.length === 0 ? '' : ` (${urgent.join(', ')})`}`,
  severity: (severity: string, change: string) => `${severity} ${change}`,
  near: (change: string) => `nodes near image GC ${change}`,
  used: (change: string) => `fullest image disk ${change}`,
  grades: (grades: string[], more: number) =>
    `grade ${grades.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''}`,
  asBefore: (value: string) => `${value} as before`,
  fromTo: (then: string, is: string) => `${then} → ${is}`,
}

const endings: Record<Ending, string> = {
  fixed: 'fixed',
  replaced: 'fixed by new nodes',
  gone: 'removed with its nodes',
  moved: 'covered by another finding',
}
const returned = {
  endings,
  ended: (ending: string, on: string, since: string) =>
    `${ending} on ${on}, open before since ${since}`,
}

const night = {
  line: (since: string, parts: string[]) => `Since ${since}: ${parts.join(', ')}`,
  /** A node had more than are kept. */
  atLeast: (since: string, parts: string[]) => `Since ${since}, at least: ${parts.join(', ')}`,
  evicted: (pods: number, nodes: number) =>
    `${counted(pods, 'pod')} evicted on ${counted(nodes, 'node')}`,
  refused: (pods: number, nodes: number) =>
    `${counted(pods, 'pod')} refused by ${counted(nodes, 'node')}`,
  pressure: (changes: number, nodes: number) =>
    `${counted(changes, 'change')} of a pressure condition on ${counted(nodes, 'node')}`,
  /** By the status that the condition has now. */
  onePressure: {
    True: (condition: string, at: string, node: string) => `${condition} began at ${at} on ${node}`,
    False: (condition: string, at: string, node: string) =>
      `${condition} ended at ${at} on ${node}`,
    Unknown: (condition: string, at: string, node: string) =>
      `${condition} changed at ${at} on ${node}`,
  },
  onePod: (text: string, pod: string, node: string) => `${text} (${pod} on ${node})`,
  firstPod: (text: string, pod: string, node: string) => `${text} (first ${pod} on ${node})`,
  imageGcFailed: (times: number, nodes: number) =>
    `${counted(times, 'failed image GC', 'failed image GCs')} on ${counted(nodes, 'node')}`,
  imagesDeleted: (images: number, nodes: number) =>
    `${counted(images, 'image')} deleted on ${counted(nodes, 'node')}`,
  reboots: (times: number, nodes: number) =>
    `${counted(times, 'restart')} of ${counted(nodes, 'node')}`,
}

export const remembered = { night, growth, trends, week, returned }
