/** Simplified Chinese, as in `en/basics.ts`. */
import type { Basics } from '#report/languages/en/basics.ts'
import { formatCount as n } from '#report/numbers.ts'

const pair = new Intl.ListFormat('zh-Hans', { type: 'conjunction' })

export const basics: Basics = {
  numbers: {
    unknown: '未知',
    durations: { d: '天', h: '小时', min: '分钟', s: '秒', ms: '毫秒' },
    between: '',
  },
  cut: characters => `…（已截断，共 ${characters} 个字符）`,
  severities: { critical: '严重', high: '高', medium: '中', low: '低', info: '提示' },
  severityNames: { critical: '严重', high: '高', medium: '中', low: '低', info: '提示' },
  confidences: { certain: '确定', likely: '很可能', possible: '可能' },
  coverage: { read: '已读取', partlyRead: '部分读取', notRead: '未读取' },
  ways: {
    proxy: '经 API 服务器',
    ssm: '经 SSM',
    both: '经 API 服务器和 SSM',
    kubelet: '直接访问 kubelet',
  },
  targets: {
    nodeadm: 'NodeConfig (nodeadm)',
    'launch-template': 'launch template 的 user data',
    bottlerocket: 'Bottlerocket 设置 (TOML user data)',
    karpenter: 'Karpenter EC2NodeClass',
    eksctl: 'eksctl ClusterConfig',
    terraform: 'Terraform',
    'auto-mode': 'EKS Auto Mode 的 NodeClass',
  },
  unknown: '未知',
  notKnown: '未知',
  none: '无',
  noReason: '未记录原因',
  nodeCount: count => `${n(count)} 个节点`,
  clusterCount: count => `${n(count)} 个集群`,
  findingCount: count => `${n(count)} 项`,
  andMore: count => `等另外 ${n(count)} 个`,
  list: items => items.join('，'),
  clauses: items => items.join('；'),
  all: items => pair.format(items),
  of: (subject, cluster) => `${cluster} 的 ${subject}`,
  said: (what, said) => `${what}：${said}`,
  since: day => `自 ${day} 起`,
}
