/** Korean: rules on what pods, Jobs and controllers leave behind. */
import type { RuleTexts } from '#report/languages/language.ts'

export const workloads: RuleTexts = {
  'evicted-pods': {
    title: '노드가 축출한 Pod가 남아 있습니다',
    why: 'kubelet은 축출한 Pod를 실패 상태로 만들 뿐 삭제하지 않습니다. ReplicaSet은 새 Pod를 만들고 이전 Pod는 그대로 둡니다. 압박이 반복되는 만큼 쌓이며, Pod GC가 축출된 것부터 정리할 때까지 남습니다.',
    fix: '축출을 일으키는 압박을 해소한 다음(방법은 분류 eviction의 발견 항목에 있습니다) 남은 Pod를 삭제하십시오.',
  },
  'failed-pods': {
    title: '실패한 Pod가 남아 있습니다',
    why: '실패한 Pod는 자신의 컨트롤러만 삭제하며 ReplicaSet은 그대로 둡니다. Pod GC는 클러스터 전체에서 수천 개가 될 때까지 기다립니다. 그때까지 목록과 대시보드를 채우고, 로그는 노드의 디스크를 차지합니다.',
    fix: '실패한 이유를 확인한 다음 Pod 또는 Pod를 만든 것을 삭제하십시오.',
  },
  'job-history-beyond-limit': {
    title: 'CronJob이 완료된 Job을 필요 이상으로 보관합니다',
    why: 'CronJob은 자신을 처리할 때마다 보관 한도를 넘는 가장 오래된 완료 Job을 삭제합니다. 한도보다 많다는 것은 그 처리까지 이르지 못한다는 뜻입니다. 한도가 기본값보다 훨씬 크면 그만큼의 Pod가 로그와 함께 노드에 남습니다.',
    fix: 'successfulJobsHistoryLimit과 failedJobsHistoryLimit을 실제로 확인하는 수로 설정하십시오(업스트림: 3과 1). 한도보다 많이 남아 있으면 CronJob의 이벤트를 확인하십시오.',
  },
  'job-without-ttl': {
    title: 'TTL이 없는 완료된 Job이 계속 남습니다',
    why: '완료된 Job을 없애는 것은 소유자(보관 한도가 있는 CronJob 등) 또는 ttlSecondsAfterFinished뿐입니다. 둘 다 없으면 Job이 남고, 그 Pod와 로그, 노드의 종료된 컨테이너도 함께 남아 Pod GC 임계값의 일부를 차지합니다.',
    fix: 'Job을 만드는 곳에서 ttlSecondsAfterFinished를 설정하십시오. 이미 완료된 Job에도 설정할 수 있으며, 그러면 삭제됩니다.',
  },
  'orphaned-dependent': {
    title: '컨트롤러가 만든 오브젝트에 소유자가 없습니다',
    why: '--cascade=orphan으로 삭제된 소유자는 자신이 만든 것을 소유자 없이 남깁니다. selector가 일치하는 새 컨트롤러가 이를 인계받습니다. 그렇지 않으면 아무도 업데이트하지 않고, 교체하지 않고, 수집하지 않습니다. 소유자 없는 Pod와 ReplicaSet은 계속 실행됩니다.',
    fix: '일치하는 selector로 컨트롤러를 다시 만들거나 남은 것을 삭제하십시오.',
  },
  'overdue-job-ttl': {
    title: 'Job이 TTL이 지나도 남아 있습니다',
    why: 'TTL 컨트롤러는 시간이 지난 완료 Job을 foreground로 삭제하며, Job은 그 Pod 다음에 사라집니다. 아직 있는 Job은 finalizer나 사라지지 않는 Pod가 붙잡고 있거나, 컨트롤러가 처리에 이르지 못한 것입니다.',
    fix: 'Job이 삭제 중이면 finalizer와 멈춰 있는 Pod를 확인하십시오. 삭제 중이 아니면 admission webhook이 삭제를 거부하는지 확인하십시오.',
  },
  'pod-stuck-terminating': {
    title: 'Pod 삭제가 멈춰 있습니다',
    why: '삭제 중인 Pod는 kubelet이 종료하고 finalizer가 모두 사라지면 삭제됩니다. 어느 하나라도 오지 않으면 남습니다. StatefulSet은 새 Pod를 만들지 않고, 볼륨은 연결된 채로 남으며, 노드는 drain되지 않습니다.',
    fix: '노드를 복구하거나 삭제하십시오. 확실히 꺼진 노드라면 node.kubernetes.io/out-of-service taint를 붙이십시오. finalizer라면 그것을 제거해야 할 컨트롤러를 확인하십시오. 확실히 실행되지 않는 것만 강제로 삭제하십시오.',
  },
  'revision-history-beyond-limit': {
    title: '이전 리비전이 보관 한도보다 많이 남아 있습니다',
    why: 'Deployment는 rollout이 완료되어야 가장 오래된 ReplicaSet을 삭제하며, 아직 replica가 있는 것은 건너뜁니다. rollout이 완료되지 않으면 그때마다 이력이 늘어납니다. StatefulSet과 DaemonSet은 어떤 Pod도 사용하지 않는 ControllerRevision만 셉니다.',
    fix: '멈춘 rollout을 완료하거나 되돌리십시오. 한도가 없거나 매우 크면 revisionHistoryLimit을 실제로 롤백할 만큼으로 설정하십시오(업스트림: 10).',
  },
  'suspended-leftover': {
    title: 'CronJob과 Job이 몇 달째 일시 중지되어 있습니다',
    why: '일시 중지된 것은 아무 일도 하지 않고 아무도 수집하지 않습니다. CronJob은 마지막 Job들과 그 Pod를 유지하고, Job은 누군가 실행시키기를 기다립니다.',
    fix: '다시 실행하거나 삭제하십시오.',
  },
  'terminated-pods-near-threshold': {
    title: '종료된 Pod가 곧 개수 기준으로 삭제됩니다',
    why: '임계값을 넘으면 Pod GC가 클러스터 전체에서 완료된 Pod를 축출된 것부터, 오래된 순서로, 무엇이든 삭제합니다. 누군가 아직 기다리는 Job의 로그와 종료 코드도 포함됩니다.',
    fix: '완료된 Pod가 각자의 기준으로 정리되게 하십시오: Job의 TTL, CronJob의 더 작은 보관 한도, 실패한 Pod의 삭제. EKS에서는 임계값 자체를 설정할 수 있습니다(kubeControllerManagerConfig).',
  },
}
