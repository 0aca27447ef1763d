import { formatBytes } from '#base/go/quantity.ts'
import { dayMs, hourMs, mebibyte, minuteMs, weekMs } from '#base/units.ts'
import {
  bytes,
  type Failing,
  line,
  lines,
  plural,
  type Satisfied,
  shorten,
  span,
  type Undecided,
} from '#judge/rule.ts'
import { type Place, placeOf, seenLogsOf, usualPodLogs } from './log-paths.ts'
import {
  blockInWords,
  type LogBlock,
  type LogFiles,
  limitBytes,
  refusedValues,
  rotationsOf,
  type Settings,
  settingOf,
  sizeIn,
} from './logrotate.ts'
import type { LogrotateRuns } from './logrotate-runs.ts'
import {
  type LogRotation,
  logMonitorMs,
  logRotationOf,
  remainingLogBytes,
  roomForLogs,
} from './logs.ts'

export interface PlacedBlock {
  path: string
  block: LogBlock
  /** The folder in which the kubelet of this node keeps container logs. */
  podLogs: string
}

export function podLogsFolder({ configuration }: Satisfied<never>) {
  const podLogs = configuration?.podLogsDir
  return typeof podLogs === 'string' && podLogs !== '' ? podLogs : usualPodLogs
}

export const placedBlocks = (files: LogFiles, podLogs: string): PlacedBlock[] =>
  Object.entries(files).flatMap(([path, { blocks }]) =>
    Object.values(blocks)
      .filter(({ patterns }) => patterns.length > 0)
      .map(block => ({ path, block, podLogs })),
  )

export const patternsAt = ({ block, podLogs }: PlacedBlock, places: Place[]) =>
  block.patterns.filter(pattern => places.includes(placeOf(pattern, podLogs)))

const shown = 4
const evidenceOf = (placed: PlacedBlock[], patterns = ({ block }: PlacedBlock) => block.patterns) =>
  lines(
    ...placed
      .slice(0, shown)
      .map(one =>
        line(
          'host',
          `${one.path} ${shorten(patterns(one).join(' '), 200)}`,
          blockInWords(one.block),
        ),
      ),
    placed.length > shown &&
      line('omitted', 'not shown', plural(placed.length - shown, 'more block')),
  )

/** `/etc/logrotate.d/app (and 2 more blocks)` */
const blockNames = ([first, ...others]: PlacedBlock[]) =>
  `${first?.path ?? ''}${others.length === 0 ? '' : ` (and ${plural(others.length, 'more block')})`}`

export const idleFilesFailing = (blocks: PlacedBlock[], { unsure }: LogrotateRuns): Failing => ({
  confidence: unsure === null ? 'certain' : 'likely',
  consequence: `Nothing runs logrotate on this node, neither a timer nor cron: ${plural(blocks.length, 'block')} in its files come to nothing, and those logs grow until somebody removes them.`,
  evidence: [
    line('host', 'host logrotateRuns.by', 'null: no timer is active, and no cron job calls it'),
    ...evidenceOf(blocks),
  ],
})

/** Docker may run beside the kubelet's runtime, so its folder must be empty, too. `runtime` null: unknown, so not idle. */
function dockerOf({ host, node }: Satisfied<'host'>) {
  const runtime =
    node.status?.nodeInfo?.containerRuntimeVersion ?? (host.containerd ? 'containerd' : null)
  const seen = seenLogsOf(host)
  const isWritten = seen?.biggest.some(({ path }) => placeOf(path) === 'docker') ?? false
  const isIdle = runtime !== null && !runtime.startsWith('docker') && !isWritten
  return { runtime, isIdle, isSure: seen?.areAll === true }
}

/** Blocks whose patterns match no file, or only files that the kubelet rotates. Removing them changes no log. */
export function removableBlocks(
  subject: Satisfied<'host'>,
  all: readonly PlacedBlock[],
): PlacedBlock[] {
  const docker = dockerOf(subject)
  return all.filter(({ block, podLogs }) => {
    const places = block.patterns.map(pattern => placeOf(pattern, podLogs))
    const isTwice = places.includes('pods') && doubleRotation(subject, block) !== null
    return places.every(
      place =>
        place === 'links' ||
        place === 'nothing' ||
        (place === 'docker' ? docker.isIdle : place === 'pods' && isTwice),
    )
  })
}

/** The pattern matches a folder without writers, or only symbolic links. */
export function* unwrittenFailings(
  subject: Satisfied<'host'>,
  all: PlacedBlock[],
): Iterable<Failing | Undecided> {
  const docker = all.filter(placed => patternsAt(placed, ['docker']).length > 0)
  const { runtime, isIdle, isSure } = dockerOf(subject)
  if (docker.length > 0 && runtime === null)
    yield { unknown: 'node: its status names no container runtime' }
  else if (docker.length > 0 && isIdle)
    yield {
      confidence: isSure ? 'certain' : 'likely',
      consequence: `${blockNames(docker)} rotates Docker logs, but this node's containers run in ${shorten(runtime ?? '', 60)}, which writes none there. Its logs are below ${shorten(docker[0]?.podLogs ?? usualPodLogs, 200)}, and the kubelet rotates them at containerLogMaxSize.`,
      evidence: [
        line('node', 'container runtime', shorten(runtime ?? '', 100)),
        ...evidenceOf(docker, placed => patternsAt(placed, ['docker'])),
      ],
    }
  const links = all.filter(placed => patternsAt(placed, ['links', 'nothing']).length > 0)
  if (links.length > 0)
    yield {
      consequence: `${blockNames(links)} rotates nothing: /var/log/containers holds symbolic links, which logrotate passes over, and below ${shorten(links[0]?.podLogs ?? usualPodLogs, 200)} logs lie at NAMESPACE_POD_UID/CONTAINER/0.log and nowhere else. The kubelet rotates them.`,
      evidence: evidenceOf(links, placed => patternsAt(placed, ['links', 'nothing'])),
    }
}

export function* doubleFailings(
  subject: Satisfied<'host'>,
  twice: PlacedBlock[],
): Iterable<Failing> {
  const [first] = twice
  const found = first && doubleRotation(subject, first.block)
  if (!found) return
  const { consequence, evidence, ...rest } = found
  yield {
    ...rest,
    consequence: `${blockNames(twice)} rotates container logs. ${consequence}`,
    evidence: [...evidenceOf(twice, placed => patternsAt(placed, ['pods'])), ...evidence],
  }
}

export function* refusedFailings(blocks: PlacedBlock[]): Iterable<Failing> {
  const wrong = blocks.filter(({ block }) => refusedValues(block).length > 0)
  const [first] = wrong
  if (first)
    yield {
      consequence: `logrotate cannot read "${refusedValues(first.block).join('", "')}" in ${blockNames(wrong)} and leaves the block out: nothing rotates these logs.`,
      evidence: evidenceOf(wrong),
    }
}

export function* deletedFailings(blocks: PlacedBlock[]): Iterable<Failing> {
  const without = blocks.filter(
    ({ block }) => rotationsOf(block.settings) === 0 && refusedValues(block).length === 0,
  )
  if (without.length > 0)
    yield {
      consequence: `${blockNames(without)} keeps no old log (rotate 0, or none at all): at each rotation all lines up to then are deleted.`,
      evidence: evidenceOf(without),
    }
}

const criterionMs: Readonly<Record<string, number>> = {
  hourly: hourMs,
  daily: dayMs,
  weekly: weekMs,
}

/** The longest interval of logrotate that the block allows, in ms. A size limit needs at least daily runs. Null: any. */
function maxIntervalMs({ settings }: LogBlock): number | null {
  const [name = '', amount] = settingOf(settings, 'criterion').canonical.split(' ')
  const byTime = name === 'minutes' ? Number(amount) * minuteMs : criterionMs[name]
  const wanted = [byTime ?? NaN, limitBytes(settings) === null ? NaN : dayMs].filter(ms => ms > 0)
  return wanted.length === 0 ? null : Math.min(...wanted)
}

/** Allows for summer time and for a timer's random delay. */
const slack = 1.1

export function* lateFailings(
  blocks: PlacedBlock[],
  { by, schedule, periodMs, unclear, last, unsure }: LogrotateRuns,
): Iterable<Failing | Undecided> {
  const wanting = blocks.filter(
    ({ block }) => maxIntervalMs(block) !== null && refusedValues(block).length === 0,
  )
  if (wanting.length > 0 && periodMs === null)
    return yield {
      unknown: `host: when ${by} runs logrotate is not known${schedule === null ? '' : ` ("${schedule}")`}`,
    }
  const missed = wanting.filter(
    ({ block }) => (periodMs ?? 0) > (maxIntervalMs(block) ?? 0) * slack,
  )
  const [first] = missed
  if (!first) return
  const open = unclear ?? unsure ?? null
  if (open !== null)
    return yield { unknown: `host: not all that runs logrotate is known ("${open}")` }
  const limit = limitBytes(first.block.settings)
  const isSize = limit !== null && (periodMs ?? 0) > dayMs * slack
  yield {
    consequence: `logrotate runs every ${span(periodMs ?? 0)}, and only then it acts: ${blockNames(missed)} ${isSize ? 'gives a size, and its logs pass it by all that is written between two runs' : 'wants to rotate more often, and cannot'}.`,
    evidence: [
      line(
        'host',
        `logrotate runs by ${by}`,
        `${schedule}${last === null ? '' : `, last ${last}`}`,
      ),
      ...evidenceOf(missed),
    ],
  }
}

/* Container logs that both logrotate and the kubelet rotate: which of the two acts, and what becomes of the lines.  Sources: pkg/kubelet/logs/container_log_manager.go (processContainer, removeExcessLogs), logrotate's logrotate.c (findNeedRotating, rotateSingleLog) and config.c (defConfig). */

const isSet = (settings: Settings, name: string) => settingOf(settings, name).canonical !== ''

/** Null: the kubelet does not rotate; `invalid-log-size` reports that. */
function doubleRotation(subject: Satisfied<'host'>, { settings }: LogBlock): Failing | null {
  const { configuration } = subject
  const kubelet = configuration && logRotationOf(configuration)
  if (configuration && !kubelet) return null
  const leastBytes = leastSizeOf(settings)
  const isIdle = kubelet !== null && leastBytes !== null && leastBytes > kubelet.sizeBytes
  return {
    consequence: isIdle
      ? `The kubelet acts first: it rotates a log at ${shorten(kubelet.maxSize)}, looking every ${span(logMonitorMs(subject))}, so hardly one comes to the ${bytes(leastBytes)} that logrotate waits for.`
      : `The kubelet rotates the same logs, and neither knows of the other. ${rotationEffect(settings)}`,
    severity: !isIdle && leavesOldLog(settings) ? 'medium' : 'low',
    evidence: [
      line('configz', 'containerLogMaxSize', kubelet ? shorten(kubelet.maxSize) : 'not known'),
      line('configz', 'containerLogMaxFiles', kubelet ? String(kubelet.files) : 'not known'),
      ...debrisOf(subject),
    ],
    fix: kubelet ? kubeletLogFix(subject, settings, kubelet) : undefined,
  }
}

/** Minimum size in bytes at which logrotate touches a log. Null: only time decides. */
function leastSizeOf(settings: Settings) {
  const limit = limitBytes(settings)
  if (sizeIn(settings, 'size') !== null) return limit
  const whenDue = sizeIn(settings, 'minsize')
  return whenDue === null ? null : Math.min(whenDue, limit ?? whenDue)
}

const isCopied = (settings: Settings) => isSet(settings, 'copytruncate') || isSet(settings, 'copy')

/** The log is renamed and an empty file replaces it. The kubelet then requests no reopening. */
const leavesOldLog = (settings: Settings) => !isCopied(settings) && isSet(settings, 'create')

function rotationEffect(settings: Settings) {
  const name = isSet(settings, 'dateext') ? '0.log-DATE' : '0.log.1'
  const copies = isSet(settings, 'dateext')
    ? `The kubelet knows no ${name}: what logrotate does not remove stays until the pod is gone.`
    : `The kubelet takes ${name} for one of its own, and removes it before its older ones.`
  if (isSet(settings, 'copytruncate'))
    return `Lines written between copy and truncation are lost (copytruncate), and log readers start again. ${copies}`
  if (isSet(settings, 'copy'))
    return `Each run adds a copy of lines that the kubelet keeps already. ${copies}`
  return leavesOldLog(settings)
    ? `The container keeps writing to the renamed ${name}, and logrotate creates an empty log (create). kubectl logs shows no new lines, and the renamed file grows unrotated until the container restarts.`
    : `The container keeps writing to the renamed ${name} until the kubelet finds the log missing and has it reopened. ${copies}`
}

function debrisOf({ host }: Satisfied<'host'>) {
  const others = seenLogsOf(host)?.byOthers ?? null
  if (!others) return []
  const [first] = others.sample
  const example = first ? `, as ${shorten(first.path, 200)}` : ''
  const value =
    others.files === 0
      ? 'none'
      : `${plural(others.files, 'file')}, ${bytes(others.bytes)}${example}`
  return [line('host', 'files there that were rotated, but not by the kubelet', value)]
}

const mostFiles = 100

/** The block's size and count as kubelet settings. Undefined if the size is no whole number of MiB, or the disk has no room. */
function kubeletLogFix(subject: Satisfied<'host'>, settings: Settings, kubelet: LogRotation) {
  const sizeBytes = limitBytes(settings)
  const files = (rotationsOf(settings) ?? 0) + 1
  if (
    sizeBytes === null ||
    sizeBytes < mebibyte ||
    sizeBytes % mebibyte !== 0 ||
    files < 2 ||
    files > mostFiles
  )
    return undefined
  if (sizeBytes === kubelet.sizeBytes && files === kubelet.files) return undefined
  const { pods, summary } = subject
  const room = roomForLogs(subject)
  const hasRoom =
    pods !== null &&
    summary !== null &&
    room !== null &&
    remainingLogBytes(subject.runningLogs(), sizeBytes * files) <= room
  if (sizeBytes * files > kubelet.perContainerBytes && !hasRoom) return undefined
  return { config: { containerLogMaxSize: formatBytes(sizeBytes), containerLogMaxFiles: files } }
}
