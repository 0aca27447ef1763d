/** Japanese, as in `en/page.ts`. */
import type { Catalogue } from '#report/languages/en.ts'

export const ofPage: Pick<Catalogue, 'page' | 'script'> = {
  page: {
    audience: owner =>
      `${owner} の担当範囲のみです。取得範囲、判定結果、評価は各クラスターのうち担当部分のものです。`,
    title: (headline, clusters) => `${headline} (${clusters}) · highwater`,
    skip: '判定へ移動',
    snapshotBefore: 'スナップショット: ',
    snapshotAfter: '',
    sections: '目次',
    contents: {
      news: '変更点',
      outlook: '次に起きる問題',
      fleet: '全ノード',
      trends: '推移',
      opportunities: '改善の機会',
      findings: '検出事項',
      plan: '計画',
      thresholds: 'しきい値',
      nodes: 'ノード',
      garbage: 'クラスターの残骸',
      waived: '免除',
      passed: '合格',
      undecided: '判定不能',
      notAudited: '未監査',
      howRead: '取得方法',
    },
  },
  script: {
    copy: 'コピー',
    copied: 'コピーしました',
    filterFindings: '検出事項の絞り込み',
    filterNodes: 'ノードの絞り込み',
    clear: 'クリア',
    search: '検索',
    searchNodes: 'ノード、グループ、状態を検索',
    severity: '重大度',
    cluster: 'クラスター',
    family: '分類',
    order: '並び順',
    any: 'すべて',
    worstFirst: '重大な順',
    orders: { nodes: 'ノード数', newest: '新しい順', cluster: 'クラスター' },
    shown: '全 {all} 件中 {shown} 件を表示',
    nodesShown: 'このページの {all} ノード中 {shown} ノードを表示',
  },
}
