/** Simplified Chinese, as in `en/summary.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const verdict: Catalogue['verdict'] = {
  headline: (severity, count, evicting) =>
    `${severity}：${evicting > 0 ? `${n(evicting)} 个节点正在驱逐，` : ''}${n(count)} 项发现`,
  nothingRead: '未能读取任何内容',
  nothingFound: '已读取的范围内没有发现项',
  worst: (title, subject, cluster, count) =>
    `最严重：${title}（${cluster} 的 ${subject}${count === 0 ? '' : `，${n(count)} 个节点`}）`,
  scope: (clusters, read, all, partly) =>
    `${n(clusters)} 个集群，${n(all)} 个节点中已读取 ${n(read)} 个${partly > 0 ? `，部分读取 ${n(partly)} 个` : ''}`,
  bySeverity: '按严重程度统计的发现项',
  notCovered: '本结论未涵盖：',
  notAudited: (nodes, clusters) =>
    `${[nodes > 0 ? `${n(nodes)} 个节点` : '', clusters > 0 ? `${n(clusters)} 个完整集群` : ''].filter(Boolean).join('和')}未审计`,
  notWhollyRead: count => `${n(count)} 个集群未完整读取`,
  partlyRead: count => `${n(count)} 个节点仅部分读取`,
  undecided: count => `${n(count)} 项未判定`,
  inputErrors: count => `输入中有 ${n(count)} 处错误`,
  noNode: '没有已知的节点。',
  complete: '没有遗漏：所有节点均已读取，所有规则均已判定。',
  byCluster: '各集群的评级与读取范围',
  grade: '评级',
  noGrade: '无评级',
  noNodeOfCluster: '没有已知的节点',
  coverage: (read, all, percent, partly, not) =>
    [
      `${n(all)} 个节点中已读取 ${n(read)} 个（${percent}）`,
      ...(partly > 0 ? [`部分读取 ${n(partly)} 个`] : []),
      ...(not > 0 ? [`未读取 ${n(not)} 个`] : []),
    ].join('，'),
  moreClusters: count => `另外 ${n(count)} 个集群见 findings.json`,
}

const news: Catalogue['news'] = {
  title: '自上次运行以来的变化',
  comparedBefore: '对比的运行：',
  comparedAfter: '。',
  changed: {
    new: '新增',
    worse: '恶化',
    waiverExpired: '豁免到期',
    newlySeen: '首次确认',
    cannotTell: '无法判断',
    moved: '转移到其他节点',
    better: '好转',
    fixed: '已修复',
    fixedOrGone: '已修复或已消失',
    gone: '随节点消失',
    waivedSince: '此后已豁免',
  },
  backAgain: '再次出现',
  newOrWorse: '新增或恶化',
  fixedOrBetter: '已修复、好转或消失',
  neither: '其他',
  counts: {
    new: count => `新增 ${n(count)} 项`,
    worse: count => `恶化 ${n(count)} 项`,
    better: count => `好转 ${n(count)} 项`,
    ended: count => `已修复或消失 ${n(count)} 项`,
    otherwise: count => `其他变化 ${n(count)} 项`,
    cannotTell: count => `无法判断 ${n(count)} 项`,
    unchanged: count => `未变化 ${n(count)} 项`,
  },
  summary: (isChanged, counts) =>
    `${isChanged ? '发现项' : '发现项没有变化'}：${counts.length === 0 ? '上次和本次均无' : counts.join('，')}。`,
  withoutHistory: (newOnes, ended) =>
    `自上次运行以来：新增 ${n(newOnes)} 项，已修复或消失 ${n(ended)} 项。`,
  noEarlierRun: '没有更早的运行记录，因此不标注是否新增。',
  nodes: (come, gone, notRead) =>
    `节点：${[
      come > 0 ? `新增 ${n(come)} 个` : '',
      gone > 0 ? `移除 ${n(gone)} 个` : '',
      notRead > 0 ? `本次未完整读取的节点或集群 ${n(notRead)} 个` : '',
    ]
      .filter(Boolean)
      .join('，')}。`,
  moreInDiff: count => `另外 ${n(count)} 项：可用 highwater diff 查看全部。`,
  more: count => `另外 ${n(count)} 项`,
  gradesChanged: '评级变化',
  grade: (cluster, was, is) => `${cluster}：${was} → ${is}`,
  notInLastRun: '上次运行中没有',
  notInThisRun: '本次运行中没有',
}

const outlook: Catalogue['outlook'] = {
  title: '即将发生的问题',
  byTime: '按距首次驱逐的时间统计的节点',
  caption: '最先开始驱逐的节点。',
  columns: {
    node: '节点',
    disk: '磁盘',
    imageGc: 'Image GC',
    pressure: '压力状态',
    eviction: '驱逐',
    first: '快速写满时',
    victims: '首个被驱逐',
    victimsAndChange: '首个被驱逐及应做的变更',
  },
  toDo: '处理：',
  change: (fields, more) => `设置 ${fields.join('，')}${more > 0 ? ` 等另外 ${n(more)} 项` : ''}`,
  evictFirst: isAssumed => `最先驱逐的节点${isAssumed ? '（按假定增长）' : ''}：`,
  evictFirstBrief: (title, first) =>
    `${title}${first.map(({ when, name }) => `${when} ${name}`).join('，')}`,
  now: '现在',
  within: duration => `${duration}内`,
  withinDays: days => `${n(days)} 天内`,
  later: '7 天内不会',
  neverOrUnwatched: '按当前增长不会达到，或无人监控',
  unknownTime: '未知',
  never: '不会达到',
  in: duration => `${duration}后`,
  off: '已关闭',
  below: threshold => `低于 ${threshold}`,
  disk: (used, free) => `已用 ${used}，剩余 ${free}`,
  asSeen: within => `${within}（按观测的增长）`,
  asAssumed: within => `${within}（按假定的增长）`,
  basis: ({ observed, due, isFirstLook }, growth, period) => {
    const burst = `每 ${period}增长其容量的 ${growth}`
    const assumed = `假定磁盘${burst}（策略 assumedGrowthPercent）。`
    const seen =
      '采用以往读取中观测到的增长速率；两次读取之间出现又消失的内容看不到，因此磁盘可能更快写满。'
    const order =
      '列表与计数的顺序相同：先是观测到 7 天内会达到的节点，再是按假定增长的节点，最后是观测到不会达到的节点。'
    const rate =
      observed === 0
        ? `没有观测到增长速率${isFirstLook ? '（所有节点启动以来均无更早的读取）' : ''}，因此${assumed}`
        : observed < due
          ? `${n(observed)} 个节点${seen}其余节点${assumed}${order}`
          : `${seen}${order}`
    return `${rate}时间从读取各节点的时刻算起，并假定此前没有释放任何空间，即 kubelet 开始动作的时刻。“快速写满时”：磁盘${burst}时何者先发生；image GC 每 ${period}才检查一次，驱逐可能在下次检查之前发生。`
  },
  acts: {
    'image-gc': 'image GC 在先',
    eviction: '驱逐在先',
    either: '驱逐可能在先',
    nobody: '无动作',
  },
  noVictim: '没有可驱逐的 Pod',
  oneOf: (count, pods) => `${n(count)} 个同级 Pod 之一：${pods}`,
  andThen: (first, rest) => `${first}，然后 ${rest.join('，')}`,
  leftOut: count => `其余 ${n(count)} 个节点已计入上方统计；详情见“节点”中的各组。`,
  nothing: '没有任何节点的驱逐时间是已知的。',
}

const overview: Catalogue['overview'] = {
  title: '按余量查看全部节点',
  lead: '每个节点按其距最近驱逐阈值的余量（占该磁盘或内存的百分比）显示，最接近阈值的在前。',
  shapes: '图形含义',
  caption: '按余量排列的节点组，最接近驱逐的在前',
  columns: { group: '组', where: '节点分布' },
  bands: {
    met: '已达阈值',
    'image-gc': '待 image GC',
    close: '低于 5\u00a0%',
    near: '5–15\u00a0%',
    calm: '高于 15\u00a0%',
    unknown: '未知',
  },
  moreGroups: count => `另外 ${n(count)} 个组`,
  described: (count, bands) => `${n(count)} 个节点：${bands}`,
}

const opportunities: Catalogue['opportunities'] = {
  title: '改进机会',
  caption: '收益可量化的变更，收益最大的在前',
  columns: { gain: '收益', change: '变更', where: '对象' },
  wholeFix: '完整修复方法',
  nothing: '没有收益可量化的变更。',
  leftOut: count => `另有 ${n(count)} 项收益较小，未在此列出；修复方法见各发现项。`,
  noNeedlessEviction: count => `${n(count)} 个节点不再因未使用的镜像而驱逐`,
  earlier: (lead, before) => `image GC 在驱逐前 ${lead}启动（变更前：${before}）`,
  leadBefore: duration => `提前 ${duration}`,
  leadAfter: duration => `晚 ${duration}`,
  leadNone: '同时',
  leadNever: '从不启动',
  usable: bytes => `${bytes} 磁盘空间变为可用`,
  usableOn: (gained, all, percent) =>
    `${gained < all ? `${n(all)} 个节点中的 ${n(gained)} 个` : `${n(all)} 个节点`}，阈值按 ${percent}\u00a0% 计`,
  set: fields => `设置 ${fields}`,
}

const plan: Catalogue['plan'] = {
  title: '修复计划',
  digest: '摘要',
  failed: why => `无法生成修复计划：${why}`,
  beside: (never, refused, unchanged) =>
    `此外：从不改动的节点 ${n(never)} 个，被拒绝的节点 ${n(refused)} 个，已符合预期的节点 ${n(unchanged)} 个。`,
  nothing: beside => `修复计划不会改动任何节点。${beside}`,
  made: (nodes, waves, beside) =>
    `可分 ${n(waves)} 批修复 ${n(nodes)} 个节点，每个同类组先改动一个节点。${beside}目前尚未做任何改动：plan.json 写明了在哪个节点写入什么以及结果如何。阅读后用以下命令批准：`,
}

export const summary = { verdict, news, outlook, overview, opportunities, plan }
