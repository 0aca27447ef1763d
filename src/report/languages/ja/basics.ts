/** Japanese, as in `en/basics.ts`. */
import type { Basics } from '#report/languages/en/basics.ts'
import { formatCount as n } from '#report/numbers.ts'

const pair = new Intl.ListFormat('ja', { type: 'conjunction' })

export const basics: Basics = {
  numbers: {
    unknown: '不明',
    durations: { d: '日', h: '時間', min: '分', s: '秒', ms: 'ミリ秒' },
    between: '',
  },
  cut: characters => `…(省略: 全 ${characters} 文字)`,
  severities: { critical: '致命的', high: '高', medium: '中', low: '低', info: '情報' },
  severityNames: { critical: '致命的', high: '高', medium: '中', low: '低', info: '情報' },
  confidences: { certain: '確実', likely: '有力', possible: '可能性あり' },
  coverage: { read: '取得済み', partlyRead: '一部取得', notRead: '未取得' },
  ways: {
    proxy: 'API サーバー経由',
    ssm: 'SSM 経由',
    both: 'API サーバー経由と SSM 経由',
    kubelet: 'kubelet に直接',
  },
  targets: {
    nodeadm: 'NodeConfig (nodeadm)',
    'launch-template': 'launch template の user data',
    bottlerocket: 'Bottlerocket の設定 (TOML user data)',
    karpenter: 'Karpenter EC2NodeClass',
    eksctl: 'eksctl ClusterConfig',
    terraform: 'Terraform',
    'auto-mode': 'EKS Auto Mode の NodeClass',
  },
  unknown: '不明',
  notKnown: '不明',
  none: 'なし',
  noReason: '理由の記録なし',
  nodeCount: count => `${n(count)} ノード`,
  clusterCount: count => `${n(count)} クラスター`,
  findingCount: count => `${n(count)} 件`,
  andMore: count => `ほか ${n(count)} 件`,
  list: items => items.join('、'),
  clauses: items => items.join('; '),
  all: items => pair.format(items),
  of: (subject, cluster) => `${cluster} の ${subject}`,
  said: (what, said) => `${what}: ${said}`,
  since: day => `${day} から`,
}
