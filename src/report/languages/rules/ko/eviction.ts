/** Korean: rules on eviction. */
import type { RuleTexts } from '#report/languages/language.ts'

export const eviction: RuleTexts = {
  'absolute-threshold-on-mixed-disks': {
    title: '크기가 크게 다른 디스크에 같은 절대값의 축출 임계값을 사용합니다',
    why: '큰 디스크의 10분의 1이 작은 디스크에서는 절반입니다. 그룹의 작은 노드는 절반이 비어 있는데도 축출하거나, 큰 노드는 남는 공간이 거의 없습니다.',
    fix: '그룹에 여러 크기의 디스크가 있으면 디스크 임계값을 백분율로 지정하거나 그룹을 나누십시오.',
  },
  'critical-pod-among-first-victims': {
    title: '노드에 필요한 Pod가 가장 먼저 축출될 대상에 있습니다',
    why: 'static Pod와 우선순위가 2000000000 이상인 Pod만 축출되지 않습니다. 그 우선순위가 없는 kube-system의 DaemonSet Pod(또는 정책의 criticalPods에 지정된 Pod)는 다른 Pod와 똑같이 축출되며, 여기서는 처음 세 개 안에 있습니다. 축출되면 노드의 네트워크, 볼륨 또는 DNS도 함께 사라집니다.',
    fix: 'priorityClassName system-node-critical(또는 system-cluster-critical)과 실제 사용량을 포함하는 requests를 지정하십시오.',
  },
  'eviction-due': {
    title: '축출 임계값에 도달하여 kubelet이 축출합니다',
    why: '노드가 지금 임계값 아래에 있습니다. condition을 보고하고 taint가 붙고 Pod를 거부하며, 다시 임계값 위로 올라갈 때까지 Pod를 하나씩 축출합니다.',
    fix: '즉시 공간을 확보하십시오. 크고 필요 없는 것을 삭제하거나 노드를 drain하십시오. 그다음 무엇이 증가하는지와 임계값을 확인하십시오.',
  },
  'eviction-loop': {
    title: '같은 소유자의 Pod가 이 노드에서 반복해서 축출됩니다',
    why: 'kubelet이 축출한 Pod를 소유자가 다시 만들고, 새 Pod가 노드를 다시 채웁니다. 모든 DaemonSet의 Pod처럼 압박 taint를 허용(tolerate)하는 Pod는 곧바로 같은 노드로 돌아옵니다. 압박이 계속되는 동안 kubelet은 들어오는 Pod를 거부하며, 이것도 축출로 집계됩니다.',
    fix: '컨테이너에 실제 사용량을 포함하는 ephemeral-storage(또는 메모리) requests와 limits를, emptyDir 볼륨에 sizeLimit을 지정하십시오. node.kubernetes.io/disk-pressure, memory-pressure, pid-pressure에 대한 toleration과 operator가 Exists이고 key가 없는 toleration을 제거하십시오. DaemonSet에는 템플릿과 관계없이 이 toleration이 추가됩니다.',
  },
  'grace-longer-than-fill-time': {
    title: '소프트 임계값의 유예 시간이 끝나기 전에 디스크가 가득 찹니다',
    why: '소프트 임계값은 유예 시간 내내 도달 상태여야 축출합니다. 디스크가 그보다 짧은 시간에 소프트 임계값에서 하드 임계값까지 증가하면 하드 임계값이 기다리지 않고 먼저 동작하고, 소프트 임계값은 condition과 taint에 그칩니다. 하드 임계값이 없으면 그때 디스크는 가득 차 있습니다.',
    fix: '해당 시그널의 evictionSoftGracePeriod를 줄이거나 evictionSoft를 evictionHard보다 더 높게 설정하십시오. 디스크 증가량의 가정값은 정책의 assumedGrowthPercent입니다.',
  },
  'local-storage-limit-exceeded': {
    title: 'Pod가 자신의 로컬 스토리지 한도를 초과하여 kubelet이 축출합니다',
    why: 'ephemeral-storage의 limits와 emptyDir 볼륨의 sizeLimit은 노드의 압박 여부와 관계없이 축출 점검마다 확인됩니다. 한도를 넘은 Pod는 즉시 축출되고, 소유자가 만든 다음 Pod가 다시 채웁니다.',
    fix: 'Pod에 필요한 만큼 한도를 올리거나 적게 기록하도록 하십시오. 표준 출력의 로그도 포함됩니다.',
  },
  'lost-default-threshold': {
    title: '기본 축출 임계값이 사라졌고 대신 감시하는 것이 없습니다',
    why: 'evictionHard를 설정하는 kubelet 설정은 기본값 맵 전체를 대체하므로, 이름이 없는 시그널은 꺼집니다. 그 시그널이 감시했을 것은 축출 없이 가득 찰 수 있습니다.',
    fix: '기본값을 포함한 모든 시그널을 evictionHard에 적거나 mergeDefaultEvictionSettings: true(kubelet 1.33 이상)를 설정하십시오. 끄려는 시그널은 0%로 적습니다.',
  },
  'memory-threshold-too-small': {
    title: '메모리 임계값이 kubelet 기본값보다 작습니다',
    why: '축출 매니저는 10초마다 확인합니다. 임계값이 남겨 두는 메모리가 적을수록 두 번의 확인 사이에 커널의 메모리가 고갈되어, kubelet이 Pod를 축출하는 대신 커널이 자체 순서로 프로세스를 종료할 가능성이 커집니다.',
    fix: 'evictionHard memory.available을 100Mi 이상으로, 사용량이 급증하는 큰 노드에서는 수백 MiB로 설정하십시오.',
  },
  'pods-without-ephemeral-requests-first': {
    title: '디스크 압박 시 ephemeral storage를 요청하지 않은 작은 Pod가 먼저 축출됩니다',
    why: '요청보다 많은 로컬 스토리지를 사용하는 Pod는 그렇지 않은 Pod보다, 각각의 사용량과 관계없이 먼저 축출됩니다. 요청이 없으면 1바이트라도 초과입니다. 여기서는 디스크를 거의 쓰지 않는 Pod가 많이 차지하는 Pod보다 먼저 축출되며, 확보되는 공간은 적습니다.',
    fix: 'Pod에 로그, 쓰기 가능 레이어, emptyDir 볼륨을 포함하는 ephemeral-storage 요청을 지정하십시오(LimitRange로 네임스페이스의 기본값을 정할 수 있습니다).',
  },
  'short-transition-period': {
    title: '압박 상태 이후 노드가 너무 빨리 다시 Pod를 받습니다',
    why: 'evictionPressureTransitionPeriod는 임계값에 마지막으로 도달한 뒤 condition이 유지되는 시간입니다. 기본값이자 image GC의 한 주기인 5분보다 짧으면, 축출 외에 아무것도 공간을 확보하기 전에 스케줄러가 Pod를 돌려보냅니다. 축출, 재스케줄링, 축출이 반복됩니다.',
    fix: 'evictionPressureTransitionPeriod를 5m0s로 설정하거나 생략하십시오.',
  },
  'soft-threshold-without-grace': {
    title: '소프트 축출 임계값에 유예 시간이 없어 하드 임계값처럼 동작합니다',
    why: 'kubelet은 유예 시간만으로 하드와 소프트를 구분합니다. 0s이면 임계값 아래로 내려간 첫 점검에서 축출하며, 1.31부터는 Pod에 종료할 시간도 주지 않습니다.',
    fix: '해당 시그널에 evictionSoftGracePeriod의 시간을 지정하거나, 하드가 의도라면 임계값을 evictionHard로 옮기십시오.',
  },
  'unreachable-min-reclaim': {
    title: '최소 회수량이 있는 양보다 큽니다',
    why: '시그널이 임계값에 도달하면 임계값과 최소 회수량을 합한 만큼 사용 가능해질 때까지 도달 상태로 봅니다. 그 합이 전체 용량 이상이면 결코 그렇게 되지 않습니다. kubelet은 축출할 수 있는 Pod를 모두 축출하고 condition은 그대로 남습니다.',
    fix: '해당 시그널의 evictionMinimumReclaim을 용량의 몇 퍼센트로 낮추십시오.',
  },
  'unreachable-soft-threshold': {
    title: '소프트 축출 임계값이 결코 효력을 갖지 못합니다',
    why: '같은 시그널의 하드 임계값에 먼저 도달하므로 Pod는 소프트 임계값이 약속하는 유예 시간을 잃습니다.',
    fix: '해당 시그널의 evictionSoft를 evictionHard보다 높게 설정하거나 제거하십시오.',
  },
  'unwatched-imagefs': {
    title: '이미지 디스크를 감시하는 축출 임계값이 없습니다',
    why: '이미지가 별도의 파일시스템에 있고 적용 중인 imagefs.available 임계값이 없습니다. nodefs 임계값은 이를 보지 못합니다. 가득 차면 노드는 DiskPressure 없이 Ready로 남고 이미지 pull과 컨테이너의 쓰기는 실패합니다. 모두가 쓰는 디스크 하나는 둘 중 어느 것이든 감시하지만, 둘 다 꺼져 있으면 감시하는 것이 없습니다.',
    fix: 'evictionHard imagefs.available(및 imagefs.inodesFree)을 맵의 다른 시그널과 함께 설정하십시오. 맵은 전체가 대체됩니다.',
  },
  'unwatched-inodes': {
    title: '파일시스템의 inode가 감시 없이 고갈될 수 있습니다',
    why: '이 파일시스템에 적용 중인 inodesFree 임계값이 없습니다. 많은 작은 파일이 바이트가 남아 있는데도 inode를 모두 사용합니다. 쓰기는 "no space left on device"로 실패하고 노드는 DiskPressure를 보이지 않습니다. image GC는 바이트만 봅니다.',
    fix: 'evictionHard nodefs.inodesFree(이미지가 별도 디스크에 있으면 imagefs.inodesFree)를 맵의 다른 시그널과 함께 5%로 설정하십시오.',
  },
  'unwatched-pids': {
    title: '프로세스 ID가 부족해지고 있으나 감시하는 것이 없습니다',
    why: 'pid.available에는 기본 임계값이 없습니다. 노드의 프로세스 ID가 20 % 미만으로 남으면(스레드 포함) Pod 하나가 나머지를 모두 쓸 수 있습니다. 그러면 kubelet과 런타임을 포함해 노드의 어느 것도 프로세스를 시작할 수 없습니다.',
    fix: 'evictionHard pid.available을 맵의 다른 시그널과 함께 설정하고 podPidsLimit을 설정하십시오. 무엇이 이렇게 많은 스레드를 시작하는지 찾으십시오.',
  },
  'useless-eviction': {
    title: '모든 Pod를 축출해도 공간이 충분히 확보되지 않습니다',
    why: 'kubelet이 삭제할 수 있는 것은 이미지, 종료된 컨테이너, 그리고 Pod와 그 로그, 쓰기 가능 레이어, emptyDir 볼륨뿐입니다. 호스트의 파일, hostPath 볼륨 또는 Kubernetes 외에 실행되는 것이 디스크를 차지하면 Pod를 하나씩 계속 축출해도 노드는 DiskPressure 상태로 남고 어떤 Pod도 돌아오지 않습니다.',
    fix: '노드에 로그인하여 무엇이 디스크를 차지하는지 확인하십시오(마운트 지점에서 du: 저널, core dump, hostPath 폴더, 패키지 캐시). 제거하거나 더 큰 디스크의 노드로 교체하십시오. 임계값으로는 해결되지 않습니다. 아무도 기다리지 않도록 노드를 cordon하십시오.',
  },
  'zero-min-reclaim-thrash': {
    title: '가득 찬 디스크에서 축출이 임계값 바로 위에서 멈추고 다시 시작됩니다',
    why: '디스크 임계값에 도달했거나 얼마 전에 도달하여 DiskPressure가 아직 남아 있는데, 그 시그널에 최소 회수량이 없습니다. kubelet은 임계값을 겨우 넘을 만큼만 확보합니다. 다음 쓰기에서 다시 도달하고, 매번 몇 바이트를 위해 Pod가 하나씩 사라집니다.',
    fix: 'evictionMinimumReclaim에 해당 시그널의 항목을 디스크의 몇 퍼센트로 지정하십시오.',
  },
}
