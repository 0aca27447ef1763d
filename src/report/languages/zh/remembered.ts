/** Simplified Chinese, as in `en/remembered.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const growth: Catalogue['growth'] = {
  unseen: {
    first: () => '启动以来没有更早的读取',
    few: count => `目前仅 ${n(count)} 次读取`,
    near: () => '各次读取间隔太近',
    emptier: count => `${n(count)} 次读取中大多在减少`,
  },
  seen: (rate, seen) => `增长 ${rate}，${seen}`,
  assumed: why => `假定增长${why === null ? '' : `：${why}`}`,
  note: (disk, rate, seen) => `${disk} 增长约 ${rate}：${seen}。`,
  readings: (count, duration, falls) =>
    `${duration}内读取 ${n(count)} 次${falls === 0 ? '' : `，其间减少 ${falls} 次`}`,
  rate: (bytes, isHourly, range) =>
    `每${isHourly ? '小时' : '天'} ${bytes}${range === null ? '' : `（${range}）`}`,
  notWithin: duration => `${duration}内不会达到`,
  fastest: duration => `按观测到的最快速度 ${duration}`,
  about: duration => `约 ${duration}后`,
  fromTo: (from, to) => `${from}至${to}`,
  orLater: from => `${from}或更晚`,
}

const trends: Catalogue['trends'] = {
  title: '趋势',
  clustersCaption: '集群。浅色线为“严重”和“高”的发现项',
  groups: '按组查看，使用率最高的在前',
  groupsOverTime: '各节点组的趋势',
  groupsCaption: '接近：待 image GC，或距启动不足 5 个百分点。浅色线为该组磁盘的中位数',
  columns: {
    cluster: '集群',
    group: '组',
    grade: '评级',
    findings: '发现项',
    near: '接近 image GC 的节点',
    used: '使用率最高的镜像磁盘',
  },
  lead: (days, first, last) =>
    `${first} 至 ${last} 共 ${n(days)} 天，取每天的最后一次运行。断线处无法得知。`,
  allClusters: '全部集群',
  moreClusters: count => `另外 ${n(count)} 个集群：可用 highwater history 查看。`,
  moreGroups: count => `另外 ${n(count)} 个组：可用 highwater history 查看。`,
  about: (cluster, known, nodes) =>
    `${cluster}，${known < nodes ? `${n(nodes)} 个节点中已知 ${n(known)} 个` : `${n(nodes)} 个节点`}`,
  nearImageGc: '接近 image GC',
  atFirst: (now, first) => `${now}（最初 ${first}）`,
  noGrade: '无',
  gradeUntil: (grade, day) => `${day} 之前为 ${grade}`,
  median: percent => `中位数 ${percent}`,
  described: (what, { first, least, most, now }) =>
    `每日${what}：最初 ${first}，最低 ${least}，最高 ${most}，当前 ${now}`,
}

const week: Catalogue['week'] = {
  in: (days, parts) => `最近 ${n(days)} 天：${parts.join('；')}。`,
  findings: (change, urgent) =>
    `发现项 ${change}${urgent.length === 0 ? '' : `（${urgent.join('，')}）`}`,
  severity: (severity, change) => `${severity} ${change}`,
  near: change => `接近 image GC 的节点 ${change}`,
  used: change => `使用率最高的镜像磁盘 ${change}`,
  grades: (grades, more) => `评级 ${grades.join('，')}${more > 0 ? ` 等另外 ${n(more)} 项` : ''}`,
  asBefore: value => `${value}（未变）`,
  fromTo: (then, is) => `${then} → ${is}`,
}

const returned: Catalogue['returned'] = {
  endings: {
    fixed: '已修复',
    replaced: '由新节点修复',
    gone: '随节点消失',
    moved: '转由另一项发现说明',
  },
  told: (ending, on, since) => `${on} ${ending}，此前自 ${since} 起存在`,
}

export const remembered = { growth, trends, week, returned }
