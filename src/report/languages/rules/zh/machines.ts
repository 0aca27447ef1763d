/** Simplified Chinese: rules on what nodes, instances and volumes leave behind. */
import type { RuleTexts } from '#report/languages/language.ts'

export const machines: RuleTexts = {
  'instance-without-node': {
    title: '集群的实例不是其节点',
    why: '带有集群标签的实例应当是该集群的节点。从未加入的实例，或者仍在运行而其 Node 已被删除的实例，会产生费用却不运行任何 Pod；既然无人看到它，也就无人为它打补丁。',
    fix: '查看实例的控制台输出及其 kubelet 日志，查明未加入的原因（bootstrap、access entry、网络），或终止该实例。若为其他用途而启动，则不应带有集群的标签。',
  },
  'leftover-lease': {
    title: '已消失节点的 Lease 仍然存在',
    why: 'kubelet 会将其节点设为 Lease 的所有者，只设一次，Lease 随节点一起消失。没有所有者的 Lease 在节点消失后仍会保留：没有组件回收它。仍有所有者却长期保留的 Lease 则是被遗漏了：垃圾收集器没有处理到它，或无权删除它。',
    fix: '删除节点已消失的 Lease；若不断出现新的，查明还有谁在写入 kube-node-lease。若 Lease 有所有者，查明垃圾收集器为何不工作（无响应的 API 组、拒绝请求的 webhook）。',
  },
  'leftover-taint': {
    title: 'Ready 节点仍带有已结束问题的 taint',
    why: '针对非 Ready、新加入云端、已关机、有压力、被 cordon、out-of-service 或即将移除的节点的 taint，会在相应情况结束后消失：由控制器移除；out-of-service 则由设置它的人移除。已宣布要移除某节点的 autoscaler，会将其移除或撤回 taint。残留的 taint 会使 Pod 避开正常的节点，或反复将 Pod 赶走。',
    fix: '确认节点正常，然后移除该 taint。',
  },
  'node-not-ready-long': {
    title: '节点长期未 Ready 且无人删除',
    why: '云端的节点生命周期控制器只在实例消失后才删除 Node。实例仍然存在的 Node，或没有实例的 Node，会一直保留：产生费用，占用 Lease 和卷，其 Pod 卡在删除中。',
    fix: '查明其 kubelet 为何不上报（node auto repair 会更换该节点），或删除该 Node 及其实例。',
  },
  'node-without-instance': {
    title: '实例已消失的节点仍然存在',
    why: '节点非 Ready 且其实例已不存在时，云端的节点生命周期控制器会在数秒内删除该 Node。仍然保留的 Node 会使其 Pod、Lease 和卷无法消失，StatefulSet 也在等待它们。原因是有 finalizer 阻止，或其 provider ID 指向的实例与原来的不同。',
    fix: '删除该 Node；若随后卡在删除中，检查其 finalizer（若为 Karpenter 的：Karpenter 是否还在？）。',
  },
  'released-volume': {
    title: '卷在 claim 删除后仍存在并产生费用',
    why: 'claim 消失后，策略为 Retain 的 PersistentVolume 会变为 Released 并保持不变：没有新的 claim 能获得它，无人删除它，其磁盘也会一直产生费用，直到有人将磁盘也删除。',
    fix: '确认数据是否仍然需要。若需要，清空 spec.claimRef，使 claim 可以使用该卷；否则先删除 PersistentVolume，再删除其背后的磁盘。',
  },
  'retained-ephemeral-volume': {
    title: '临时卷比其 Pod 存在得更久',
    why: 'generic ephemeral volume 的 claim 会随其 Pod 消失。卷的 reclaim policy 来自其 StorageClass，或来自之后修改它的人；若为 Retain，卷及其磁盘会保留。若 StorageClass 为 Retain，每个 Pod 来去一次就留下一个。',
    fix: '让临时卷使用 reclaimPolicy 为 Delete 的 StorageClass。若只有卷自身为 Retain，且无人需要其数据，请把 persistentVolumeReclaimPolicy 改回。',
  },
  'unattached-disk': {
    title: '集群的磁盘未挂载且不属于任何 claim',
    why: '带有集群标签的 EBS 卷是为该集群创建的。若没有 PersistentVolume 引用它，它就是在其对象被强制删除时、在其策略为 Retain 时，或由某个节点遗留的；无人会再挂载它，却仍在产生费用。PersistentVolume 为 Available 的磁盘也是如此：没有 claim 使用它。',
    fix: '从其标签查明它曾属于哪个 claim。若数据可能需要，创建快照，然后将其删除；若有 PersistentVolume 引用它，先删除该 PersistentVolume。',
  },
  'unrenewed-lease': {
    title: '节点长期未续约 Lease',
    why: 'kubelet 每 10 秒续约一次 Lease。Lease 如此陈旧的节点，没有能连到 API 服务器的 kubelet：其 Pod 仍被计数，而是否在运行无从得知。',
    fix: '恢复该节点，或删除 Node 对象：其 Lease 和 Pod 随之消失。',
  },
  'volume-held-in-deletion': {
    title: '卷或 claim 卡在删除中',
    why: 'claim 要等到没有 Pod（包括已结束的 Pod）使用它之后才会消失，卷要等到不再绑定之后才会消失。在此之前，两者各由一个 finalizer 保护。其数据看似安全，其实不然：最后一个 Pod 消失的那一刻，数据也会消失。',
    fix: '若数据仍然需要，立即复制：删除无法撤回。否则删除使用该 claim 的 Pod，包括已结束的 Pod；若为其他 finalizer，查找本应移除它们的驱动。',
  },
  'volume-not-deleted': {
    title: '已释放的卷应被删除却仍然存在',
    why: '策略为 Delete 的卷会随其 claim 消失：其驱动在数分钟内删除磁盘和对象。一直停留在 Released 或 Failed 的卷，其驱动可能已消失、无权删除磁盘，或发现磁盘仍处于挂载状态或带有快照；也可能根本没有能删除它的组件。',
    fix: '查看该卷的事件和驱动的 provisioner 日志（EBS 为 ebs-csi-controller），并修复其所述的问题：其角色、某个挂载，或驱动本身。',
  },
}
