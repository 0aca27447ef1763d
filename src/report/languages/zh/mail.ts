/** Simplified Chinese, as in `en/mail.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const subject: Catalogue['subject'] = {
  cutShort: subject => `[提前结束] ${subject}`,
  signed: (verdict, from) => `${verdict} - ${from}`,
  evicting: (severity, count) => `${severity}，${n(count)} 个节点正在驱逐`,
  changed: (severity, counts, count, where) => `${severity}：${counts}；${where} 共 ${n(count)} 项`,
  nothingNew: (severity, tallied, where) => `${severity}，无变化：${where} ${tallied.join('，')}`,
  first: (severity, tallied, where) => `${severity}：${where} ${tallied.join('，')}`,
  empty: (headline, counts, scope) => `${headline}：${counts === '' ? '' : `${counts}；`}${scope}`,
  someClusters: (count, all) =>
    all > count ? `${n(all)} 个集群中的 ${n(count)} 个` : `${n(count)} 个集群`,
  andSo: counts => `${counts.join('，')}，…`,
}

const changes: Catalogue['changes'] = {
  labels: {
    new: '新增',
    back: '再次出现',
    worse: '恶化',
    seen: '首次确认',
    better: '好转',
    unclear: '无法判断',
    moved: '在其他节点',
    waived: '已豁免',
    unchanged: '未变化',
  },
  counts: {
    new: count => `新增 ${n(count)} 项`,
    back: count => `再次出现 ${n(count)} 项`,
    worse: count => `恶化 ${n(count)} 项`,
    seen: count => `首次确认 ${n(count)} 项`,
    better: count => `好转 ${n(count)} 项`,
    resolved: count => `已解决 ${n(count)} 项`,
    gone: count => `随节点消失 ${n(count)} 项`,
    unread: count => `${n(count)} 个节点或集群不再能完整读取`,
    unclear: (count, critical) =>
      `无法判断 ${n(count)} 项${critical === 0 ? '' : `（严重 ${n(critical)} 项）`}`,
    moved: count => `转移 ${n(count)} 项`,
    waived: count => `豁免 ${n(count)} 项`,
    absent: count => `${n(count)} 个集群不再能找到`,
    unreadNewcomers: count => `${n(count)} 个新节点或集群未能完整读取`,
  },
  standing: (count, tallied) => `${n(count)} 项发现未变化：${tallied.join('，')}。详见报告。`,
  nothing: time => `自 ${time} 的运行以来没有变化。`,
  some: (time, counts) => `自 ${time} 的运行以来：${counts.join('，')}。`,
  absent: (names, more, count, tallied) => {
    const which = `${names.join('，')}${more > 0 ? ` 等另外 ${n(more)} 个` : ''}`
    return `不在本次运行中的集群：${which}。${count === 0 ? '' : `其中 ${n(count)} 项发现保持最后确认时的状态：${tallied.join('，')}。`}`
  },
  hidden: count => `${n(count)} 项之前存在、今天无法判断的发现`,
  lastSeen: day => `最后确认 ${day}`,
  moreHidden: (count, tallied) => `另外 ${n(count)} 项：${tallied.join('，')}。`,
  ended: '已结束的发现项',
  moreEnded: count => `另外 ${n(count)} 项。`,
}

const told: Catalogue['told'] = {
  some: (shown, all) => `${n(all)} 项有变化或紧急的发现中的 ${n(shown)} 项`,
  changedAndUrgent: '有变化的和紧急的发现项',
  urgent: '紧急的发现项',
  worst: (shown, all) => `${n(all)} 项发现中最严重的 ${n(shown)} 项`,
  all: count => `全部 ${n(count)} 项发现`,
  more: (count, tallied) => `其余 ${n(count)} 项见报告：${tallied.join('，')}。`,
  configInReport: count => `KubeletConfiguration 共 ${n(count)} 行，见报告`,
  inReport: (commands, targets, moreTargets) => {
    const named = `${targets.join('，')}${moreTargets > 0 ? ` 等另外 ${n(moreTargets)} 种` : ''}`
    const parts = [
      ...(commands > 0 ? [`${n(commands)} 条命令`] : []),
      ...(targets.length > 0 ? [`持久化配置（${named}）`] : []),
    ]
    return `报告中还有：${parts.join('，')}。`
  },
  whatToDo: '处理方法：',
  inConfiguration: 'KubeletConfiguration 设置：',
}

const notAudited: Catalogue['notAudited'] = {
  more: (reasons, entries) => `另外 ${n(reasons)} 种原因（${n(entries)} 个节点或集群）见报告。`,
  cluster: name => `集群 ${name}`,
  clusterCount: count => `${n(count)} 个集群`,
  clusters: (count, names) => `${n(count)} 个集群：${names}`,
  nodes: (count, cluster, names) => `${cluster} 的 ${n(count)} 个节点：${names}`,
  names: (names, more) => `${names.join('，')}${more > 0 ? ` 等另外 ${n(more)} 个` : ''}`,
}

const cutShort: Catalogue['cutShort'] = {
  title: '本次运行提前结束',
  unread: count => `${n(count)} 个节点未读取`,
  partly: count => `${n(count)} 个节点仅部分读取`,
  clusters: count => `${n(count)} 个集群未完整读取`,
  text: (parts, why) => `${parts.join('，')}：${why}。以下内容不包含这些部分。`,
}

const report: Catalogue['report'] = {
  title: '完整报告',
  open: '打开报告',
  openAt: '打开报告：',
  attached: isKept => `报告作为附件 report.html 随本邮件发送。${isKept ? '' : '没有存储保留它。'}`,
  channels: { s3: 'S3', folder: '文件夹', ses: 'SES' },
  place: (channel, location) => `${channel}：${location}`,
  morePlaces: count => `另外 ${n(count)} 处`,
  moreChannels: count => `另外 ${n(count)} 个渠道`,
  notDelivered: channel => `投递失败：${channel}`,
  undelivered: channels => `投递失败：${channels.join('，')}。原因见邮件末尾。`,
  failed: '失败，且未记录原因。',
}

const mail: Catalogue['mail'] = {
  snapshot: time => `快照：${time}`,
  audience: owner => `仅含 ${owner} 负责的部分`,
  waived: count => `${n(count)} 项由策略豁免，未计入`,
  unsubscribe: addresses => `退订：${addresses.join(' 或 ')}`,
  footer: (version, account, region) => `highwater ${version}，账户 ${account}，区域 ${region}`,
  headings: {
    cutShort: '本次运行提前结束',
    verdict: '结论',
    findings: '发现项',
    hidden: '无法判断的发现项',
    ended: '已结束',
    garbage: '集群垃圾',
    plan: '修复计划',
    notAudited: '未审计',
    report: '完整报告',
  },
  brief: {
    cutShort: (title, text) => `${title}：${text}`,
    finding: (severity, label, title, where) =>
      `- ${severity}${label === null ? '' : `（${label}）`}：${title}：${where}`,
    more: '- 其余见报告',
    hidden: (title, list) =>
      `${title}：${list.map(one => `${one.severityWord}：${one.title}（${one.where}）`).join('；')}`,
    ended: (title, list) =>
      `${title}：${list.map(one => `${one.title}（${one.where}）：${one.how}`).join('；')}`,
    gaps: gaps => `本结论未涵盖：${gaps}`,
    report: link => `报告：${link}`,
  },
}

export const ofMail = { subject, changes, told, notAudited, cutShort, report, mail }
