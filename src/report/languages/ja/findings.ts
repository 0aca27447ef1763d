/** Japanese, as in `en/findings.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const findings: Catalogue['findings'] = {
  title: '検出事項',
  none: '取得できた範囲にはありません。',
  link: 'この検出事項へのリンク',
  doubts: {
    certain: null,
    likely:
      '有力: 取得できなかった情報に基づきますが、このようなノードではほぼ常にそうなっています。',
    possible: '可能性あり: 実際にそうかどうかは、取得できなかった情報によります。',
  },
  byName: nodes => `${nodes}の名前`,
  evidence: '根拠',
  whatWasRead: '取得した項目',
  value: '値',
  moreInDocument: count => `ほか ${n(count)} 件は findings.json にあります`,
  fix: '対処',
  commands: 'コマンド',
  durable: target => `新しいノードにも適用するには: ${target}`,
  rule: rule => `ルール: ${rule}`,
  more: 'その他の検出事項',
  moreInShort: 'その他の検出事項 (要約)',
  sumsCaption: '行のない検出事項 (ルール別)',
  columns: {
    severity: '重大度',
    finding: '検出事項',
    cluster: 'クラスター',
    subject: '対象',
    nodes: 'ノード',
    confidence: '確度',
    rule: 'ルール',
    findings: '件数',
    clusters: 'クラスター',
    until: '期限',
    reason: '理由',
  },
  leftOut: (count, tallied, others) =>
    `残り ${n(count)} 件 (${tallied.join('、')}) は、ページが重くなりすぎるため findings.json にのみあります。ルール別の件数:${others === 0 ? '' : ` (その他のルール ${n(others)} 件)`}`,
  tallied: (count, severity) => `${severity} ${count}`,
}

const rules: Catalogue['rules'] = {
  title: 'ここに現れたルール',
  what: '内容',
  why: '理由',
  fix: '対処',
  family: '分類',
  sources: '出典',
}

const waived: Catalogue['waived'] = {
  title: '免除',
  caption: 'ポリシーの waiver が期限まで免除する検出事項',
  none: '免除されたものはありません。',
  noReason: '理由の記載なし',
  idle: (waiver, until) =>
    `${until} までの waiver（${waiver}）に該当する検出事項はありません。不要になったか、意図した対象に一致していません。`,
  leftOut: count => `ほか ${n(count)} 件は findings.json にあります。`,
}

const remainder: Catalogue['remainder'] = {
  passed: '合格',
  outcomes: 'クラスター別の判定結果と、検出のなかったルール',
  outcomesCaption: '判定結果: ルールと対象ごとに 1 件',
  columns: {
    cluster: 'クラスター',
    pass: '合格',
    fail: '不合格',
    unknown: '不明',
    notApplicable: '対象外',
    error: 'エラー',
    rule: 'ルール',
    subject: '対象',
    nodes: 'ノード',
    node: 'ノード',
    why: '理由',
  },
  quietRules: (count, all) =>
    `${n(all)} ルール中 ${n(count)} ルールは、検出も判定不能もありませんでした${count > 0 ? ':' : '。'}`,
  noRulePassed: '合格したルールはありません。判定できる情報を取得できませんでした。',
  undecided: '判定不能',
  undecidedCaption: 'ルールが判定できなかったものとその理由 (不明は合格ではありません)',
  allDecided: 'すべてのルールが判定しました。',
  notAudited: '未監査',
  notAuditedCaption: '調べなかったものとその理由',
  nothingLeftOut: '漏れはありません。',
  clusterItself: 'クラスター自体',
  wholeCluster: 'クラスター全体',
  howRead: '取得方法',
  inputErrors: '入力のエラー',
  leftOut: count => `ほか ${n(count)} 件は findings.json にあります。`,
  snapshotTaken: 'スナップショットの時刻',
  source: '取得元',
  live: 'クラスターから直接',
  saved: '保存済みスナップショット',
  nodes: 'ノード',
  account: 'AWS アカウント',
  region: 'リージョン',
  rules: 'ルール',
  asked: (count, way, mode, rights, answered) =>
    `${n(count)} ノード、${way} (モード ${mode}、必要な権限: ${rights}): ${answered.join('、')}`,
  answered: (count, state) => `${state} ${n(count)}`,
}

export const ofFindings = { findings, rules, waived, remainder }
