/** Compares five settings on every node of a group: one predicted day each, at the node's measured growth. */

import { OperatorError } from '#base/operator-error.ts'
import { mapOf, type RawObject } from '#base/raw-object.ts'
import { byText, nodeKey } from '#base/text.ts'
import { dayMs, minuteMs } from '#base/units.ts'
import { amiDefaults } from '#facts/eks/ami-defaults.ts'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import { configurationDefaults, evictionHardDefaults } from '#facts/kubelet/fields.ts'
import { durableFixes, originOf } from '#judge/durable/durable.ts'
import { durableTargets } from '#judge/durable/index.ts'
import { withLowestImageGc } from '#judge/fixes/fix-facts.ts'
import { rules } from '#judge/rules/index.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import type { NodeSubject } from '#judge/subject/node-subject.ts'
import { nodeSubject } from '#judge/subject/subject.ts'
import type { NodeGrowth } from '#model/history.ts'
import {
  InputErrors,
  type MalformedLine,
  type NodeIdentity,
  type NodeInput,
  type NodeRecord,
  type SnapshotRecord,
} from '#model/input/record.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { ConfigurationChange, Fill } from '#model/plan.ts'
import type { Policy } from '#model/policy.ts'
import type { TimelineEvent } from '#model/prediction.ts'
import {
  type TuneDocument,
  type TunedConfiguration,
  type TuneRow,
  type TuneSetting,
  tuneSettings,
} from '#model/tune.ts'
import { withChanges } from '#replay/configuration/configuration-change.ts'
import { withConfigurationOnDisk } from '#replay/configuration/configuration-on-disk.ts'
import { type PreparedNode, prepareNode } from '#replay/prepare.ts'
import { replay, type SettingDay, settingDay } from '#replay/replay.ts'
import { nodeInput } from '#snapshot/input.ts'

export interface TuneOptions {
  group: string
  policy: Policy
  /** The records of the group; they are read up to three times. */
  records: () => AsyncIterable<SnapshotRecord | MalformedLine>
  /** Measured growth of a node. */
  growthOf: (cluster: string, name: string) => NodeGrowth
  /** Assumed for nodes without measured growth. Empty: such nodes have no day. */
  fills: readonly Fill[]
}

/** @throws OperatorError if the group has no node, and the errors of the source */
export async function tune(options: TuneOptions): Promise<TuneDocument> {
  const known = await learn(options)
  const { patch, leftOut, users, first, takenAt, inputErrors } = known
  if (known.nodes === 0)
    throw new OperatorError(`No node of the group ${options.group} is in the snapshot`)
  const rows = tuneSettings.map(emptyRow)
  const unmeasured: string[] = []
  let bytesPerHour = 0
  let nodes = 0
  for await (const read of options.records()) {
    if (read.kind !== 'Node') continue
    const input = configuredInput(read)
    if (!input.configuration) continue
    const identity = nodeIdentity(input.node)
    const growth = fillsOf(options.growthOf(input.cluster, identity.name))
    const fills = growth.length > 0 ? growth : options.fills
    if (fills.length === 0) unmeasured.push(identity.name)
    bytesPerHour += fills.reduce((sum, { perSecond }) => sum + perSecond * 3600, 0)
    const node = prepareNode(input, takenAt, null)
    const pulledAgain = fills.length === 0 ? null : pulledAgainOn(node, users)
    const settings = settingsOf(input, identity, patch)
    const isFirst = nodes++ === 0
    const days = new Map<string, SettingDay>()
    for (const row of rows) {
      const { configuration } = withChanges(input, settings[row.setting])
      const fields = configuration?.fields ?? {}
      const key = JSON.stringify(fields)
      const day = days.get(key) ?? settingDay(node, fields, fills)
      days.set(key, day)
      addNode(row, { isFirst, fields, day, pulledAgain })
    }
  }
  return {
    schema: 'highwater.tune/1',
    takenAt,
    group: options.group,
    clusters: [...known.clusters].toSorted(byText),
    nodes: known.nodes,
    unmeasured: { count: unmeasured.length, sample: unmeasured.toSorted(byText).slice(0, 20) },
    bytesPerHour: Math.round(bytesPerHour),
    rows,
    changes: changesBy(patch).map(({ path, value }) => `${path.join('.')}=${value}`),
    leftOut,
    durable: first ? durableOf(first, patch) : [],
    inputErrors: inputErrors.list(),
  }
}

/** The first reading: what the rules recommend for the group, and which images its pods use. */
async function learn({ records, policy }: TuneOptions) {
  const inputErrors = new InputErrors()
  const recommendation = openRecommendation(policy)
  /** Used percent of the disk of images, by node. */
  const usages = new Map<string, number>()
  const users = new Set<string>()
  const clusters = new Set<string>()
  let first: NodeInput | null = null
  let takenAt = ''
  let nodes = 0
  for await (const read of records()) {
    if (read.kind === 'Malformed') inputErrors.add(`line ${read.line}: ${read.message}`)
    if (read.kind === 'Snapshot') takenAt = read.takenAt
    if (read.kind !== 'Node') continue
    const input = configuredInput(read)
    clusters.add(input.cluster)
    nodes++
    if (!input.configuration)
      inputErrors.add(
        `${nodeIdentity(input.node).name} is in no row: its configuration is not known`,
      )
    else first ??= input
    const prediction = replay(input, takenAt)
    recommendation.take(nodeSubject(input, prediction))
    const { triggered, usagePercent } = prediction.imageGC ?? {}
    if (triggered === false && usagePercent != null) usages.set(keyOf(read), usagePercent)
    for (const image of imagesOf(prepareNode(input, takenAt, null)))
      if (image.users.length > 0) for (const name of image.names) users.add(name)
  }
  const recommended = await withEndingImageGc(recommendation.patch(), usages, records, takenAt)
  return { ...recommended, users, clusters, first, nodes, takenAt, inputErrors }
}

/** With the configuration of its files, if the running one was not read. */
const configuredInput = (record: NodeRecord) => withConfigurationOnDisk(nodeInput(record)).input

const keyOf = ({ cluster, node }: NodeRecord) => nodeKey(cluster, node.metadata?.name ?? null)

/** Without percentages at which image GC would start now on a node, and would not free enough. */
async function withEndingImageGc(
  patch: RawObject,
  usages: ReadonlyMap<string, number>,
  records: TuneOptions['records'],
  takenAt: string,
) {
  const { [high]: start, [low]: stop, ...others } = patch
  const whole = { patch, leftOut: null }
  const starting = [...usages].filter(([, percent]) => percent >= Number(start))
  const keys = new Set(starting.map(([key]) => key))
  if (keys.size === 0) return whole
  for await (const read of records()) {
    if (read.kind !== 'Node' || !keys.has(keyOf(read))) continue
    const after = withChanges(configuredInput(read), changesBy(patch))
    if (replay(after, takenAt).imageGC?.reachesLow !== false) continue
    const node = read.node.metadata?.name ?? ''
    return { patch: others, leftOut: { high: Number(start), low: Number(stop), node } }
  }
  return whole
}

const imagesOf = ({ imageEvidence }: PreparedNode) => imageEvidence.images ?? []

function pulledAgainOn(node: PreparedNode, users: ReadonlySet<string>): PulledAgain {
  const bytes = new Map(
    imagesOf(node)
      .filter(({ names }) => names.some(name => users.has(name)))
      .map(({ image, sizeBytes }) => [image, sizeBytes ?? 0]),
  )
  return image => bytes.get(image) ?? 0
}

/** The median of the measured growth. */
const fillsOf = (growth: NodeGrowth): Fill[] =>
  Object.entries(growth).flatMap(([disk, seen]) =>
    seen.isSeen
      ? [{ target: disk as keyof NodeGrowth, perSecond: seen.bytesPerHour.median / 3600 }]
      : [],
  )

/** Places that take only a whole map get the thresholds that stay, too. */
function durableOf(input: NodeInput, patch: RawObject) {
  if (Object.keys(patch).length === 0) return []
  const identity = nodeIdentity(input.node)
  const { evictionHard = {} } = input.configuration?.fields ?? {}
  const config = {
    ...patch,
    ...(patch.evictionHard !== undefined && {
      evictionHard: { ...evictionHard, ...mapOf(patch.evictionHard) },
    }),
  }
  return durableFixes(durableTargets, identity.group, [{ origin: originOf(identity), config }])
}

/* One setting of `tune`: the predicted days of all nodes, added up. */

/** Packed bytes of an image if pods use it on other nodes of the group; 0: they do not. */
type PulledAgain = (image: string) => number

const emptyRow = (setting: TuneSetting): TuneRow => ({
  setting,
  configuration: {},
  isAlike: true,
  first: { imageGC: 0, eviction: 0, nothing: 0 },
  imageGCs: 0,
  deletedBytes: 0,
  pulledAgainBytes: 0,
  evictions: 0,
  diskPressureMinutes: 0,
  unusableBytes: null,
})

interface NodeDay {
  isFirst: boolean
  fields: KubeletConfiguration
  day: SettingDay
  /** Null: the growth of the node is unknown, so its day does not count. */
  pulledAgain: PulledAgain | null
}

function addNode(row: TuneRow, { isFirst, fields, day, pulledAgain }: NodeDay) {
  const configuration = tunedPart(fields)
  if (isFirst) row.configuration = configuration
  else row.isAlike &&= JSON.stringify(row.configuration) === JSON.stringify(configuration)
  if (day.unusableBytes !== null) row.unusableBytes = (row.unusableBytes ?? 0) + day.unusableBytes
  if (pulledAgain) addDay(row, day, pulledAgain)
}

function tunedPart({
  imageGCHighThresholdPercent,
  imageGCLowThresholdPercent,
  evictionHard = {},
}: KubeletConfiguration): TunedConfiguration {
  const sorted = Object.entries(evictionHard).toSorted(([a], [b]) => byText(a, b))
  return {
    ...(imageGCHighThresholdPercent !== undefined && { imageGCHighThresholdPercent }),
    ...(imageGCLowThresholdPercent !== undefined && { imageGCLowThresholdPercent }),
    evictionHard: Object.fromEntries(sorted),
  }
}

function addDay(
  row: TuneRow,
  { timeline, isUnderDiskPressure }: SettingDay,
  pulledAgain: PulledAgain,
) {
  if (!timeline) return
  row.first[firstAct(timeline)]++
  for (const { event, detail } of timeline) {
    if (event === 'evict') row.evictions++
    if (event !== 'imageGC' && event !== 'reclaim') continue
    // A round that deletes nothing is only an error.
    if (event === 'imageGC' && detail.images.length > 0) row.imageGCs++
    row.deletedBytes += detail.frees.likely
    for (const image of detail.images) row.pulledAgainBytes += pulledAgain(image)
  }
  row.diskPressureMinutes += pressureMinutes(timeline, isUnderDiskPressure)
}

function firstAct(timeline: readonly TimelineEvent[]): keyof TuneRow['first'] {
  const first = timeline.find(({ event }) => ['imageGC', 'reclaim', 'evict'].includes(event))
  if (!first) return 'nothing'
  return first.event === 'imageGC' ? 'imageGC' : 'eviction'
}

/** By the shown times. Pressure at the end of the timeline lasts until the end of the day. */
function pressureMinutes(timeline: readonly TimelineEvent[], isPressedNow: boolean) {
  let since = isPressedNow ? 0 : null
  let pressedMs = 0
  for (const { atMs, event, detail } of timeline) {
    if (event !== 'condition' || detail.condition !== 'DiskPressure') continue
    if (detail.status) since ??= atMs
    else if (since !== null) {
      pressedMs += atMs - since
      since = null
    }
  }
  return Math.round((pressedMs + (since === null ? 0 : dayMs - since)) / minuteMs)
}

/* The five settings that `tune` compares, as changes of a node's running configuration. */

const [high, low] = ['imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'] as const
const stricterBy = 10
const lowestHigh = 20

const tunedRules = rules.flatMap(rule =>
  rule.kind === 'node' && (rule.family === 'image-gc' || rule.family === 'eviction') ? [rule] : [],
)

/** Patch for a whole group: the lowest image-GC percentages, and every threshold that a rule adds or changes on one of its nodes. */
function openRecommendation(policy: Policy) {
  let patch: RawObject = {}
  return {
    take(subject: NodeSubject) {
      for (const rule of tunedRules) {
        const outcome = outcomeOf(rule, subject, policy)
        const config = outcome.state === 'fail' ? (outcome.failing.fix?.config ?? {}) : {}
        if (config[high] !== undefined) {
          const { [high]: start, [low]: stop } = withLowestImageGc(config, [patch])
          patch = { ...patch, [high]: start, [low]: stop }
        }
        const running = mapOf(subject.configuration?.evictionHard)
        const news = Object.entries(mapOf(config.evictionHard)).filter(
          ([signal, value]) => running[signal] !== value,
        )
        if (news.length > 0)
          patch = {
            ...patch,
            evictionHard: { ...Object.fromEntries(news), ...mapOf(patch.evictionHard) },
          }
      }
    },
    patch: () => patch,
  }
}

/** @param recommended the group's patch */
function settingsOf(
  { configuration }: NodeInput,
  { amiFamily, kubeletVersion, operatingSystem }: NodeIdentity,
  recommended: RawObject,
): Record<TuneSetting, ConfigurationChange[]> {
  const running = configuration?.fields ?? {}
  const upstream = evictionHardDefaults(kubeletVersion, operatingSystem)
  const defaultsWith = (evictionHard: unknown): ConfigurationChange[] => [
    { path: [high], value: configurationDefaults[high] },
    { path: [low], value: configurationDefaults[low] },
    { path: ['evictionHard'], value: evictionHard },
    ...unset,
  ]
  const start = Number(recommended[high] ?? running[high] ?? configurationDefaults[high])
  const stop = Number(recommended[low] ?? running[low] ?? configurationDefaults[low])
  const earlier = Math.max(lowestHigh, start - stricterBy)
  const stricter = { ...recommended, [high]: earlier, [low]: Math.min(stop, earlier - stricterBy) }
  return {
    today: [],
    vendor: defaultsWith(amiDefaults(amiFamily, kubeletVersion).evictionHard ?? upstream),
    upstream: defaultsWith(upstream),
    recommended: changesBy(recommended),
    stricter: changesBy(stricter),
  }
}

const unset = [
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMinimumReclaim',
  'imageMaximumGCAge',
].map(field => ({ path: [field], value: undefined }))

/** A key of a map has its own change. */
const changesBy = (patch: RawObject): ConfigurationChange[] =>
  Object.entries(patch).flatMap(([field, value]) =>
    field === 'evictionHard'
      ? Object.entries(mapOf(value)).map(([key, text]) => ({ path: [field, key], value: text }))
      : [{ path: [field], value }],
  )
