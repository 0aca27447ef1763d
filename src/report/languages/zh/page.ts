/** Simplified Chinese, as in `en/page.ts`. */
import type { Catalogue } from '#report/languages/en.ts'

export const ofPage: Pick<Catalogue, 'page' | 'script'> = {
  page: {
    audience: owner =>
      `仅含 ${owner} 负责的部分。读取范围、判定结果和评级均针对各集群中其负责的部分。`,
    title: (headline, clusters) => `${headline}（${clusters}）· highwater`,
    skip: '跳到结论',
    snapshotBefore: '快照：',
    snapshotAfter: '',
    sections: '目录',
    contents: {
      news: '变化',
      outlook: '即将发生的问题',
      fleet: '全部节点',
      trends: '趋势',
      opportunities: '改进机会',
      findings: '发现项',
      plan: '计划',
      thresholds: '阈值',
      nodes: '节点',
      garbage: '集群垃圾',
      waived: '已豁免',
      passed: '已通过',
      undecided: '未判定',
      notAudited: '未审计',
      howRead: '读取方式',
    },
  },
  script: {
    copy: '复制',
    copied: '已复制',
    filterFindings: '筛选发现项',
    filterNodes: '筛选节点',
    clear: '清除',
    search: '搜索',
    searchNodes: '搜索节点、组、状态',
    severity: '严重程度',
    cluster: '集群',
    family: '类别',
    order: '排序',
    any: '全部',
    worstFirst: '最严重优先',
    orders: { nodes: '节点数', newest: '最新优先', cluster: '集群' },
    shown: '共 {all} 项，显示 {shown} 项',
    nodesShown: '本页共 {all} 个节点，显示 {shown} 个',
  },
}
