/** Japanese, as in `en/thresholds.ts`. */
import type { ThresholdSource } from '#model/prediction.ts'
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const thresholds: Catalogue['thresholds'] = {
  title: '実際に適用されているしきい値',
  leadBefore:
    'イメージと kubelet の minor バージョンが同じノードを、グループごとに 1 つの表で示します。問題の多い順です。値は稼働中の kubelet のもので、ファイルしか取得できなかった場合はそのファイルから導かれるものです。赤い',
  leadNone: '「なし」',
  leadAfter:
    'は、既定値が失われた、オフにされた、または誰も設定していないために、適用されているしきい値がないことを示します。',
  noKubelet: '把握している kubelet がありません。',
  caption: (group, cluster, image) => `${cluster} の ${group} のしきい値、${image}`,
  columns: {
    signal: 'シグナル',
    value: '値',
    comesTo: '換算値',
    grace: '猶予時間',
    reclaim: '最小回収量',
    from: '設定元',
    preset: '上流の既定値',
  },
  labels: { grace: '猶予時間', reclaim: '最小回収量', from: '設定元', preset: '上流の既定値' },
  parts: { hard: 'ハード退避', soft: 'ソフト退避', imageGc: 'Image GC' },
  fields: {
    imageGCHighThresholdPercent: '上限しきい値、%',
    imageGCLowThresholdPercent: '下限しきい値、%',
    imageMinimumGCAge: '最小経過時間',
    imageMaximumGCAge: '最大経過時間',
  },
  everySignal: 'すべてのシグナル',
  everyOtherSignal: 'その他すべてのシグナル',
  moreCohorts: count => `ほか ${n(count)} コホートの名前`,
  otherImage: 'その他のイメージ',
  kubelet: minor => `kubelet ${minor}`,
  kubeletUnknown: 'kubelet のバージョン不明',
  image: (image, kubelet) => `${image}、${kubelet}`,
  defaultsOf: minor => `${minor} の既定値を使用`,
  nodesOf: (count, types) =>
    `${n(count)} ノード${types.length === 0 ? '' : `: ${types.join('、')}`}`,
  moreTypes: count => `ほか ${n(count)} インスタンスタイプ`,
  unwatched: (signals, count) =>
    `${signals.join('、')} の監視なし${count === null ? '' : ` (${n(count)} ノード)`}`,
  variants: count => `設定 ${n(count)} 種類`,
  nodesNotKnown: count => `${n(count)} ノード不明`,
  named: (count, names, more) =>
    `${n(count)} ノード (${names.join('、')}${more > 0 ? ` ほか ${n(more)}` : ''})`,
  variant: (letter, named, missing) => [`${letter}: ${named}`, ...missing].join('。'),
  evictionNotKnown: why => `退避しきい値は不明: ${why}`,
  imageGcNotKnown: why => `Image GC は不明: ${why}`,
  moreVariants: (count, named) => `表示していない設定 ${n(count)} 種類: ${named}`,
  notKnownFor: (named, why) => `${named}: 不明。${why}`,
  notKnownForOthers: (named, reasons) => `${named}: 別の理由 ${n(reasons)} 件により不明。`,
  row: (letters, count) => `${letters}: ${n(count)} ノード`,
}

const setting: Catalogue['setting'] = {
  same: '同じ',
  atOnce: '即時',
  noneWritten: value => `なし (${value})`,
  offWritten: value => `オフ (${value})`,
  onlyOn: (text, count) => `${text}、${n(count)} ノードのみ`,
  on: (text, count) => `${text} (${n(count)} ノード)`,
  more: count => `ほか ${n(count)} 件`,
  neverMet: watch => `換算値が 0 のため到達しない; ${watch}`,
  doesNotRun: 'ここでは適用されない',
  switchedOff: '設定: オフ',
  lost: by => `喪失: ${by}`,
  nobodySet: '設定なし',
  off: 'オフ',
  notSet: '未設定',
  configured: '設定済み',
  nothingWatches: '監視するものがない',
  watchNotKnown: sister => `${sister} が同じディスクを監視しているかは不明`,
  onlySoftWatches: 'ソフトしきい値のみが監視',
  sisterWatches: (sister, isCertain) =>
    `${sister} が同じディスクを監視${isCertain ? '' : ' (有力)'}`,
  notObserved: (filesystem, count) =>
    `不明${count === null ? '' : ` (${n(count)} ノード)`}: ${filesystem} が観測されず`,
  pids: range => `${range} pid`,
  inodes: range => `${range} inode`,
  noSoft: isKnownOfAll => `設定なし${isKnownOfAll ? '' : ' (把握している範囲)'}`,
  noSuchSetting: 'この kubelet にはない設定',
  neverStarts: 'image GC は開始しない: イメージは退避時にのみ削除',
  startsAbove: used => `開始: ${used} 超`,
  deletesDownTo: used => `${used} まで削除`,
  minimumAge: age => `容量確保のための削除から最初の${age}は保護`,
  noMaximumAge: 'オフ: 経過時間では削除しない',
  maximumAge: age => `${age}使用されないと削除`,
  used: (percent, bytes, unread) => {
    if (bytes === null) return `使用率 ${percent}; バイト数は不明: imagefs が観測されず`
    return `使用率 ${percent}、${bytes}${unread === 0 ? '' : `; ${n(unread)} ノードは不明: imagefs が観測されず`}`
  },
}

const sources: Record<ThresholdSource, string> = {
  'upstream default': '上流の既定値',
  'AMI default': 'AMI の既定値',
  file: 'ファイル',
  'drop-in': 'drop-in',
  flag: 'フラグ',
  configured: '設定済み',
  'no file': '設定ファイルなし',
  'earlier files': '現在のファイルではない (起動後に変更)',
  kubelet: 'kubelet 自身',
}
const losers: Record<ThresholdSource, string> = {
  'upstream default': '上流の既定値',
  'AMI default': 'AMI の evictionHard',
  file: 'ファイルの evictionHard',
  'drop-in': 'drop-in',
  flag: 'フラグ --eviction-hard',
  configured: '設定済みの evictionHard',
  'no file': '設定ファイルなし',
  'earlier files': 'ファイルにはあるが起動後に変更',
  kubelet: 'kubelet',
}

const origin: Catalogue['origin'] = {
  from: (source, path, isLikely) =>
    `${sources[source]}${path === null ? '' : ` ${path}`}${isLikely ? ' (有力)' : ''}`,
  lostBy: (source, path, isLikely) =>
    `${losers[source]}${path === null ? '' : ` ${path}`}${isLikely ? ' (有力)' : ''}`,
}

export const ofThresholds = { thresholds, setting, origin }
