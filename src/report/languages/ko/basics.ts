/** Korean, as in `en/basics.ts`. */
import type { Basics } from '#report/languages/en/basics.ts'
import { formatCount as n } from '#report/numbers.ts'

const pair = new Intl.ListFormat('ko', { type: 'conjunction' })

export const basics: Basics = {
  numbers: {
    unknown: '알 수 없음',
    durations: { d: '일', h: '시간', min: '분', s: '초', ms: '밀리초' },
    between: ' ',
  },
  cut: characters => `… (생략됨: 전체 ${characters}자)`,
  severities: { critical: '심각', high: '높음', medium: '보통', low: '낮음', info: '정보' },
  severityNames: { critical: '심각', high: '높음', medium: '보통', low: '낮음', info: '정보' },
  confidences: { certain: '확실', likely: '유력', possible: '가능' },
  coverage: { read: '읽음', partlyRead: '일부만 읽음', notRead: '읽지 못함' },
  ways: {
    proxy: 'API 서버 경유',
    ssm: 'SSM 사용',
    both: 'API 서버 경유와 SSM 사용',
    kubelet: 'kubelet 직접 조회',
  },
  targets: {
    nodeadm: 'NodeConfig (nodeadm)',
    'launch-template': 'launch template의 user data',
    bottlerocket: 'Bottlerocket 설정 (TOML user data)',
    karpenter: 'Karpenter EC2NodeClass',
    eksctl: 'eksctl ClusterConfig',
    terraform: 'Terraform',
    'auto-mode': 'EKS Auto Mode의 NodeClass',
  },
  unknown: '알 수 없음',
  notKnown: '알 수 없음',
  none: '없음',
  noReason: '기록된 사유 없음',
  nodeCount: count => `${n(count)}개 노드`,
  clusterCount: count => `${n(count)}개 클러스터`,
  findingCount: count => `${n(count)}건`,
  andMore: count => `외 ${n(count)}개`,
  list: items => items.join(', '),
  clauses: items => items.join('; '),
  all: items => pair.format(items),
  of: (subject, cluster) => `${cluster}의 ${subject}`,
  said: (what, said) => `${what}: ${said}`,
  since: day => `${day}부터`,
}
