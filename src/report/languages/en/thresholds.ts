/** Texts of the running thresholds: cohorts, their settings, and the origin of each setting. */
import type { ThresholdSource } from '#model/prediction/prediction.ts'
import { counted, formatCount } from '#report/numbers.ts'
import { nodes } from './counts.ts'

const thresholds = {
  title: 'Thresholds as they run',
  /** `leadNone` stands between the other two texts and is highlighted. */
  leadBefore:
    'One table for the nodes of a group with the same image and kubelet minor, worst first. Values are those of the running kubelets, or follow from their files if only those were read. ',
  leadNone: 'None',
  leadAfter:
    ' in red: no threshold is active, because a default was lost, switched off or never set.',
  noKubelet: 'No kubelet was read.',
  caption: (group: string, cluster: string, image: string) =>
    `Thresholds of ${group} in ${cluster}, ${image}`,
  columns: {
    signal: 'Signal',
    value: 'Value',
    comesTo: 'Equals',
    grace: 'Grace',
    reclaim: 'Min. reclaim',
    from: 'From',
    preset: 'Upstream default',
  },
  /** Before a value on narrow screens, which have no columns. */
  labels: { grace: 'grace', reclaim: 'min. reclaim', from: 'from', preset: 'upstream default' },
  parts: { hard: 'Hard eviction', soft: 'Soft eviction', imageGc: 'Image GC' },
  fields: {
    imageGCHighThresholdPercent: 'high threshold, %',
    imageGCLowThresholdPercent: 'low threshold, %',
    imageMinimumGCAge: 'minimum age',
    imageMaximumGCAge: 'maximum age',
  },
  everySignal: 'every signal',
  everyOtherSignal: 'every other signal',
  moreCohorts: (count: number) => `and ${counted(count, 'more cohort')}, by name`,
  otherImage: 'another image',
  kubelet: (minor: string) => `kubelet ${minor}`,
  kubeletUnknown: 'kubelet of unknown version',
  image: (image: string, kubelet: string) => `${image}, ${kubelet}`,
  nodesOf: (count: number, types: string[]) =>
    `${nodes(count)}${types.length === 0 ? '' : `: ${types.join(', ')}`}`,
  moreTypes: (count: number) => counted(count, 'more type'),
  unwatched: (signals: string[], count: number | null) =>
    `nothing watches ${signals.join(', ')}${count === null ? '' : ` on ${nodes(count)}`}`,
  variants: (count: number) => `${formatCount(count)} variants`,
  nodesNotKnown: (count: number) => `${nodes(count)} unknown`,
  named: (count: number, names: string[], more: number) =>
    `${nodes(count)} (${names.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''})`,
  /** `eviction`, `imageGc`: why these settings are unknown; null: known. */
  variant: (letter: string, named: string, eviction: string | null, imageGc: string | null) =>
    `${letter}: ${named}${eviction === null ? '' : `. ${eviction}`}${imageGc === null ? '' : `. ${imageGc}`}`,
  evictionNotKnown: (why: string) => `Eviction thresholds unknown: ${why}`,
  imageGcNotKnown: (why: string) => `Image GC not known: ${why}`,
  moreVariants: (count: number, named: string) =>
    `${counted(count, 'more variant')}, not shown: ${named}`,
  notKnownFor: (named: string, why: string) => `${named}: not known. ${why}`,
  notKnownForOthers: (named: string, reasons: number) =>
    `${named}: not known, for ${counted(reasons, 'other reason')}.`,
  row: (letters: string, count: number) => `${letters}: ${nodes(count)}`,
}

const sources: Record<ThresholdSource, string> = {
  'upstream default': 'upstream default',
  'AMI default': 'AMI default',
  file: 'file',
  'drop-in': 'drop-in',
  flag: 'flag',
  configured: 'configured',
  'no file': 'no configuration file',
  'earlier files': 'unknown: its files changed since the start',
  kubelet: 'the kubelet itself',
}
/** Texts that follow "lost": what removed a default. */
const removers: Record<ThresholdSource, string> = {
  'upstream default': 'by the upstream default',
  'AMI default': 'by evictionHard of the AMI',
  file: 'by evictionHard of the file',
  'drop-in': 'by the drop-in',
  flag: 'by the flag --eviction-hard',
  configured: 'by the configured evictionHard',
  'no file': 'because there is no configuration file',
  'earlier files': 'although its files have it; they changed since the start',
  kubelet: 'by the kubelet',
}

const setting = {
  same: 'same',
  atOnce: 'at\u00a0once',
  noneWritten: (value: string) => `none (${value})`,
  offWritten: (value: string) => `off (${value})`,
  onlyOn: (text: string, count: number) => `${text}, on ${nodes(count)} only`,
  on: (text: string, count: number) => `${text} on ${nodes(count)}`,
  more: (count: number) => `${formatCount(count)} more`,
  neverMet: (watch: string) => `equals 0, which is never met; ${watch}`,
  doesNotRun: 'not active here',
  switchedOff: 'configured: switched off',
  lost: (by: string) => `lost ${by}`,
  unset: 'not set',
  off: 'switched off',
  notSet: 'not set here',
  configured: 'configured',
  nothingWatches: 'nothing watches it',
  watchNotKnown: (sister: string) => `unknown whether ${sister} watches the same disk`,
  onlySoftWatches: 'only its soft threshold watches it',
  sisterWatches: (sister: string, isCertain: boolean) =>
    `${sister} watches the same disk${isCertain ? '' : ' (likely)'}`,
  notObserved: (filesystem: string, count: number | null) =>
    `unknown${count === null ? '' : ` on ${nodes(count)}`}: ${filesystem} was not observed`,
  pids: (range: string) => `${range} pids`,
  inodes: (range: string) => `${range} inodes`,
  noSoft: (isKnownOfAll: boolean) => `none set${isKnownOfAll ? '' : ', as far as known'}`,
  noSuchSetting: 'this kubelet has no such setting',
  neverStarts: 'image GC never starts: only eviction deletes images',
  startsAbove: (used: string) => `starts above ${used}`,
  deletesDownTo: (used: string) => `deletes down to ${used}`,
  minimumAge: (age: string) => `images younger than ${age} are not deleted for space`,
  noMaximumAge: 'off: no image is deleted by age',
  maximumAge: (age: string) => `images unused for ${age} are deleted`,
  /** `bytes` null: unknown on every node; `unread`: number of nodes with unknown bytes. */
  used: (percent: string, bytes: string | null, unread: number) => {
    if (bytes === null) return `${percent} used; bytes unknown: imagefs was not observed`
    return `${percent} used, ${bytes}${unread === 0 ? '' : `; unknown on ${nodes(unread)}: imagefs was not observed`}`
  },
}

const origin = {
  sources,
  removers,
  /** `source`: one of `sources`. */
  from: (source: string, path: string | null, isLikely: boolean) =>
    `${isLikely ? 'likely ' : ''}${source}${path === null ? '' : ` ${path}`}`,
  /** `remover`: one of `removers`. */
  lostBy: (remover: string, path: string | null, isLikely: boolean) =>
    `${remover}${path === null ? '' : ` ${path}`}${isLikely ? ' (likely)' : ''}`,
}

export const ofThresholds = { thresholds, setting, origin }
