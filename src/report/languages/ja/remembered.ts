/** Japanese, as in `en/remembered.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const growth: Catalogue['growth'] = {
  unseen: {
    first: () => '起動以降、前回の取得なし',
    few: count => `取得はまだ ${n(count)} 回のみ`,
    near: () => '取得の間隔が近すぎる',
    emptier: count => `${n(count)} 回の取得でおおむね減少`,
  },
  seen: (rate, seen) => `増加率 ${rate}、${seen}`,
  assumed: why => `仮定の増加率${why === null ? '' : `: ${why}`}`,
  note: (disk, rate, seen) => `${disk} の増加率は約 ${rate}: ${seen}。`,
  readings: (count, duration, falls) =>
    `${duration}間に ${n(count)} 回取得${falls === 0 ? '' : `、途中 ${falls} 回減少`}`,
  rate: (bytes, isHourly, range) =>
    `${isHourly ? '1 時間' : '1 日'}あたり ${bytes}${range === null ? '' : ` (${range})`}`,
  notWithin: duration => `${duration}以内には到達しない`,
  fastest: duration => `観測された最速で${duration}`,
  about: duration => `約${duration}後`,
  fromTo: (from, to) => `${from}～${to}`,
  orLater: from => `${from}以降`,
}

const trends: Catalogue['trends'] = {
  title: '推移',
  clustersCaption: 'クラスター。薄い線は致命的と高の検出事項です',
  groups: 'グループ別 (使用率の高い順)',
  groupsOverTime: 'ノードグループの推移',
  groupsCaption:
    '接近: image GC の対象、または開始まで 5 ポイント未満。薄い線はグループのディスクの中央値です',
  columns: {
    cluster: 'クラスター',
    group: 'グループ',
    grade: '評価',
    findings: '検出事項',
    near: 'image GC に近いノード',
    used: '最も使用率の高いイメージ用ディスク',
  },
  lead: (days, first, last) =>
    `${first} から ${last} までの ${n(days)} 日間、各日の最後の実行です。線が途切れた箇所は不明です。`,
  allClusters: '全クラスター',
  moreClusters: count => `ほか ${n(count)} クラスター: highwater history で確認できます。`,
  moreGroups: count => `ほか ${n(count)} グループ: highwater history で確認できます。`,
  about: (cluster, known, nodes) =>
    `${cluster}、${known < nodes ? `${n(nodes)} ノード中 ${n(known)} ノード把握` : `${n(nodes)} ノード`}`,
  nearImageGc: 'image GC に近い',
  atFirst: (now, first) => `${now} (最初 ${first})`,
  noGrade: 'なし',
  gradeUntil: (grade, day) => `${day} まで ${grade}`,
  median: percent => `中央値 ${percent}`,
  described: (what, { first, least, most, now }) =>
    `日別の${what}: 最初 ${first}、最小 ${least}、最大 ${most}、現在 ${now}`,
}

const week: Catalogue['week'] = {
  in: (days, parts) => `直近 ${n(days)} 日間: ${parts.join('; ')}。`,
  findings: (change, urgent) =>
    `検出事項 ${change}${urgent.length === 0 ? '' : ` (${urgent.join('、')})`}`,
  severity: (severity, change) => `${severity} ${change}`,
  near: change => `image GC に近いノード ${change}`,
  used: change => `最も使用率の高いイメージ用ディスク ${change}`,
  grades: (grades, more) => `評価 ${grades.join('、')}${more > 0 ? ` ほか ${n(more)} 件` : ''}`,
  asBefore: value => `${value} (変化なし)`,
  fromTo: (then, is) => `${then} → ${is}`,
}

const returned: Catalogue['returned'] = {
  endings: {
    fixed: '解消',
    replaced: '新しいノードで解消',
    gone: 'ノードとともに消失',
    moved: '別の検出事項に移行',
  },
  told: (ending, on, since) => `${on} に${ending}、それ以前は ${since} から存在`,
}

export const remembered = { growth, trends, week, returned }
