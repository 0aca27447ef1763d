/** Japanese, as in `en/terminal.ts`. */
import type { Catalogue } from '#report/languages/en.ts'

export const ofTerminal: Pick<Catalogue, 'terminal'> = {
  terminal: {
    columns: { cluster: 'クラスター', grade: '評価', read: '取得ノード', findings: '検出事項' },
    partly: (read, count) => `${read}、一部 ${count}`,
    since: counts => `前回の実行以降: ${counts.join('、')}`,
    changedFinding: (severity, title, where) => `${severity}: ${title} (${where})`,
    nothingFound: '検出なし',
    tallied: (count, severity) => `${severity} ${count}`,
    moreFindings: count => `… 残り ${count} 件はレポートにあります。`,
    noFindings: '検出事項はありません。',
    input: message => `入力 ${message}`,
    ruleFailed: (rule, node, message) =>
      `${node} でルール ${rule} が失敗: ${message}。highwater の不具合です。報告してください`,
    nodes: (count, names) => `${count} ノード、${names.join('、')}、…`,
    notAudited: count => `未監査 (${count}):`,
    cluster: name => `クラスター ${name}`,
    node: (cluster, node) => `${cluster}、ノード ${node}`,
    moreNotAudited: count => `… 残り ${count} 件はレポートにあります`,
    report: 'レポート:',
    snapshot: 'スナップショット:',
  },
}
