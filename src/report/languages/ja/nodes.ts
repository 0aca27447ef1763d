/** Japanese, as in `en/nodes.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const gauge: Catalogue['gauge'] = {
  oneDisk: 'nodefs = imagefs (同一ディスク)',
  inodesOf: disk => `${disk} の inode`,
  memory: 'メモリ',
  notObserved: '不明: 観測されず',
  bytes: (used, all, free) => `${all} 中 ${used} 使用、空き ${free}`,
  inodes: (used, all, free) => `inode ${all} 中 ${used} 使用、空き ${free}`,
  inodeCount: count => `inode ${n(count)} 個`,
  marks: {
    'gc-start': 'image GC 開始',
    'gc-stop': 'image GC 終了',
    alert: '設定済みアラート',
    soft: 'ソフト退避',
    hard: 'ハード退避',
  },
  softFor: (threshold, grace) => `${threshold} が${grace}継続`,
  thresholdsUnknown: '退避しきい値: 不明。',
  settingsDoNotParse: why => `退避の設定を解釈できません: ${why}`,
  bytesUnwatched: 'このファイルシステムのバイト数を監視する退避しきい値がありません。',
  memoryUnwatched: 'このノードのメモリを監視する退避しきい値がありません。',
  imageGcUnknown: 'Image GC: 不明。',
  imageGcOff: high =>
    `ディスク使用率による image GC はオフです (imageGCHighThresholdPercent ${high})。`,
  imageGcFails: why => `Image GC が失敗: ${why}`,
  dueUnknown: 'Image GC の対象かどうか: 不明。',
  dueNow: toFree => `現在 image GC の対象です。${toFree} の解放が必要です。`,
  untilImageGc: bytes => `あと ${bytes} で image GC が始まります。`,
  threshold: (mark, setting) => `${mark} (${setting})`,
  farUnknown: (threshold, filesystem) =>
    `${threshold}までの残り: 不明 (${filesystem} が観測されず)。`,
  met: (threshold, below) => `到達: ${threshold}、${below} 不足。`,
  until: (threshold, amount) => `${threshold}まで残り ${amount}。`,
  nowUnknown: '現在の使用率は不明です。',
  now: (used, summary) => `現在 ${used} 使用、${summary}。`,
  markAt: (mark, percent, setting) => `${mark} ${percent} (${setting})`,
  marksAre: marks => `目印: ${marks.join('; ')}。`,
  noMarks: '目印なし。',
}

const node: Catalogue['node'] = {
  states: { calm: '', 'image-gc': 'image GC の対象', pressure: '退避しきい値に到達' },
  used: percent => `${percent} 使用`,
  link: 'このノードへのリンク',
  ready: { True: 'Ready', False: 'Ready でない', Unknown: 'Ready 不明' },
  readinessUnknown: 'Ready かどうか不明',
  asked: way => way,
  more: 'その他',
  moreReasons: count => `残り ${count} 件の理由はスナップショットにあります。`,
  disk: 'ディスク',
  nothingObserved: 'ファイルシステムが観測されておらず、理由の記録もありません。',
  onDisk:
    'しきい値はディスク上のファイルまたは設定から取得したものです。その後 kubelet が再起動されたかどうかは不明です。',
  layoutUnknown: 'nodefs と imagefs が同一ディスクかどうかは不明です。',
  layout: {
    shared: certainty =>
      `nodefs と imagefs が同一ディスクであるという判断の確度: ${certainty}。API はデバイス名を示しません。`,
    imagefs: certainty =>
      `imagefs が独立したディスクであるという判断の確度: ${certainty}。API はデバイス名を示しません。`,
    split: certainty =>
      `イメージが独立したディスクに、コンテナが nodefs にあるという判断の確度: ${certainty}。API はデバイス名を示しません。`,
  },
  notCertain: '不確実',
}

const distribution: Catalogue['distribution'] = {
  title: disk => `${disk}: ノードの分布`,
  spread: (count, lowest, median, ninetieth, highest) =>
    `${n(count)} ノード: 使用率の最小 ${lowest}、中央値 ${median}、90 パーセンタイル ${ninetieth}、最大 ${highest}。`,
  unknown: count => `${n(count)} ノード: 不明。`,
  marksOf: (count, others) =>
    `目印は ${n(count)} ノードの値であり、残り ${n(others)} ノードの値ではありません。`,
}

const fleet: Catalogue['fleet'] = {
  title: 'ノードと high-water mark',
  noNode: '把握しているノードがありません。',
  legend: '図の見方',
  whereNow: '現在の位置',
  keptFree: 'ハード退避が空けておく領域',
  withoutGroup: 'グループのないノード',
  fargate: 'Fargate ノード',
  nearest: count => `退避に最も近い ${n(count)} ノード`,
  about: (cluster, count, coverage) => `${cluster}、${count}: ${coverage}`,
  coverage: (count, state) => `${state} ${n(count)}`,
  asTable: (count, isRest) => `このグループの${isRest ? '残り ' : ' '}${n(count)} ノード (表)`,
  restAsTable: count => `これらのグループの ${n(count)} ノード (表)`,
  caption: group =>
    `${group}: 各ディスクの使用率と、最も近い退避しきい値までの余裕 (容量に対する %)`,
  columns: {
    node: 'ノード',
    coverage: '取得',
    imageDisk: 'イメージ用ディスク',
    nodefs: 'nodefs (別の場合)',
    memory: 'メモリ',
    headroom: '余裕',
    now: '現在の状態',
  },
  notDrawn: count =>
    `${n(count)} ノードは図を省略しました。ページを軽く保つため、大きなグループでは退避に最も近いノードだけを図示し、残りは表に示します。`,
  notListed: count =>
    `${n(count)} ノードは、ページを軽く保つために図も表も省略しました。スナップショットにはすべてのノードがあります。`,
}

export const ofNodes = { gauge, node, distribution, fleet }
