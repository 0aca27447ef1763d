/** Simplified Chinese, as in `en/findings.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const findings: Catalogue['findings'] = {
  title: '发现项',
  none: '已读取的范围内没有。',
  link: '该发现项的链接',
  doubts: {
    certain: null,
    likely: '很可能：依据的是未能读取的信息，但这类节点几乎都是如此。',
    possible: '可能：是否如此取决于未能读取的信息。',
  },
  byName: nodes => `${nodes}的名称`,
  evidence: '依据',
  whatWasRead: '读取项',
  value: '值',
  moreInDocument: count => `另外 ${n(count)} 项见 findings.json`,
  fix: '修复方法',
  commands: '命令',
  durable: target => `使新节点同样生效：${target}`,
  rule: rule => `规则：${rule}`,
  more: '更多发现项',
  moreInShort: '更多发现项（简表）',
  sumsCaption: '未单独列出的发现项，按规则统计',
  columns: {
    severity: '严重程度',
    finding: '发现项',
    cluster: '集群',
    subject: '对象',
    nodes: '节点',
    confidence: '可信度',
    rule: '规则',
    findings: '发现项',
    clusters: '集群',
    until: '截止',
    reason: '原因',
  },
  leftOut: (count, tallied, others) =>
    `其余 ${n(count)} 项（${tallied.join('，')}）会使页面过重，仅保存在 findings.json 中。按规则统计：${others === 0 ? '' : `（另有其他规则 ${n(others)} 项）`}`,
  tallied: (count, severity) => `${severity} ${count} 项`,
}

const rules: Catalogue['rules'] = {
  title: '涉及的规则',
  what: '内容',
  why: '原因',
  fix: '修复方法',
  family: '类别',
  sources: '出处',
}

const waived: Catalogue['waived'] = {
  title: '已豁免',
  caption: '策略中的 waiver 在截止日前豁免的发现项',
  none: '没有豁免项。',
  noReason: '未注明原因',
  idle: (waiver, until) =>
    `截止 ${until} 的 waiver（${waiver}）未匹配任何发现项：可以删除，或者其匹配条件有误。`,
  leftOut: count => `另外 ${n(count)} 项见 findings.json。`,
}

const remainder: Catalogue['remainder'] = {
  passed: '已通过',
  outcomes: '各集群的判定结果，以及没有发现的规则',
  outcomesCaption: '判定结果：每条规则和每个对象一项',
  columns: {
    cluster: '集群',
    pass: '通过',
    fail: '未通过',
    unknown: '未知',
    notApplicable: '不适用',
    error: '错误',
    rule: '规则',
    subject: '对象',
    nodes: '节点',
    node: '节点',
    why: '原因',
  },
  quietRules: (count, all) =>
    `${n(all)} 条规则中有 ${n(count)} 条既无发现也无未判定项${count > 0 ? '：' : '。'}`,
  noRulePassed: '没有任何规则通过：未读取到可供判定的内容。',
  undecided: '未判定',
  undecidedCaption: '规则未能判定的内容及原因：未知不等于通过',
  allDecided: '所有规则均已判定。',
  notAudited: '未审计',
  notAuditedCaption: '未检查的内容及原因',
  nothingLeftOut: '没有遗漏。',
  clusterItself: '集群本身',
  wholeCluster: '整个集群',
  howRead: '读取方式',
  inputErrors: '输入错误',
  leftOut: count => `另外 ${n(count)} 项见 findings.json。`,
  snapshotTaken: '快照时间',
  source: '来源',
  live: '直接读取集群',
  saved: '已保存的快照',
  nodes: '节点',
  account: 'AWS 账户',
  region: '区域',
  rules: '规则',
  asked: (count, way, mode, rights, answered) =>
    `${n(count)} 个节点，${way}（模式 ${mode}，所需权限：${rights}）：${answered.join('，')}`,
  answered: (count, state) => `${state} ${n(count)} 个`,
}

export const ofFindings = { findings, rules, waived, remainder }
