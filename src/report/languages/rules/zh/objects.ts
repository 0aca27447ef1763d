/** Simplified Chinese: rules on owners, deletions and the control plane. */
import type { RuleTexts } from '#report/languages/language.ts'

export const objects: RuleTexts = {
  'blocked-foreground-deletion': {
    title: 'foreground 删除正在等待其从属对象',
    why: '以 foreground 方式删除的对象会一直保留，直到引用中带有 blockOwnerDeletion 的从属对象全部消失。只要有一个从属对象不消失，该对象及其名称就会一直被占用。',
    fix: '查明从属对象为何不消失：它自身的 finalizer、已消失的节点、拒绝请求的 webhook。或者从该从属对象的引用中去掉 blockOwnerDeletion：所有者就不再等它，直接消失。',
  },
  'dangling-owner': {
    title: '所有者已消失的对象仍然存在',
    why: '所有者全部消失后，垃圾收集器会在数秒内删除对象；所有者以 UID 为准，同名的新对象不算。仍然存在的对象没有被回收：删除被拒绝，或者垃圾收集器无法看到全部 API 组而在等待。',
    fix: '查看该对象的事件和拒绝删除的 admission webhook，以及所有 API service 是否可用。若需要该对象，去掉其引用，或填写新所有者的 UID。',
  },
  'expired-identity-lease': {
    title: '已消失 API 服务器的 Lease 仍然存在',
    why: '每个 kube-apiserver 会回收其他 kube-apiserver 已过期的 identity Lease，但仅限带有自身版本标签的 Lease：旧版本以其他标签留下的会一直保留。带有当前标签却长期存在的，是所有 API 服务器都漏掉的。',
    fix: '将其删除。除了据此统计 API 服务器数量的一方，它们对谁都没有危害。若带有当前标签，请查明 API 服务器为何不删除它们（例如有 webhook 拒绝）。',
  },
  'garbage-collection-failing': {
    title: '控制平面报告无法回收',
    why: '回收器通过事件说明哪些对象无法删除，或哪些对象的所有者不在其引用所指之处。所有者若在另一个命名空间，垃圾收集器找不到它；若没有其他存在的所有者，就会删除引用它的对象。',
    fix: '阅读消息：为对象指定其自身命名空间内的所有者或不指定所有者，让存储驱动删除其卷，或修复拒绝删除的 webhook。',
  },
  'misplaced-owner': {
    title: '对象引用了不可能存在于该处的所有者',
    why: '所有者必须位于对象自身的命名空间内，或不属于任何命名空间。位于另一个命名空间的所有者会在错误的位置被查找，因而找不到：垃圾收集器会删除该对象，若它还有其他所有者存在，则只去掉该引用。集群级对象的所有者若在命名空间内，则根本无法查找：此类对象永远不会被回收。',
    fix: '去掉该引用，或为对象指定可以成立的所有者；修复写入此类引用的组件。',
  },
  'namespace-stuck-terminating': {
    title: '命名空间卡在删除中',
    why: '命名空间要等到其中属于服务器所知每个 API 组的全部内容都消失后才会消失。一个对象带有无人移除的 finalizer 就会阻止它；一个 API 组的服务器无响应也会阻止它：此时在任何命名空间中都无法得知还剩下什么。',
    fix: '命名空间自身的 condition 会说明是什么在阻止它。若为 discovery 失败：恢复该 API service，或在无人需要时将其删除。若为残留的内容或 finalizer：找到这些对象以及本应放行的控制器。若为命名空间自身的 finalizer：找到设置它的控制器。切勿清空 spec.finalizers：残留的内容会永久保留，且无法看到。',
  },
  'pending-certificate-request': {
    title: '证书请求在等待，无人答复',
    why: '证书请求由控制器或人员批准，随后由其 signer 签发。若无人处理，请求方会不断请求：没有 serving 证书的 kubelet 无法用于获取日志、exec 和指标，且每次尝试都会再留下一个请求，直到一天后由 cleaner 删除。',
    fix: '查找该 signer 的批准方。EKS 只批准其已知节点的 kubelet-serving 请求，且仅限这些节点拥有的名称和地址：将请求与其节点进行对照。',
  },
  'stuck-finalizer': {
    title: 'finalizer 阻止了已删除对象的清理',
    why: '正在删除的对象会一直保留，直到其每个 finalizer 都由设置它的控制器移除。若该控制器已消失或出现故障，对象会永久保留，其命名空间、其所有者或其所代表的机器也随之保留。',
    fix: '恢复该控制器，或修复其日志所述的问题。仅当它永久消失，且它本应清理的内容已手工清理后，才移除该 finalizer。',
  },
  'unanswered-api-group': {
    title: 'API 组无响应，导致命名空间无法删除',
    why: 'API 组可能由集群内的程序提供（APIService）。在其无响应期间，控制平面不知道其中有什么：正在删除的命名空间无论曾包含什么都不会消失，垃圾收集器也既不回收该组中的对象，也不在其中查找所有者。',
    fix: '恢复 APIService 背后的 Service；若其用途已不存在，则删除该 APIService。',
  },
  'uncollected-certificate-request': {
    title: '已答复的证书请求仍然存在',
    why: 'cleaner 每小时运行一次，删除签发、拒绝或失败已超过一小时的请求，以及等待了一天的请求。连续两轮都跳过的请求，它不会再删除。1.35 之前，它从不删除已批准但未签发的请求。',
    fix: '将其删除：请求一旦得到答复就不再有用。若不断有新的残留，检查是否有 admission webhook 拒绝删除。',
  },
  'unserved-owner': {
    title: '没有 API 提供对象所有者的类型',
    why: '垃圾收集器按类型查找所有者。若没有 API 提供该类型（其 CustomResourceDefinition 已删除，或引用所写的版本在某次升级后已消失），它就无法判断所有者是否已消失，会一直重试：此类对象永远不会被回收，即使其所有者全部消失也不会。',
    fix: '若对象的用途已不存在，将其删除；或去掉引用；或将引用改为仍有 API 提供的版本。',
  },
}
