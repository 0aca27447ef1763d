/** Simplified Chinese: rules on reservations, logs, drift and what else is set on a node. */
import type { RuleTexts } from '#report/languages/language.ts'

export const settings: RuleTexts = {
  'allocatable-mismatch': {
    title: '节点提供的资源与其配置不符',
    why: 'Allocatable 等于容量减去预留和硬驱逐阈值。节点报告的值若与此不同，则要么运行时带有其配置中看不到的内容（例如启动参数 --experimental-allocatable-ignore-eviction），要么在 kubelet 启动后发生了变化，要么其 status 由他人写入。调度器以 status 为准。',
    fix: '若机器或其配置已变更，重启 kubelet；否则检查其启动参数，以及是谁在写入节点的 status。',
  },
  'baseline-drift': {
    title: '节点运行的 kubelet 设置与预期不符',
    why: '策略的 baseline 规定节点应以哪些设置运行。未写明时，使用 EKS 镜像的节点按其 launch template 或 node class 的声明运行，其余设置按 AMI 写入的值运行：除此之外的任何值都是在节点上改动的，节点更换后就会丢失。',
    fix: '在节点的来源处（launch template、NodeConfig、EC2NodeClass）设置 baseline 规定的值，或在 policy.baseline 中写明预期的设置。',
  },
  'cgroup-v1': {
    title: '节点运行 cgroup v1，其 kubelet 拒绝在此启动',
    why: '自 1.35 起，kubelet 在 cgroup v1 上启动时会直接退出，除非 failCgroupV1 设为 false。对 v1 的支持仅限于修复，并将被移除。',
    fix: '用带 cgroup v2 的镜像（AL2023、Bottlerocket）更换节点。在此之前，failCgroupV1: false 可让 kubelet 启动。',
  },
  'changed-not-restarted': {
    title: 'kubelet 的文件已修改，但未重启',
    why: 'kubelet 只在启动时读取一次文件。此后写入的内容要到下次重启 kubelet 或重启节点时才生效，届时会一次全部生效。',
    fix: '在业务低峰时重启 kubelet（systemctl restart kubelet），或恢复原文件；若该变更属于 launch template，则更换节点。',
  },
  'ineffective-log-rotation': {
    title: 'logrotate 文件不起作用、过晚，或轮转了由 kubelet 负责的日志',
    why: '写明了却没有执行的轮转，要到磁盘写满时才会被发现。使用 containerd 时，没有组件向 /var/lib/docker/containers 之下写入；/var/log/containers 中是符号链接，logrotate 会跳过；/var/log/pods 之下的日志由 kubelet 轮转：logrotate 在那里要么从不动作，要么使日志行丢失。size 只在 logrotate 运行时起作用，没有 rotate 时旧日志会被删除。',
    fix: '从依据中列出的文件里删除针对容器日志的配置块，改为设置 containerLogMaxSize 和 containerLogMaxFiles。由 timer 或 cron 至少每天运行一次 logrotate，并在每个配置块中写明 rotate。',
  },
  'invalid-kubelet-configuration': {
    title: 'kubelet 拒绝其磁盘上的配置',
    why: 'kubelet 只在启动时读取文件，发现文件无效就会退出。运行中的节点上看不出任何迹象；下次重启 kubelet 或重启节点后，节点将一直处于 NotReady，其 Pod 在五分钟后由其他节点上的新 Pod 取代，API 服务器对其 kubelet 的请求返回 503。',
    fix: '在 kubelet 因任何原因重启之前，修正该文件（或写入该文件的 user data）。',
  },
  'invalid-log-size': {
    title: '容器日志轮转的设置会被 kubelet 拒绝，或已关闭',
    why: '若 containerLogMaxSize 在 kubelet 看来不是整数（1.5Gi 不是，1536Mi 是），或 containerLogMaxFiles 少于两个，kubelet 就不会启动。负值可以启动，但任何日志都不会轮转。',
    fix: '将 containerLogMaxSize 写成以 Mi 或 Gi 为单位的整数，将 containerLogMaxFiles 设为 2 或以上。',
  },
  'log-retention-too-short': {
    title: '容器日志几分钟内就被轮转掉',
    why: 'kubelet 为每个容器保留 containerLogMaxFiles 个大小为 containerLogMaxSize 的文件，并删除更早的内容。写入快的容器只能保留很短时间的日志：kubectl logs 不再能显示问题是如何开始的，日志采集代理停顿这么久就会永久丢失日志行。',
    fix: '在磁盘允许的范围内调高 containerLogMaxSize（或 containerLogMaxFiles），或减少容器的写入量。策略 logRetentionMinutes 规定日志必须保留多久。',
  },
  'log-rotation-drift': {
    title: '节点的日志轮转文件与同组节点或策略不同',
    why: 'logrotate 的文件在磁盘写满的那个节点上被手工修改，此后便一直如此。大小和数量决定一份日志可以占用多少由 Pod 共享的磁盘：每份日志有 rotate 个旧文件和日志本身，每个文件的大小为触发轮转的大小加上到 logrotate 下次运行之前写入的内容（maxsize 只在那时起作用）。文件按含义比较：100M 即 104857600，指令的顺序没有意义，但若有两个时间或大小，则以最后一个为准。',
    fix: '将预期的文件放到节点的来源处（镜像、launch template 的 user data），并更换存在差异的节点。策略 logRotation 规定预期的文件；未设置时以组内多数节点为准。',
  },
  'log-rotation-overshoot': {
    title: '轮转的容器日志可能超出磁盘剩余空间',
    why: '每个运行中的容器可保留 containerLogMaxFiles 个大小为 containerLogMaxSize 的文件，重启过的容器还可为其已退出的实例再保留同样多。该大小也不是硬限制：每 10 s 检查一次日志，其间日志仍在增长；若少量 worker 要轮转大量日志，间隔会更长。这些文件占用的空间若超出到驱逐之前的剩余空间，结果就是 DiskPressure。',
    fix: '降低 containerLogMaxSize 或 containerLogMaxFiles，或为节点使用更大的磁盘；增加 containerLogMaxWorkers（kubelet 1.30 及以上）可使日志保持在接近其大小的范围内。',
  },
  'lost-on-the-way': {
    title: '已设置的 kubelet 配置没有生效',
    why: '设置从 launch template、EC2NodeClass 或文件经 drop-in 和启动参数到达 kubelet，每一步都可能将其悄无声息地丢弃：镜像只读取自己的来源，kubelet 会忽略拼写错误的字段和名称不符合 *.conf 的文件，靠后的 drop-in 或启动参数优先。而做出设置的人以为它已生效。',
    fix: '将设置放到该镜像读取的位置（Amazon Linux 2023 为 NodeConfig，Bottlerocket 为 settings.kubernetes，EC2NodeClass 为 spec.kubelet），去掉覆盖它的内容，并更换节点。',
  },
  'memory-cgroup-leak': {
    title: '内核泄漏 memory cgroup',
    why: '在 cgroup v1 上启用内核内存统计的 3 和 4 版内核会保留已删除的 memory cgroup 的 id。65535 个全部用完后，任何容器都无法启动（“cannot allocate memory”、“no space left on device”、“SLUB: Unable to allocate memory”），直到节点重启。在 cgroup v2 上 id 会被收回，但只要还有内存页计在已删除的 cgroup 上，它就会一直保留，其内存不属于任何 Pod。',
    fix: '改用带 cgroup v2 的 5.4 或更高版本内核；旧内核以 cgroup.memory=nokmem 启动。id 即将用完的节点应重启。在 cgroup v2 上，查明是什么在创建和删除如此多的 cgroup（崩溃的容器、探针、Job），并改用更新的内核。',
  },
  'missing-enforced-cgroup': {
    title: '强制执行预留，但未指定对应的 cgroup',
    why: '若 enforceNodeAllocatable 包含 system-reserved 或 kube-reserved，而未指定这些守护进程的 cgroup，kubelet 会拒绝启动。',
    fix: '在 systemReservedCgroup 或 kubeReservedCgroup 中指定一个确实存在的 cgroup，或仅对 pods 强制执行。',
  },
  'missing-system-reserved': {
    title: '没有为系统预留内存',
    why: '调度器会将节点填充到其 allocatable 内存为止。kubelet、运行时和系统在此之外使用的内存，来自已承诺给 Pod 的部分：Pod 即使没有超出 requests，节点也会陷入内存压力，或由内核终止进程。',
    fix: '在 kubeReserved 和 systemReserved 中预留内存：守护进程的最大用量加上驱逐阈值。EKS 镜像在 kubeReserved 中预留 255 Mi，另加每个 Pod 11 Mi。',
  },
  'oom-before-eviction': {
    title: '内核在 kubelet 驱逐之前就因内存不足终止进程',
    why: '没有硬 memory.available 阈值时，内存耗尽之际没有任何机制立即动作：软阈值要先等待其宽限期。内核此时按 OOM score 选择，不留宽限期地终止单个进程，其容器又在同一个已满的节点上重新启动。',
    fix: '设置 evictionHard memory.available，并为守护进程预留内存。',
  },
  'peer-drift': {
    title: '节点的 GC、驱逐、日志或预留设置与同组节点不同',
    why: '同一 nodegroup 的节点应当一致。被手工修改过或错过某次变更的节点，进入压力的位置与同组节点不同。以多数节点为准，除非声明的内容或策略的 baseline 表明少数节点才是正确的。',
    fix: '在该组节点的来源处（launch template、NodeConfig、EC2NodeClass）设置，并更换存在差异的节点。',
  },
  'reservation-without-eviction': {
    title: '内存预留没有为驱逐阈值留出空间',
    why: '必须保持可用的内存谁也不能使用：若守护进程占用 1 GiB，且低于 500 MiB 时驱逐，则预留应为 1.5 GiB。只有硬阈值会自动从 allocatable 中扣除，因此预留更少时，软阈值或守护进程略微增加的用量，就会驱逐用量并未超出节点所提供资源的 Pod。',
    fix: '将 kubeReserved 和 systemReserved 合计设为守护进程的内存加上最高的 memory.available 阈值。',
  },
  'reserved-below-eks-formula': {
    title: '预留少于 EKS 镜像在相同 Pod 数和核数下的预留',
    why: 'EKS 镜像预留 255 Mi 加每个 Pod 11 Mi，以及第一个核的 6 %、第二个核的 1 %、其后两个核的 0.5 % 和其余核的 0.25 %：大约是节点满载 Pod 时 kubelet 和运行时所需的量。maxPods 被调高的节点仍保留按旧数量计算的预留。',
    fix: '将 kubeReserved 提高到该公式的值，或将 maxPods 降到预留所对应的数量。',
  },
  'reserved-below-real-usage': {
    title: '守护进程的内存用量超出预留',
    why: 'kubelet 和运行时超出 kubeReserved 和 systemReserved 的用量，占用的是已承诺给 Pod 的资源。在满载的节点上，即使每个 Pod 都在 requests 之内，memory.available 也会低于其阈值。',
    fix: '将预留提高到守护进程的用量以上，并为驱逐阈值留出空间；或查明它们为何用量如此之大。',
  },
  'unread-node': {
    title: '节点未能完整读取',
    titles: {
      'A kubelet that does not tell what the node itself has told':
        'kubelet 没有提供节点自身已提供的信息',
      'A node of a kind that does not tell all of itself': '该类节点本就不提供全部信息',
      'A kubelet does not answer: nothing listens on port 10250':
        'kubelet 无响应：端口 10250 无人监听',
    },
    why: '未读取的内容没有判定。需要这些内容的规则在此均为未知，而未知不等于通过。',
    fix: '查看原因：若被禁止，授予 get nodes/proxy，或授予模式 ssm 和 kubelet 所需的权限（缺少什么见 highwater doctor）；若 kubelet 无响应，在节点上查看其日志（journalctl -u kubelet）。',
  },
  'unsafe-enforced-reservation': {
    title: '守护进程的预留成为其内存或进程数的硬限制',
    why: '强制执行 system-reserved 或 kube-reserved 会使该预留成为相应 cgroup 的限制。需要更多资源的守护进程，即使节点还有内存，也会被内核终止，或无法 fork；若其中包含运行时或 kubelet，整个节点都会失效。',
    fix: '仅对 pods 强制执行；自 kubelet 1.32 起，system-reserved-compressible 和 kube-reserved-compressible 只限制 cpu。',
  },
  'unsupported-version': {
    title: 'kubelet 的版本不在已知范围内',
    why: '对该节点的判定采用已知范围 1.24 至 1.37 中最接近版本的规则：阈值、默认值和顺序可能不同。比这更旧的 kubelet 已无人提供修复。比其控制平面更新的 kubelet，或旧三个 minor 以上（控制平面 1.28 之前为两个）的 kubelet，也无人测试。延长支持在版本发布 26 个月后结束，届时 EKS 会自行升级控制平面而不改动节点：差距会扩大。',
    fix: '旧 kubelet 随其节点升级；若 kubelet 较新，则升级 highwater。先升级控制平面，再升级节点。',
  },
  'version-skew-drift': {
    title: '同一组的节点运行不同的 AMI 版本或 kubelet minor 版本',
    why: '中途停止的滚动更新会留下两种节点。不同的发布版本和 minor 版本默认值不同，因此同一个 Pod 在不同节点上会遇到不同的阈值。Karpenter 逐个更换节点，因此存在一定的版本差异属于正常。',
    fix: '完成该 nodegroup 的更新（aws eks update-nodegroup-version）；检查是否有 PodDisruptionBudget 阻碍更新。',
  },
}
