/** Simplified Chinese: rules on eviction. */
import type { RuleTexts } from '#report/languages/language.ts'

export const eviction: RuleTexts = {
  'absolute-threshold-on-mixed-disks': {
    title: '大小差异很大的磁盘使用同一绝对值驱逐阈值',
    why: '同一数值在大磁盘上只占十分之一，在小磁盘上却占一半：组内的小节点在磁盘还空着一半时就开始驱逐，或者大节点几乎不剩空间。',
    fix: '组内磁盘大小不一时，将磁盘阈值写成百分比，或拆分该组。',
  },
  'critical-pod-among-first-victims': {
    title: '节点所需的 Pod 位于最先被驱逐之列',
    why: '只有 static Pod 和优先级为 2000000000 及以上的 Pod 不会被驱逐。kube-system 中的 DaemonSet Pod（或策略在 criticalPods 中列出的 Pod）若没有该优先级，会像其他 Pod 一样被驱逐，在此节点上位于前三个：节点的网络、卷或 DNS 会随之失效。',
    fix: '为其设置 priorityClassName system-node-critical（或 system-cluster-critical），并设置足以覆盖其用量的 requests。',
  },
  'eviction-due': {
    title: '已达驱逐阈值：kubelet 正在驱逐',
    why: '节点当前低于某个阈值：它会报告该 condition、被打上 taint、拒绝 Pod，并逐个驱逐 Pod，直到重新高于阈值。',
    fix: '立即腾出空间：删除占用大且不需要的内容，或 drain 该节点。然后检查是什么在增长，并检查阈值。',
  },
  'eviction-loop': {
    title: '同一所有者的 Pod 在该节点上反复被驱逐',
    why: '所有者会补上被 kubelet 驱逐的 Pod，新的 Pod 又把节点写满。容忍压力 taint 的 Pod（所有 DaemonSet 的 Pod 均如此）会直接回到同一节点；压力持续期间，kubelet 在准入时就拒绝它们，这同样计为被驱逐。',
    fix: '为其容器设置足以覆盖用量的 ephemeral-storage（或内存）requests 和 limits，为其 emptyDir 卷设置 sizeLimit。去掉对 node.kubernetes.io/disk-pressure、memory-pressure 和 pid-pressure 的 toleration，以及 operator 为 Exists 且没有 key 的 toleration；DaemonSet 无论模板如何书写都会获得这些 toleration。',
  },
  'grace-longer-than-fill-time': {
    title: '软阈值宽限期结束前磁盘就会写满',
    why: '软阈值只有在整个宽限期内一直处于已达状态后才会驱逐。若磁盘从软阈值增长到硬阈值所需的时间更短，硬阈值会先动作且不等待，软阈值就只剩一个 condition 和一个 taint。若没有硬阈值，此时磁盘已写满。',
    fix: '缩短该信号的 evictionSoftGracePeriod，或将 evictionSoft 设得比 evictionHard 高出更多。磁盘的假定增长量取自策略 assumedGrowthPercent。',
  },
  'local-storage-limit-exceeded': {
    title: 'Pod 超出自身的本地存储限制，被 kubelet 驱逐',
    why: '无论节点是否有压力，每轮驱逐检查都会检查 ephemeral-storage 的限制和 emptyDir 卷的 sizeLimit。超出其中之一的 Pod 会立即被驱逐；其所有者启动下一个 Pod，随后又会写满。',
    fix: '将限制提高到 Pod 所需的值，或减少其写入量：输出到标准输出的日志也计算在内。',
  },
  'lost-default-threshold': {
    title: '默认驱逐阈值丢失，且没有其他阈值代替监控',
    why: '设置了 evictionHard 的 kubelet 配置会替换整个默认值 map：未列出的信号全部关闭。该信号本应监控的对象可能会在没有任何驱逐的情况下耗尽。',
    fix: '在 evictionHard 中列出每个信号，包括采用默认值的信号，或设置 mergeDefaultEvictionSettings: true（kubelet 1.33 及以上）。需要关闭的信号写成 0%。',
  },
  'memory-threshold-too-small': {
    title: '内存阈值小于 kubelet 的默认值',
    why: '驱逐管理器每 10 秒检查一次。阈值保留的内存越少，内核就越可能在两次检查之间耗尽内存，并按自己的顺序终止进程，而不是由 kubelet 驱逐 Pod。',
    fix: '将 evictionHard memory.available 设为 100Mi 或以上；在有突发负载的大节点上设为数百 MiB。',
  },
  'pods-without-ephemeral-requests-first': {
    title: '磁盘压力下，未请求 ephemeral storage 的小 Pod 最先被驱逐',
    why: '本地存储用量超过 request 的 Pod 会先于未超过的 Pod 被驱逐，无论两者各占用多少。没有 request 时，任何一个字节都算超过。在此节点上，几乎不占磁盘的 Pod 会先于占用很多的 Pod 被驱逐，而驱逐它释放的空间很少。',
    fix: '为 Pod 设置足以覆盖其日志、可写层和 emptyDir 卷的 ephemeral-storage request（LimitRange 可为命名空间设置默认值）。',
  },
  'short-transition-period': {
    title: '压力结束后节点过早重新接收 Pod',
    why: 'evictionPressureTransitionPeriod 是阈值最后一次达到之后 condition 继续保留的时长。若短于其默认的 5 分钟（即 image GC 的一个周期），除驱逐之外尚无任何机制腾出空间，调度器就会将 Pod 调度回来：驱逐、重新调度、再驱逐。',
    fix: '将 evictionPressureTransitionPeriod 设为 5m0s，或不设置。',
  },
  'soft-threshold-without-grace': {
    title: '软驱逐阈值没有宽限期，等同于硬阈值',
    why: 'kubelet 仅凭宽限期区分硬阈值和软阈值。宽限期为 0s 时，低于阈值后的第一轮检查就会驱逐，且自 1.31 起不给 Pod 留结束的时间。',
    fix: '在 evictionSoftGracePeriod 中为该信号设置时间；若本意如此，则将阈值移到 evictionHard。',
  },
  'unreachable-min-reclaim': {
    title: '最小回收量超出实际容量',
    why: '信号的阈值一旦达到，就会一直视为已达，直到可用量达到阈值与最小回收量之和。若该和等于或超过全部容量，则永远无法做到：kubelet 会驱逐所有可驱逐的 Pod，且 condition 一直保留。',
    fix: '将该信号的 evictionMinimumReclaim 降到容量的百分之几。',
  },
  'unreachable-soft-threshold': {
    title: '软驱逐阈值永远不会生效',
    why: '同一信号的硬阈值会先达到，因此 Pod 失去软阈值所承诺的宽限期。',
    fix: '将该信号的 evictionSoft 设为高于 evictionHard，或将其删除。',
  },
  'unwatched-imagefs': {
    title: '没有驱逐阈值监控镜像磁盘',
    why: '镜像有独立的文件系统，而没有生效的 imagefs.available 阈值。nodefs 阈值看不到它：写满时节点仍为 Ready 且没有 DiskPressure，而拉取和容器写入会失败。共用一个磁盘时，任一阈值都能监控；两者都关闭则无人监控。',
    fix: '设置 evictionHard imagefs.available（以及 imagefs.inodesFree），并同时写明 map 中的其他信号：map 会被整体替换。',
  },
  'unwatched-inodes': {
    title: '文件系统的 inode 可能在无人监控下耗尽',
    why: '该文件系统上没有生效的 inodesFree 阈值。大量小文件会在字节尚有剩余时用尽其 inode：写入以“no space left on device”失败，而节点不显示 DiskPressure。image GC 只看字节数。',
    fix: '将 evictionHard nodefs.inodesFree（镜像有独立磁盘时为 imagefs.inodesFree）设为 5%，并同时写明 map 中的其他信号。',
  },
  'unwatched-pids': {
    title: '进程 ID 即将不足，且无人监控',
    why: 'pid.available 没有默认阈值。节点的进程 ID 剩余不足 20 %（线程也计算在内）时，再多一个 Pod 就可能用尽其余部分：此后节点上任何组件都无法启动进程，kubelet 和运行时也不例外。',
    fix: '设置 evictionHard pid.available，并同时写明 map 中的其他信号，以及设置 podPidsLimit。查明是什么启动了如此多的线程。',
  },
  'useless-eviction': {
    title: '即使驱逐所有 Pod 也无法腾出足够空间',
    why: 'kubelet 只能删除镜像、已退出的容器，以及 Pod 及其日志、可写层和 emptyDir 卷，此外什么也不能删除。若占用磁盘的是宿主机的文件、hostPath 卷或在 Kubernetes 之外运行的内容，它会逐个驱逐 Pod，节点一直处于 DiskPressure，也没有 Pod 会回来。',
    fix: '登录节点，查看是什么占用磁盘（对其挂载点执行 du：journal、core dump、hostPath 目录、软件包缓存）。将其删除，或用更大磁盘的节点更换。调整任何阈值都无法解决；cordon 该节点，以免有人等待它。',
  },
  'zero-min-reclaim-thrash': {
    title: '磁盘写满时，驱逐恰好停在阈值处，随即又重新开始',
    why: '某个磁盘阈值已达，或不久前刚达到以致 DiskPressure 仍然存在，而其信号没有最小回收量。kubelet 释放的空间恰好使其高于阈值；接下来的写入又使阈值达到，Pod 一个接一个被驱逐，每次只换来几个字节。',
    fix: '在 evictionMinimumReclaim 中为该信号添加一项，设为磁盘的百分之几。',
  },
}
