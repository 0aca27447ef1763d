/** Texts of the causes, of the nodes next to break, and of the table of clusters. */
import { counted, formatCount } from '#report/numbers.ts'
import { clusters, findings, nodes } from './counts.ts'

const causes = {
  title: 'Causes',
  none: 'No findings in what was read.',
  /** `value` null: not set. */
  setting: (path: string, value: string | null) =>
    value === null ? `${path} is not set` : `${path} is ${value}`,
  byDefault: (statement: string) => `${statement}, the kubelet's default`,
  cause: 'Cause:',
  step: 'Step:',
  set: (settings: string[]) => `set ${settings.join(', ')}`,
  moreSettings: (count: number) => counted(count, 'more field'),
  value: (path: string, value: string) => `${path} ${value}`,
  /** `others`: other values, each with its place. */
  valueBut: (path: string, value: string, others: string[]) =>
    `${path} ${value} (${others.join('; ')})`,
  other: (value: string, place: string) => `${value} on ${place}`,
  others: (value: string, count: number) => `${value} on ${counted(count, 'group')}`,
  ends: (count: number) => `Ends ${findings(count)}.`,
  within: (nodeCount: number, clusterCount: number) =>
    `${nodes(nodeCount)} in ${clusters(clusterCount)}`,
  objects: (count: number) => counted(count, 'place'),
  /** `place`: number of the cause in the list, from 1. */
  number: (place: number) => `see cause ${place}`,
  first: (where: string, node: string) => `${where}, first ${node}`,
  details: (findingCount: number, commandCount: number) =>
    [findings(findingCount), ...(commandCount > 0 ? [counted(commandCount, 'command')] : [])].join(
      ', ',
    ),
  more: (count: number, tallied: string[]) =>
    `${counted(count, 'more cause')}: ${tallied.join(', ')}`,
  moreFindings: (count: number) => `and ${counted(count, 'more finding')}`,
  moreCommands: (count: number) => `and ${counted(count, 'more command')} with the findings`,
}

const next = {
  title: 'Next to break',
  counts: 'Nodes by what happens next',
  caption: 'Nodes that evict now, then those observed to reach eviction, then by headroom',
  columns: {
    node: 'Node',
    state: 'Eviction',
    disk: 'Disk',
    imageGc: 'Image GC',
    victims: 'First evicted',
    cause: 'Cause and step',
  },
  now: 'evicts now',
  nowShort: 'now',
  left: (bytes: string, percent: string) => `${bytes} (${percent}) to eviction`,
  leftUnwatched: (bytes: string, percent: string) =>
    `${bytes} (${percent}) to full: no threshold watches it`,
  disk: (title: string, used: string) => `${title} ${used} used`,
  gcDue: 'due now',
  gcIn: (bytes: string) => `after ${bytes}`,
  gcOff: 'off',
  gcUnknown: 'unknown',
  /** A null number is unknown. */
  releases: (
    name: string,
    tags: string,
    size: string,
    untilGc: number | null,
    untilEviction: number | null,
  ) => {
    const parts = [
      ...(untilGc === null ? [] : [`${formatCount(untilGc)} until image GC`]),
      ...(untilEviction === null ? [] : [`${formatCount(untilEviction)} until eviction`]),
    ]
    return `room for more releases of ${name}: ${parts.join(', ')}, if each takes at most ${size} (learned from ${tags})`
  },
  below: (signal: string, threshold: string) => `${signal} below ${threshold}`,
  bands: {
    now: (count: number) => `${nodes(count)} ${count === 1 ? 'evicts' : 'evict'} now`,
    soon: (count: number) => `${nodes(count)} within 7 days at observed growth`,
    close: (count: number) => `${nodes(count)} with under 5\u00a0% headroom`,
    near: (count: number) => `${nodes(count)} with 5 to 15\u00a0%`,
    calm: (count: number) => `${nodes(count)} with over 15\u00a0%`,
    unknown: (count: number) => `no forecast for ${nodes(count)}`,
  },
  basis:
    'Headroom is the space above the nearest eviction threshold. A time needs observed growth, and reaches four times as far as the observation.',
  leftOut: (count: number) => `${counted(count, 'more node')} under Nodes.`,
  nothing: 'No node is near eviction, as far as nodes were read.',
  noVictim: 'no pod can be evicted',
  oneOf: (count: number, pods: string) => `any of ${formatCount(count)} pods, such as ${pods}`,
  andThen: (first: string, rest: string[]) => `${first}, then ${rest.join(', ')}`,
  evictFirst: 'Next to break:',
  stress: (growth: string, period: string, parts: string[]) =>
    `Stress test, not a forecast: if a disk grew by ${growth} of its capacity in ${period}: ${parts.join('; ')}.`,
  stressDisk: (disk: string, imageGc: string, eviction: string, first: string) =>
    `${disk}: image GC ${imageGc}, eviction ${eviction}, ${first}`,
  after: (duration: string) => `after ${duration}`,
  never: 'never',
  acts: {
    'image-gc': 'image GC first',
    eviction: 'eviction first',
    either: 'eviction may be first',
    nothing: 'nothing acts',
  },
}

const clusterTable = {
  title: 'Clusters',
  caption:
    'Clusters, the worst grade first: F has a critical finding, D a high, C a medium, B a low one; one step better if it concerns less than a tenth of the nodes. A cluster links to its findings',
  columns: {
    cluster: 'Cluster',
    grade: 'Grade',
    read: 'Nodes read',
    findings: 'Findings',
    headroom: 'Least headroom',
    outcomes: 'Checks: pass, fail, unknown',
  },
  notRead: 'NOT READ',
  partly: (read: string, count: number) => `${read}, ${formatCount(count)} partly`,
  outcomes: (pass: string, fail: string, unknown: string) => `${pass}, ${fail}, ${unknown}`,
}

export const ofCauses = { causes, next, clusterTable }
