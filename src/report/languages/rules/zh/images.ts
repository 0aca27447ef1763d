/** Simplified Chinese: rules on image GC, pulls and dead containers. */
import type { RuleTexts } from '#report/languages/language.ts'

export const images: RuleTexts = {
  'alert-before-image-gc': {
    title: '磁盘告警在 image GC 启动之前触发',
    why: 'kubelet 尚未开始清理磁盘，告警就已呼叫值班人员。每次都是噪音，而真正的问题（image GC 什么也没释放）看起来与此完全相同。',
    fix: '将 imageGCHighThresholdPercent 设为等于或低于告警的百分比，或调高告警（策略 alertPercent 记录告警所在的百分比）。',
  },
  'container-gc-flags-off-default': {
    title: '容器 GC 使用了非默认的启动参数',
    why: '这三项只有启动参数：任何配置文件和 configz 都不显示，因此无人能看出已退出的容器及其日志为何一直保留，或为何在有人查看之前就已消失。它们已被弃用。',
    fix: '从 kubelet 的命令行（user data、systemd drop-in）中去掉该启动参数，由驱逐阈值来管理磁盘。',
  },
  'dead-container-pile': {
    title: '已退出的容器不断堆积',
    why: 'kubelet 重启过的每个容器都会保留一个已退出的容器以留存日志，仍然存在的 Pod 则保留其全部已退出的容器。每个都在磁盘上保留其可写层和日志，并占用其镜像：image GC 无法删除该镜像。',
    fix: '删除已结束的 Pod 和 Job（ttlSecondsAfterFinished），消除崩溃循环，并检查容器 GC 的启动参数。策略 deadContainers 规定多少算多。',
  },
  'dead-registry': {
    title: 'Pod 使用的镜像来自已停用的仓库',
    why: '此类 Pod 只能在已有其镜像的节点上运行。一旦 image GC 或驱逐删除了镜像，或者 Pod 迁移，就无法再次拉取。',
    fix: '在 Pod 中改用后继仓库：用 ghcr.io 代替 docker.pkg.github.com，用 registry.k8s.io 代替 k8s.gcr.io；或将镜像复制到自有仓库。',
  },
  'eviction-before-image-gc': {
    title: 'Pod 在 image GC 运行之前被驱逐',
    titles: {
      'Image garbage collection is switched off, so only eviction deletes images':
        'image GC 已关闭，只有驱逐才会删除镜像',
    },
    why: 'image GC 每 5 分钟检查一次磁盘，驱逐管理器每 10 秒检查一次。若先达到驱逐阈值，或两者过于接近，以致一个 GC 周期内的增长会同时达到两者，节点就会进入 DiskPressure 并驱逐 Pod，尽管本可先删除未使用的镜像。',
    fix: '降低 imageGCHighThresholdPercent，直到磁盘的 (101 - high) % 明显高于驱逐阈值，并相应降低 imageGCLowThresholdPercent。在 EKS Auto Mode 上两者都无法更改；只有更大的磁盘（NodeClass ephemeralStorage）才能争取时间。',
  },
  'image-age-gc-churn': {
    title: '镜像按时间过早删除，导致反复拉取',
    why: '无论磁盘多空，imageMaximumGCAge 都会删除未使用时间达到该值的所有镜像。从未使用过的镜像在下一轮就会被删除，无论是否刚刚拉取。设为 24 小时以下时，每日 Job 的镜像和预先拉取的镜像都留不住。',
    fix: '将 imageMaximumGCAge 设为数天，或设为 0s，由阈值来管理磁盘。',
  },
  'image-gc-dead': {
    title: 'image GC 每次都失败：看不到镜像文件系统',
    why: '运行时给出的镜像挂载点是 kubelet 无法测量的。其容量因此为 0，每一轮都在为腾出空间而删除任何内容之前就以错误结束。imagefs 上的阈值与 image GC 一样看不到任何内容。kubelet 在事件中反复报告的其他垃圾回收错误，在此以其原文列出；它在启动后 10 min 内报告的内容没有意义。',
    fix: '用 crictl imagefsinfo 查看运行时给出的挂载点，并将其改为在 kubelet 查找之处确实存在的挂载点（containerd：root）。先重启运行时，再重启 kubelet。若为其他错误：检查产生该错误的运行时。',
  },
  'image-gc-disabled': {
    title: 'image GC 已关闭',
    why: 'imageGCHighThresholdPercent 100 会停止该循环，且没有设置镜像的最长存留时间使其继续运行。未使用的镜像会一直保留，直到驱逐将其全部删除，而此时节点已处于 DiskPressure。',
    fix: '将 imageGCHighThresholdPercent 设为低于 100 且低于驱逐开始的位置，并相应设置 imageGCLowThresholdPercent。',
  },
  'image-gc-due': {
    title: 'image GC 即将删除镜像',
    titles: {
      'Image garbage collection is due, and no image may go': '需要 image GC，但没有可删除的镜像',
    },
    why: '镜像文件系统的使用率高于高阈值，因此下一轮会删除未使用的镜像，最旧的在先。若某个仓库无法访问，其被删除的镜像就无法恢复。',
    fix: '若镜像可以重新拉取，则无需处理。否则将其固定（pin）或腾出空间：减少镜像、使用更大的磁盘，或更改阈值。',
  },
  'image-gc-never-first': {
    title: '增长的内容不在 image GC 的检查范围内：会先发生驱逐',
    why: 'image GC 只看镜像文件系统的字节数，不看其他任何内容。若 nodefs 是独立的文件系统，或 inode 先于字节耗尽，过程中就不会启动任何回收：最先动作的是驱逐管理器。',
    fix: '在达到阈值之前，查明那里是什么在增长（容器日志、emptyDir 卷、宿主机的文件；inode 则为大量小文件），并腾出空间或使用更大的磁盘。调整任何 image GC 百分比都没有用。策略 alertPercent 规定从多高的使用率起计入。',
  },
  'narrow-gc-band': {
    title: 'image GC 的两个阈值过于接近',
    why: '每一轮从高阈值开始，到低阈值结束。若两者的间距小于默认的 5 %，释放的空间过少，磁盘很快又会写满：每隔几分钟就有一轮，镜像被删除后又重新拉取。',
    fix: '降低 imageGCLowThresholdPercent，例如比 imageGCHighThresholdPercent 低 10。低阈值若不低于高阈值，下次启动时会被拒绝。',
  },
  'pull-failing-now': {
    title: '容器正在等待无法拉取的镜像',
    why: 'Pod 没有运行。kubelet 在 10 s 后重试，此后每次间隔加倍，最长 5 min；每次尝试都计入仓库的限额。对于现已消失的 Pod，依据的是最近一小时的事件。',
    fix: '查看消息：名称错误、缺少凭证、仓库无法访问或限制拉取次数。被 GC 删除的镜像必须存在于节点可访问的仓库中。',
  },
  'rate-limited-registry': {
    title: '从 Docker Hub 拉取镜像时未使用凭证',
    why: 'Docker Hub 对未使用凭证的每个 IPv4 地址或 IPv6 /64 限制 6 小时内 100 次拉取，对个人账户限制 200 次，对付费账户不设限制。同一 NAT gateway 后的所有节点共用一个地址：当它们的 image GC 删除镜像，或节点被更换时，必须重新拉取的镜像很快就会遇到 429 toomanyrequests。',
    fix: '通过缓存（针对 docker-hub 的 ECR pull-through cache 规则）、从副本（public.ecr.aws/docker/library）拉取，或使用付费账户的 imagePullSecrets；增加出口地址只会推迟达到限额。',
  },
  'required-image-at-risk': {
    title: '不可缺少的镜像可能被删除',
    why: 'image GC 和驱逐会删除当时没有容器使用的镜像，无论接下来是否需要。kube-system 和 DaemonSet 的镜像，以及策略 requiredImages 中的镜像，在该节点上还会再次用到；若其仓库无响应，这些镜像就无法恢复，该节点或依赖这些镜像的内容也就无法启动。',
    fix: '固定（pin）该镜像（ctr -n k8s.io images label NAME io.cri-containerd.pinned=pinned），由 DaemonSet 使其保持使用中，或通过节点可访问的 mirror 仓库提供。策略 reachableRegistries 规定节点可访问哪些仓库。',
  },
  'serialized-pulls': {
    title: 'kubelet 一次只拉取一个镜像',
    why: '一个大镜像或一个无响应的仓库，就会拖住节点上的其他所有拉取：包括 GC 大量删除之后、相邻节点 drain 之后的拉取，以及节点自身所需 Pod 的拉取。',
    fix: '设置 serializeImagePulls: false（EKS 镜像即如此）；若需减轻磁盘负担，设置 maxParallelImagePulls（kubelet 1.27 及以上）。',
  },
  'stranded-disk': {
    title: '驱逐阈值使大容量磁盘的很大一部分无法使用',
    why: '适合 20 GiB 的百分比，在数 TB 的磁盘上会使数百 GiB 保持空闲。这些空间已付费，却没有 Pod 能使用：节点在此之前就会驱逐。',
    fix: '降低该文件系统的阈值（各种大小的磁盘用百分比，磁盘都相同时用绝对值），或使用更小的磁盘。策略 strandedPercent 和 strandedGiB 规定从多少起计入。',
  },
  'truncated-image-list': {
    title: '节点的镜像列表被截断',
    why: 'Node 对象只列出最大的镜像，最多 nodeStatusMaxImages 个。调度器在寻找已有某镜像的节点时不知道其余镜像，从该列表也只能部分得知 image GC 将删除什么。',
    fix: '调高 nodeStatusMaxImages，或设为 -1 以列出全部；在大集群上注意 Node 对象的大小。',
  },
  'unpinned-sandbox-image': {
    title: 'sandbox 镜像未固定（pin），会被 image GC 删除',
    why: '没有容器使用 pause 镜像，因此 image GC 将其视为未使用。自 Kubernetes 1.29 起，只有运行时将其固定（pin）时 kubelet 才会保留它。一旦删除，在重新拉取之前该节点上任何 Pod 都无法启动；若其仓库要求 containerd 所没有的凭证，拉取就会失败。',
    fix: '采用更新的 AMI（AL2023 自 v20241115 起，Bottlerocket）并更换节点。对必须保留的节点：导入或拉取该镜像，并设置其标签 io.cri-containerd.pinned=pinned。',
  },
  'unreachable-gc-low-threshold': {
    title: 'image GC 无法释放所需的空间',
    why: '磁盘使用率高于高阈值，而所有可删除的镜像合计少于必须释放的量。每一轮删除能删的内容后失败，随后重复：占满磁盘的并不是未使用的镜像。',
    fix: '查明磁盘上还有什么：使用中的镜像、容器日志和可写层、emptyDir 卷、宿主机的文件。在那里腾出空间，或使用更大的磁盘；调整任何阈值都无法解决。',
  },
}
