/** What is remembered of other days: how fast disks grow, how the fleet went, which findings are back. */
import type { Ending } from '#model/history.ts'
import type { UnseenGrowth } from '#model/report.ts'
import { counted, formatCount } from '#report/numbers.ts'

const readings = (count: number) => counted(count, 'reading')

const growth = {
  unseen: {
    first: () => 'no earlier reading since it started',
    few: count => `only ${readings(count)} so far`,
    near: () => 'its readings are too near to each other',
    emptier: count => `in ${readings(count)} it mostly became emptier`,
  } satisfies Record<UnseenGrowth['why'], (readings: number) => string>,
  seen: (rate: string, seen: string) => `grows ${rate}, ${seen}`,
  assumed: (why: string | null) => `growth assumed${why === null ? '' : `: ${why}`}`,
  note: (disk: string, rate: string, seen: string) => `${disk} grew by about ${rate}: ${seen}.`,
  readings: (count: number, duration: string, falls: number) =>
    `${readings(count)} in ${duration}${falls === 0 ? '' : `, emptier ${falls === 1 ? 'once' : `${falls} times`} in between`}`,
  /** `range` null: it was always the same. */
  rate: (bytes: string, isHourly: boolean, range: string | null) =>
    `${bytes} ${isHourly ? 'an hour' : 'a day'}${range === null ? '' : ` (${range})`}`,
  notWithin: (duration: string) => `not within ${duration}`,
  fastest: (duration: string) => `at the fastest seen ${duration}`,
  about: (duration: string) => `in about ${duration}`,
  fromTo: (from: string, to: string) => `${from} to ${to}`,
  orLater: (from: string) => `${from} or later`,
}

const trends = {
  title: 'How it went',
  clustersCaption: 'Clusters. The faint line is that of critical and high findings',
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
  },
  lead: (days: number, first: string, last: string) =>
    `${counted(days, 'day')} from ${first} to ${last}, the last run of each. Where a line is broken, nobody could tell.`,
  allClusters: 'All clusters',
  moreClusters: (count: number) =>
    `${counted(count, 'more cluster')}: highwater history tells of each.`,
  moreGroups: (count: number) =>
    `${counted(count, 'more group')}: highwater history tells of each.`,
  /** `known` null: all of them. */
  about: (cluster: string, known: number | null, nodes: number) =>
    `${cluster}, ${known === null ? counted(nodes, 'node') : `${formatCount(known)} of ${counted(nodes, 'node')} known`}`,
  nearImageGc: 'Near image GC',
  atFirst: (now: string, first: string) => `${now}, ${first} at first`,
  noGrade: 'none',
  gradeUntil: (grade: string, day: string) => `${grade} until ${day}`,
  median: (percent: string) => `median ${percent}`,
  described: (what: string, first: string, least: string, most: string, now: string) =>
    `${what} by day: first ${first}, least ${least}, most ${most}, now ${now}`,
}

/** A week in one sentence. */
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
  gone: 'gone with its nodes',
  moved: 'told by another finding',
}
const returned = {
  endings,
  told: (ending: string, on: string, since: string) =>
    `${ending} on ${on}, there before since ${since}`,
}

export const remembered = { growth, trends, week, returned }
