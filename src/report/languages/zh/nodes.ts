/** Simplified Chinese, as in `en/nodes.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const gauge: Catalogue['gauge'] = {
  oneDisk: 'nodefs = imagefs（同一磁盘）',
  inodesOf: disk => `${disk} 的 inode`,
  memory: '内存',
  notObserved: '未知：未观测到',
  bytes: (used, all, free) => `共 ${all}，已用 ${used}，剩余 ${free}`,
  inodes: (used, all, free) => `共 ${all} 个 inode，已用 ${used}，剩余 ${free}`,
  inodeCount: count => `${n(count)} 个 inode`,
  marks: {
    'gc-start': 'image GC 启动',
    'gc-stop': 'image GC 停止',
    alert: '现有告警',
    soft: '软驱逐',
    hard: '硬驱逐',
  },
  softFor: (threshold, grace) => `${threshold} 持续 ${grace}`,
  thresholdsUnknown: '驱逐阈值：未知。',
  settingsDoNotParse: why => `驱逐设置无法解析：${why}`,
  bytesUnwatched: '没有驱逐阈值监控该文件系统的字节数。',
  memoryUnwatched: '没有驱逐阈值监控该节点的内存。',
  imageGcUnknown: 'Image GC：未知。',
  imageGcOff: high => `按磁盘使用率触发的 image GC 已关闭（imageGCHighThresholdPercent ${high}）。`,
  imageGcFails: why => `Image GC 失败：${why}`,
  dueUnknown: '是否需要 image GC：未知。',
  dueNow: toFree => `现在需要 image GC：待释放 ${toFree}。`,
  untilImageGc: bytes => `再增长 ${bytes} 将启动 image GC。`,
  threshold: (mark, setting) => `${mark}（${setting}）`,
  farUnknown: (threshold, filesystem) => `距${threshold}的余量：未知，未观测到 ${filesystem}。`,
  met: (threshold, below) => `已达到：${threshold}，低于阈值 ${below}。`,
  until: (threshold, amount) => `距${threshold}还有 ${amount}。`,
  nowUnknown: '当前使用率未知。',
  now: (used, summary) => `当前已用 ${used}，${summary}。`,
  markAt: (mark, percent, setting) => `${mark} ${percent}（${setting}）`,
  marksAre: marks => `标记：${marks.join('；')}。`,
  noMarks: '无标记。',
}

const node: Catalogue['node'] = {
  states: { calm: '', 'image-gc': '待 image GC', pressure: '已达驱逐阈值' },
  used: percent => `已用 ${percent}`,
  link: '该节点的链接',
  ready: { True: 'Ready', False: '非 Ready', Unknown: 'Ready 未知' },
  readinessUnknown: '是否 Ready 未知',
  asked: way => way,
  more: '更多',
  moreReasons: count => `另外 ${count} 条原因见快照。`,
  disk: '磁盘',
  nothingObserved: '未观测到文件系统，也未记录原因。',
  onDisk: '其阈值来自磁盘上的文件或设置；此后 kubelet 是否重启过未知。',
  layoutUnknown: 'nodefs 与 imagefs 是否为同一磁盘未知。',
  layout: {
    shared: certainty =>
      `nodefs 与 imagefs 为同一磁盘，此判断的可信度：${certainty}。API 不提供设备名。`,
    imagefs: certainty => `imagefs 为独立磁盘，此判断的可信度：${certainty}。API 不提供设备名。`,
    split: certainty =>
      `镜像位于独立磁盘而容器位于 nodefs，此判断的可信度：${certainty}。API 不提供设备名。`,
  },
  notCertain: '不确定',
}

const distribution: Catalogue['distribution'] = {
  title: disk => `${disk}：节点分布`,
  spread: (count, lowest, median, ninetieth, highest) =>
    `${n(count)} 个节点：使用率最低 ${lowest}，中位数 ${median}，第 90 百分位 ${ninetieth}，最高 ${highest}。`,
  unknown: count => `${n(count)} 个节点：未知。`,
  marksOf: (count, others) => `标记为 ${n(count)} 个节点的值，不代表其余 ${n(others)} 个节点。`,
}

const fleet: Catalogue['fleet'] = {
  title: '节点与 high-water mark',
  noNode: '没有已知的节点。',
  legend: '图例',
  whereNow: '当前位置',
  keptFree: '硬驱逐保留的空闲空间',
  withoutGroup: '不属于任何组的节点',
  fargate: 'Fargate 节点',
  nearest: count => `最接近驱逐的 ${n(count)} 个节点`,
  about: (cluster, count, coverage) => `${cluster}，${count}：${coverage}`,
  coverage: (count, state) => `${state} ${n(count)} 个`,
  asTable: (count, isRest) => `该组${isRest ? '其余' : '的'} ${n(count)} 个节点（表格）`,
  restAsTable: count => `这些组的 ${n(count)} 个节点（表格）`,
  caption: group => `${group}：各磁盘使用率及距最近驱逐阈值的余量（占容量的百分比）`,
  columns: {
    node: '节点',
    coverage: '读取情况',
    imageDisk: '镜像磁盘',
    nodefs: 'nodefs（独立时）',
    memory: '内存',
    headroom: '余量',
    now: '当前状态',
  },
  notDrawn: count =>
    `${n(count)} 个节点未绘图：为保持页面轻量，大组只绘制最接近驱逐的节点，其余列于表格。`,
  notListed: count => `为使页面保持轻量，${n(count)} 个节点既未绘图也未列出。快照中包含全部节点。`,
}

export const ofNodes = { gauge, node, distribution, fleet }
