/** Japanese, as in `en/summary.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const verdict: Catalogue['verdict'] = {
  headline: (severity, count, evicting) =>
    `${severity}: ${evicting > 0 ? `現在 ${n(evicting)} ノードが退避中、` : ''}検出事項 ${n(count)} 件`,
  nothingRead: '何も取得できませんでした',
  nothingFound: '取得できた範囲に検出事項はありません',
  worst: (title, subject, cluster, count) =>
    `最も重大: ${title} (${cluster} の ${subject}${count === 0 ? '' : `、${n(count)} ノード`})`,
  scope: (clusters, read, all, partly) =>
    `${n(clusters)} クラスター、${n(all)} ノード中 ${n(read)} ノード取得済み${partly > 0 ? `、${n(partly)} ノード一部取得` : ''}`,
  bySeverity: '重大度別の検出事項',
  notCovered: 'この判定に含まれないもの:',
  notAudited: (nodes, clusters) =>
    `${[nodes > 0 ? `${n(nodes)} ノード` : '', clusters > 0 ? `クラスター全体 ${n(clusters)} 件` : ''].filter(Boolean).join('と')}が未監査`,
  notWhollyRead: count => `${n(count)} クラスターを最後まで取得できず`,
  partlyRead: count => `${n(count)} ノードは一部のみ取得`,
  undecided: count => `${n(count)} 件が判定不能`,
  inputErrors: count => `入力エラー ${n(count)} 件`,
  noNode: '把握しているノードがありません。',
  complete: '漏れはありません。すべてのノードを取得し、すべてのルールが判定しました。',
  byCluster: 'クラスター別の評価と取得範囲',
  grade: '評価',
  noGrade: 'なし',
  noNodeOfCluster: '把握しているノードなし',
  coverage: (read, all, percent, partly, not) =>
    [
      `${n(all)} ノード中 ${n(read)} ノード取得済み (${percent})`,
      ...(partly > 0 ? [`一部取得 ${n(partly)}`] : []),
      ...(not > 0 ? [`未取得 ${n(not)}`] : []),
    ].join('、'),
  moreClusters: count => `ほか ${n(count)} クラスターは findings.json にあります`,
}

const news: Catalogue['news'] = {
  title: '前回の実行からの変更点',
  comparedBefore: '比較対象の実行: ',
  comparedAfter: '。',
  changed: {
    new: '新規',
    worse: '悪化',
    waiverExpired: '免除終了',
    newlySeen: '初めて確認',
    cannotTell: '判断不能',
    moved: '別のノードに移動',
    better: '改善',
    fixed: '解消',
    fixedOrGone: '解消または消失',
    gone: 'ノードとともに消失',
    waivedSince: 'その後免除',
  },
  backAgain: '再発',
  newOrWorse: '新規または悪化',
  fixedOrBetter: '解消、改善または消失',
  neither: 'その他',
  counts: {
    new: count => `新規 ${n(count)} 件`,
    worse: count => `悪化 ${n(count)} 件`,
    better: count => `改善 ${n(count)} 件`,
    ended: count => `解消または消失 ${n(count)} 件`,
    otherwise: count => `その他の変更 ${n(count)} 件`,
    cannotTell: count => `判断不能 ${n(count)} 件`,
    unchanged: count => `変化なし ${n(count)} 件`,
  },
  summary: (isChanged, counts) =>
    `${isChanged ? '検出事項' : '変化した検出事項はありません'}: ${counts.length === 0 ? '前回も今回もありません' : counts.join('、')}。`,
  withoutHistory: (newOnes, ended) =>
    `前回の実行以降: 新規 ${n(newOnes)} 件、解消または消失 ${n(ended)} 件。`,
  noEarlierRun: '以前の実行の記録がないため、新規かどうかは示していません。',
  nodes: (come, gone, notRead) =>
    `ノード: ${[
      come > 0 ? `追加 ${n(come)}` : '',
      gone > 0 ? `削除 ${n(gone)}` : '',
      notRead > 0 ? `今回最後まで取得できなかったノードまたはクラスター ${n(notRead)}` : '',
    ]
      .filter(Boolean)
      .join('、')}。`,
  moreInDiff: count => `ほか ${n(count)} 件: highwater diff ですべて確認できます。`,
  more: count => `ほか ${n(count)} 件`,
  gradesChanged: '変化した評価',
  grade: (cluster, was, is) => `${cluster}: ${was} → ${is}`,
  notInLastRun: '前回の実行になし',
  notInThisRun: '今回の実行になし',
}

const outlook: Catalogue['outlook'] = {
  title: '次に起きる問題',
  byTime: '最初の退避までの時間別のノード',
  caption: '最初に退避を始めるノードです。',
  columns: {
    node: 'ノード',
    disk: 'ディスク',
    imageGc: 'Image GC',
    pressure: 'Pressure',
    eviction: '退避',
    first: '急に埋まる場合',
    victims: '最初の退避対象',
    victimsAndChange: '最初の退避対象と変更点',
  },
  toDo: '対処:',
  change: (fields, more) => `${fields.join('、')}${more > 0 ? ` ほか ${n(more)} 件` : ''} を設定`,
  evictFirst: isAssumed => `先に退避するノード${isAssumed ? ' (仮定の増加率)' : ''}:`,
  evictFirstBrief: (title, first) =>
    `${title} ${first.map(({ when, name }) => `${when} ${name}`).join('、')}`,
  now: '現在',
  within: duration => `${duration}以内`,
  withinDays: days => `${n(days)}日以内`,
  later: '7日以内ではない',
  neverOrUnwatched: '現在の増加率では到達しない、または監視なし',
  unknownTime: '不明',
  never: '到達しない',
  in: duration => `${duration}後`,
  off: 'オフ',
  below: threshold => `${threshold} 未満`,
  disk: (used, free) => `${used} 使用、空き ${free}`,
  asSeen: within => `${within} (観測した増加率)`,
  asAssumed: within => `${within} (仮定の増加率)`,
  basis: ({ observed, due, isFirstLook }, growth, period) => {
    const burst = `${period}ごとに容量の ${growth}`
    const assumed = `ディスクが${burst} 増加すると仮定します (ポリシー assumedGrowthPercent)。`
    const seen =
      '以前の取得で見られた増加率を用います。取得と取得の間に生じて消えたものは見えないため、より速く埋まる可能性があります。'
    const order =
      '一覧と集計の順序は同じです。7日以内に到達すると観測されたノード、増加率を仮定したノード、到達しないと観測されたノードの順です。'
    const rate =
      observed === 0
        ? `増加率を観測できていないため${isFirstLook ? ' (どのノードにも起動以降の以前の取得がない)' : ''}、${assumed}`
        : observed < due
          ? `${n(observed)} ノードは${seen}それ以外は${assumed}${order}`
          : `${seen}${order}`
    return `${rate}時間は各ノードを取得した時点から、それまで何も解放されないものとして数えており、kubelet が動作を始める時点を示します。「急に埋まる場合」: ディスクが${burst} 増加するときに何が先に起きるかを示します。image GC は${period}ごとにしか確認しないため、次の確認より先に退避が起きる可能性があります。`
  },
  acts: {
    'image-gc': 'image GC が先',
    eviction: '退避が先',
    either: '退避が先の可能性',
    nobody: '何も動作しない',
  },
  noVictim: '退避できる Pod なし',
  oneOf: (count, pods) => `同順位 ${n(count)} 件のいずれか: ${pods}`,
  andThen: (first, rest) => `${first}、次に ${rest.join('、')}`,
  leftOut: count =>
    `残り ${n(count)} ノードは上の集計に含まれています。詳細は「ノード」の各グループにあります。`,
  nothing: '退避の時期がわかるノードはありません。',
}

const overview: Catalogue['overview'] = {
  title: '余裕で見た全ノード',
  lead: '各ノードを、最も近い退避しきい値までの余裕 (そのディスクまたはメモリに対する %) で示します。しきい値に近い順です。',
  shapes: '図形の意味',
  caption: '余裕で見たノードグループ (退避に近い順)',
  columns: { group: 'グループ', where: 'ノードの分布' },
  bands: {
    met: 'しきい値に到達',
    'image-gc': 'image GC の対象',
    close: '5\u00a0% 未満',
    near: '5–15\u00a0%',
    calm: '15\u00a0% 超',
    unknown: '不明',
  },
  moreGroups: count => `ほか ${n(count)} グループ`,
  described: (count, bands) => `${n(count)} ノード: ${bands}`,
}

const opportunities: Catalogue['opportunities'] = {
  title: '改善の機会',
  caption: '効果を計算できる変更 (効果の大きい順)',
  columns: { gain: '効果', change: '変更', where: '対象' },
  wholeFix: '対処の全文',
  nothing: '効果を計算できる変更はありません。',
  leftOut: count => `効果がより小さい ${n(count)} 件は省略しました。対処は各検出事項にあります。`,
  noNeedlessEviction: count => `${n(count)} ノードで未使用イメージによる退避を防止`,
  earlier: (lead, before) => `image GC が退避の${lead}前に開始 (変更前: ${before})`,
  leadBefore: duration => `${duration}前`,
  leadAfter: duration => `${duration}後`,
  leadNone: '同時',
  leadNever: '開始しない',
  usable: bytes => `ディスク ${bytes} が使用可能になる`,
  usableOn: (gained, all, percent) =>
    `${gained < all ? `${n(all)} ノード中 ${n(gained)} ノード` : `${n(all)} ノード`}、しきい値 ${percent}\u00a0% の場合`,
  set: fields => `${fields} に設定`,
}

const plan: Catalogue['plan'] = {
  title: '修復計画',
  digest: 'ダイジェスト',
  failed: why => `修復計画を作成できませんでした: ${why}`,
  beside: (never, refused, unchanged) =>
    `それ以外: 変更しないノード ${n(never)}、拒否されたノード ${n(refused)}、すでに望ましい状態のノード ${n(unchanged)}。`,
  nothing: beside => `修復計画で変更されるノードはありません。${beside}`,
  made: (nodes, waves, beside) =>
    `${n(nodes)} ノードを ${n(waves)} ウェーブで修復できます。各コホートの 1 ノードから始めます。${beside} まだ何も変更していません。どのノードに何を書き込み、その結果どうなるかは plan.json にあります。確認した人が次のコマンドで承認します:`,
}

export const summary = { verdict, news, outlook, overview, opportunities, plan }
