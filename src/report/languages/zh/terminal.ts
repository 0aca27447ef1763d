/** Simplified Chinese, as in `en/terminal.ts`. */
import type { Catalogue } from '#report/languages/en.ts'

export const ofTerminal: Pick<Catalogue, 'terminal'> = {
  terminal: {
    columns: { cluster: '集群', grade: '评级', read: '已读节点', findings: '发现项' },
    partly: (read, count) => `${read}，部分 ${count}`,
    since: counts => `自上次运行以来：${counts.join('，')}`,
    changedFinding: (severity, title, where) => `${severity}：${title}（${where}）`,
    nothingFound: '无发现',
    tallied: (count, severity) => `${severity} ${count}`,
    moreFindings: count => `… 其余 ${count} 项见报告。`,
    noFindings: '没有发现项。',
    input: message => `输入 ${message}`,
    ruleFailed: (rule, node, message) =>
      `规则 ${rule} 在 ${node} 上执行失败：${message}。这是 highwater 的缺陷，请反馈`,
    nodes: (count, names) => `${count} 个节点，${names.join('，')}，…`,
    notAudited: count => `未审计（${count}）：`,
    cluster: name => `集群 ${name}`,
    node: (cluster, node) => `${cluster}，节点 ${node}`,
    moreNotAudited: count => `… 其余 ${count} 项见报告`,
    report: '报告：',
    snapshot: '快照：',
  },
}
