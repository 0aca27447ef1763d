/** Simplified Chinese, as in `en/thresholds.ts`. */
import type { ThresholdSource } from '#model/prediction.ts'
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const thresholds: Catalogue['thresholds'] = {
  title: '实际生效的阈值',
  leadBefore:
    '每组中镜像和 kubelet minor 版本相同的节点各列一张表，问题最多的在前。数值取自运行中的 kubelet；若只读取到其文件，则为这些文件对应的值。红色的',
  leadNone: '“无”',
  leadAfter: '表示没有阈值生效：默认值丢失、被关闭，或从未有人设置。',
  noKubelet: '没有已知的 kubelet。',
  caption: (group, cluster, image) => `${cluster} 的 ${group} 的阈值，${image}`,
  columns: {
    signal: '信号',
    value: '值',
    comesTo: '换算值',
    grace: '宽限期',
    reclaim: '最小回收量',
    from: '来源',
    preset: '上游默认值',
  },
  labels: { grace: '宽限期', reclaim: '最小回收量', from: '来源', preset: '上游默认值' },
  parts: { hard: '硬驱逐', soft: '软驱逐', imageGc: 'Image GC' },
  fields: {
    imageGCHighThresholdPercent: '高阈值，%',
    imageGCLowThresholdPercent: '低阈值，%',
    imageMinimumGCAge: '最短存留时间',
    imageMaximumGCAge: '最长存留时间',
  },
  everySignal: '所有信号',
  everyOtherSignal: '其他所有信号',
  moreCohorts: count => `另外 ${n(count)} 个同类组的名称`,
  otherImage: '其他镜像',
  kubelet: minor => `kubelet ${minor}`,
  kubeletUnknown: 'kubelet 版本未知',
  image: (image, kubelet) => `${image}，${kubelet}`,
  defaultsOf: minor => `采用 ${minor} 的默认值`,
  nodesOf: (count, types) =>
    `${n(count)} 个节点${types.length === 0 ? '' : `：${types.join('，')}`}`,
  moreTypes: count => `另外 ${n(count)} 种实例类型`,
  unwatched: (signals, count) =>
    `${signals.join('，')} 无人监控${count === null ? '' : `（${n(count)} 个节点）`}`,
  variants: count => `${n(count)} 种设置`,
  nodesNotKnown: count => `${n(count)} 个节点未知`,
  named: (count, names, more) =>
    `${n(count)} 个节点（${names.join('，')}${more > 0 ? ` 等另外 ${n(more)} 个` : ''}）`,
  variant: (letter, named, missing) => [`${letter}：${named}`, ...missing].join('。'),
  evictionNotKnown: why => `驱逐阈值未知：${why}`,
  imageGcNotKnown: why => `Image GC 未知：${why}`,
  moreVariants: (count, named) => `另外 ${n(count)} 种设置未显示：${named}`,
  notKnownFor: (named, why) => `${named}：未知。${why}`,
  notKnownForOthers: (named, reasons) => `${named}：因另外 ${n(reasons)} 种原因未知。`,
  row: (letters, count) => `${letters}：${n(count)} 个节点`,
}

const setting: Catalogue['setting'] = {
  same: '相同',
  atOnce: '立即',
  noneWritten: value => `无（${value}）`,
  offWritten: value => `已关闭（${value}）`,
  onlyOn: (text, count) => `${text}，仅 ${n(count)} 个节点`,
  on: (text, count) => `${text}（${n(count)} 个节点）`,
  more: count => `另外 ${n(count)} 种`,
  neverMet: watch => `换算为 0，永远不会达到；${watch}`,
  doesNotRun: '此处不生效',
  switchedOff: '已配置：关闭',
  lost: by => `丢失：${by}`,
  nobodySet: '无人设置',
  off: '已关闭',
  notSet: '此处未设置',
  configured: '已配置',
  nothingWatches: '无人监控',
  watchNotKnown: sister => `${sister} 是否监控同一磁盘未知`,
  onlySoftWatches: '仅软阈值监控',
  sisterWatches: (sister, isCertain) => `${sister} 监控同一磁盘${isCertain ? '' : '（很可能）'}`,
  notObserved: (filesystem, count) =>
    `未知${count === null ? '' : `（${n(count)} 个节点）`}：未观测到 ${filesystem}`,
  pids: range => `${range} 个 pid`,
  inodes: range => `${range} 个 inode`,
  noSoft: isKnownOfAll => `无人设置${isKnownOfAll ? '' : '（就已知范围）'}`,
  noSuchSetting: '该 kubelet 没有此设置',
  neverStarts: 'image GC 从不启动：只有驱逐才会删除镜像',
  startsAbove: used => `启动条件：${used} 以上`,
  deletesDownTo: used => `删除到${used}`,
  minimumAge: age => `为腾出空间而删除时，镜像在最初 ${age}内受保护`,
  noMaximumAge: '已关闭：不按时间删除',
  maximumAge: age => `未使用 ${age}即删除`,
  used: (percent, bytes, unread) => {
    if (bytes === null) return `已用 ${percent}；字节数未知：未观测到 imagefs`
    return `已用 ${percent}，${bytes}${unread === 0 ? '' : `；${n(unread)} 个节点未知：未观测到 imagefs`}`
  },
}

const sources: Record<ThresholdSource, string> = {
  'upstream default': '上游默认值',
  'AMI default': 'AMI 默认值',
  file: '文件',
  'drop-in': 'drop-in',
  flag: '启动参数',
  configured: '已配置',
  'no file': '没有配置文件',
  'earlier files': '并非来自现有文件（启动后已被修改）',
  kubelet: 'kubelet 自身',
}
const losers: Record<ThresholdSource, string> = {
  'upstream default': '上游默认值',
  'AMI default': 'AMI 的 evictionHard',
  file: '文件中的 evictionHard',
  'drop-in': 'drop-in',
  flag: '启动参数 --eviction-hard',
  configured: '已配置的 evictionHard',
  'no file': '没有配置文件',
  'earlier files': '文件中有，但启动后已被修改',
  kubelet: 'kubelet',
}

const origin: Catalogue['origin'] = {
  from: (source, path, isLikely) =>
    `${sources[source]}${path === null ? '' : ` ${path}`}${isLikely ? '（很可能）' : ''}`,
  lostBy: (source, path, isLikely) =>
    `${losers[source]}${path === null ? '' : ` ${path}`}${isLikely ? '（很可能）' : ''}`,
}

export const ofThresholds = { thresholds, setting, origin }
