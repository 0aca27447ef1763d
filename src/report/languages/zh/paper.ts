/** Simplified Chinese, as in `en/paper.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const of = (shown: number, all: string) => `打印版：${all}中仅 ${n(shown)} 项，其余见页面。`

const paper: Catalogue['paper'] = {
  clusters: (shown, all) => of(shown, `${n(all)} 个集群`),
  waived: (shown, all) => of(shown, `${n(all)} 项已豁免的发现`),
  unknowns: (shown, all) => of(shown, `${n(all)} 项未判定`),
  notAudited: (shown, all) => of(shown, `${n(all)} 项未审计`),
  findings: (tables, findings) =>
    `打印版：${[
      ...(tables > 0 ? [`另有 ${n(tables)} 张表可在页面展开。`] : []),
      ...(findings === null ? [] : ['依据、名称、命令及新节点的配置见页面。']),
      ...(findings !== null && findings.short > 0
        ? [`前 ${findings.whole} 项之后的 ${n(findings.short)} 项仅列摘要。`]
        : []),
      ...(findings !== null && findings.left > 0
        ? [`另有 ${n(findings.left)} 行仅在页面中。`]
        : []),
    ].join('')}`,
  thresholds: folded => `打印版：只打印已展开的表；另有 ${n(folded)} 张表可在页面展开。`,
  nodes: (groups, left) =>
    `打印版：前 ${n(groups)} 个组各打印最接近驱逐的节点；${n(left)} 个节点仅在页面中。`,
  rules: count => `打印版：${n(count)} 条规则的说明见页面。`,
}

export const ofPaper = { paper }
