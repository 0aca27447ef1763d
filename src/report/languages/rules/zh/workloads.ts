/** Simplified Chinese: rules on what pods, Jobs and controllers leave behind. */
import type { RuleTexts } from '#report/languages/language.ts'

export const workloads: RuleTexts = {
  'evicted-pods': {
    title: '被节点驱逐的 Pod 仍然存在',
    why: 'kubelet 将被驱逐的 Pod 置为失败，但从不删除；ReplicaSet 会新建一个，旧的留在原处。压力每出现一次就堆积一批，直到 pod GC 将其删除，被驱逐的最先删除。',
    fix: '消除引发驱逐的压力（方法见 eviction 类别的发现项），然后删除其遗留的 Pod。',
  },
  'failed-pods': {
    title: '失败的 Pod 仍然存在',
    why: '除了自身的控制器，没有组件会删除失败的 Pod，而 ReplicaSet 会将其留下：pod GC 要等到整个集群累积数千个才启动。在此之前，它们充斥列表和仪表盘，其日志占用所在节点的磁盘。',
    fix: '查明失败原因，然后删除这些 Pod，或删除创建它们的对象。',
  },
  'job-history-beyond-limit': {
    title: 'CronJob 保留的已完成 Job 过多',
    why: 'CronJob 每次检查自身状态时，都会删除超出历史上限的最早的已完成 Job。超出上限说明它没有执行到这一步；上限远高于默认值则会使同样多的 Pod 及其日志留在节点上。',
    fix: '将 successfulJobsHistoryLimit 和 failedJobsHistoryLimit 设为确实有人查看的数量（上游：3 和 1）。若数量超出上限，查看该 CronJob 的事件。',
  },
  'job-without-ttl': {
    title: '没有 TTL 的已完成 Job 会一直保留',
    why: '只有其所有者（例如带历史上限的 CronJob）或 ttlSecondsAfterFinished 能清除已完成的 Job。两者都没有时它会一直保留，其 Pod、这些 Pod 在节点上的日志和已退出的容器，以及它们在 pod GC 阈值中所占的份额也一并保留。',
    fix: '在创建 Job 的地方设置 ttlSecondsAfterFinished；对已完成的 Job 仍可设置，设置后即会将其清除。',
  },
  'orphaned-dependent': {
    title: '控制器创建的对象没有所有者',
    why: '以 --cascade=orphan 删除所有者时，它创建的对象会留下且没有所有者。selector 匹配的新控制器会接管它们；否则无人更新、无人更换、也无人回收。成为孤儿的 Pod 和 ReplicaSet 会继续运行。',
    fix: '以匹配的 selector 重新创建控制器，或删除遗留的对象。',
  },
  'overdue-job-ttl': {
    title: 'Job 超过其 TTL 仍然存在',
    why: 'TTL 控制器在时间到期后以 foreground 方式删除已完成的 Job：Job 在其 Pod 之后消失。仍然存在的 Job，是被 finalizer 阻止，或被未消失的 Pod 阻止，或者控制器没有处理到它。',
    fix: '若该 Job 正在删除，检查其 finalizer 以及卡住的 Pod。若不在删除，检查是否有 admission webhook 拒绝删除。',
  },
  'pod-stuck-terminating': {
    title: 'Pod 卡在删除中',
    why: '正在删除的 Pod 要等到 kubelet 将其结束且其 finalizer 消失后才会消失。缺少任何一项，它就会一直保留：其 StatefulSet 不会新建 Pod，其卷保持挂载，其节点无法 drain 完成。',
    fix: '恢复或删除节点；若确定节点已关机，为其打上 taint node.kubernetes.io/out-of-service。若为 finalizer，查找本应移除它的控制器。仅对确定没有运行的 Pod 强制删除。',
  },
  'revision-history-beyond-limit': {
    title: '旧修订版本的数量超出历史上限',
    why: 'Deployment 只在 rollout 完成后才删除最早的 ReplicaSet，并跳过仍有副本的 ReplicaSet：若 rollout 从未完成，每次 rollout 都会使历史增长。StatefulSet 和 DaemonSet 只计算没有 Pod 使用的 ControllerRevision。',
    fix: '完成或撤销卡住的 rollout。若没有上限或上限很高，将 revisionHistoryLimit 设为确实会回滚到的版本数（上游：10）。',
  },
  'suspended-leftover': {
    title: 'CronJob 和 Job 已暂停数月',
    why: '已暂停的对象什么也不做，也没有组件回收：CronJob 保留其最近的 Job 及这些 Job 的 Pod，Job 则等待有人让它运行。',
    fix: '恢复运行，或将其删除。',
  },
  'terminated-pods-near-threshold': {
    title: '已结束的 Pod 即将按数量被删除',
    why: '超过阈值后，pod GC 会删除整个集群中最早的已结束 Pod，被驱逐的最先删除，无论它们是什么：其中也包括仍有人等待的 Job 的日志和退出码。',
    fix: '让已结束的 Pod 按各自的方式清除：为 Job 设置 TTL，缩小 CronJob 的历史，删除失败的 Pod。EKS 允许设置该阈值本身（kubeControllerManagerConfig）。',
  },
}
