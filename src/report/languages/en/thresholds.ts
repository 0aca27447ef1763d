/** The thresholds that run: cohorts, their settings, and where each comes from. */
import type { ThresholdSource } from '#model/prediction.ts'
import { counted, formatCount } from '#report/numbers.ts'

const nodes = (count: number) => counted(count, 'node')

const thresholds = {
  title: 'Thresholds as they run',
  /** The word between the two is set apart. */
  leadBefore:
    'One table for the nodes of a group that share image and kubelet minor, the most troubled first. Values are those of the running kubelets, or, where only their files were read, what these come to. ',
  leadNone: 'None',
  leadAfter:
    ' in red: no threshold runs there, because a default was lost or switched off, or because nobody ever set one.',
  noKubelet: 'No kubelet is known.',
  caption: (group: string, cluster: string, image: string) =>
    `Thresholds of ${group} in ${cluster}, ${image}`,
  columns: {
    signal: 'Signal',
    value: 'Value',
    comesTo: 'Comes to',
    grace: 'Grace',
    reclaim: 'Min. reclaim',
    from: 'From',
    preset: 'Upstream default',
  },
  /** In front of a value, where a narrow screen has no columns. */
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
  defaultsOf: (minor: string) => `defaults of ${minor}`,
  nodesOf: (count: number, types: string[]) =>
    `${nodes(count)}${types.length === 0 ? '' : `: ${types.join(', ')}`}`,
  moreTypes: (count: number) => counted(count, 'more type'),
  unwatched: (signals: string[], count: number | null) =>
    `nothing watches ${signals.join(', ')}${count === null ? '' : ` on ${nodes(count)}`}`,
  variants: (count: number) => `${formatCount(count)} variants`,
  nodesNotKnown: (count: number) => `${nodes(count)} not known`,
  named: (count: number, names: string[], more: number) =>
    `${nodes(count)} (${names.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''})`,
  /** `eviction`, `imageGc`: why they are not known. */
  variant: (letter: string, named: string, eviction: string | null, imageGc: string | null) =>
    `${letter}: ${named}${eviction === null ? '' : `. ${eviction}`}${imageGc === null ? '' : `. ${imageGc}`}`,
  evictionNotKnown: (why: string) => `Eviction thresholds not known: ${why}`,
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
  'earlier files': 'not from its files, which were changed since the start',
  kubelet: 'the kubelet itself',
}
/** What removed a default, to stand after "lost". */
const removers: Record<ThresholdSource, string> = {
  'upstream default': 'by the upstream default',
  'AMI default': 'by evictionHard of the AMI',
  file: 'by evictionHard of the file',
  'drop-in': 'by the drop-in',
  flag: 'by the flag --eviction-hard',
  configured: 'by the configured evictionHard',
  'no file': 'as there is no configuration file',
  'earlier files': 'though its files have it, which were changed since the start',
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
  neverMet: (watch: string) => `comes to 0, which is never met; ${watch}`,
  doesNotRun: 'does not run here',
  switchedOff: 'configured: switched off',
  lost: (by: string) => `lost ${by}`,
  nobodySet: 'nobody set it',
  off: 'switched off',
  notSet: 'not set here',
  configured: 'configured',
  nothingWatches: 'nothing watches it',
  watchNotKnown: (sister: string) => `whether ${sister} watches the same disk is not known`,
  onlySoftWatches: 'only its soft threshold watches it',
  sisterWatches: (sister: string, isCertain: boolean) =>
    `${sister} watches the same disk${isCertain ? '' : ' (likely)'}`,
  notObserved: (filesystem: string, count: number | null) =>
    `not known${count === null ? '' : ` on ${nodes(count)}`}: ${filesystem} was not observed`,
  pids: (range: string) => `${range} pids`,
  inodes: (range: string) => `${range} inodes`,
  noSoft: (isKnownOfAll: boolean) => `nobody set one${isKnownOfAll ? '' : ', where it is known'}`,
  noSuchSetting: 'this kubelet has no such setting',
  neverStarts: 'image GC never starts: only eviction deletes images',
  startsAbove: (used: string) => `starts above ${used}`,
  deletesDownTo: (used: string) => `deletes down to ${used}`,
  minimumAge: (age: string) => `for space no image goes in its first ${age}`,
  noMaximumAge: 'off: no image is too old',
  maximumAge: (age: string) => `an image goes when unused for ${age}`,
  /** `bytes` null: of no node; `unread`: of how many it is not known. */
  used: (percent: string, bytes: string | null, unread: number) => {
    if (bytes === null) return `${percent} used; in bytes not known: imagefs was not observed`
    return `${percent} used, ${bytes}${unread === 0 ? '' : `; not known on ${nodes(unread)}: imagefs was not observed`}`
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
