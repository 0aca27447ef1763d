/** Korean: rules on image GC, pulls and dead containers. */
import type { RuleTexts } from '#report/languages/language.ts'

export const images: RuleTexts = {
  'alert-before-image-gc': {
    title: 'image GC가 시작되기 전에 디스크 알림이 울립니다',
    why: 'kubelet이 아직 정리를 시작하지 않은 디스크 때문에 알림이 사람을 호출합니다. 매번 노이즈이며, 진짜 문제인 아무것도 확보하지 못하는 GC도 똑같이 보입니다.',
    fix: 'imageGCHighThresholdPercent를 알림의 백분율 이하로 설정하거나 알림 기준을 올리십시오(현재 기준은 정책의 alertPercent).',
  },
  'container-gc-flags-off-default': {
    title: '컨테이너 GC가 기본값이 아닌 플래그로 동작합니다',
    why: '이 세 가지는 플래그로만 존재합니다. 설정 파일에도 configz에도 나타나지 않으므로, 종료된 컨테이너와 그 로그가 왜 남는지 또는 왜 누가 읽기도 전에 사라지는지 아무도 알 수 없습니다. 이 플래그들은 deprecated 상태입니다.',
    fix: 'kubelet 명령줄(user data, systemd drop-in)에서 플래그를 제거하고 디스크 관리는 축출 임계값에 맡기십시오.',
  },
  'dead-container-pile': {
    title: '종료된 컨테이너가 쌓이고 있습니다',
    why: 'kubelet은 재시작한 컨테이너마다 로그를 위해 종료된 컨테이너를 하나 보관하고, 아직 존재하는 Pod의 것은 모두 보관합니다. 각 컨테이너는 쓰기 가능 레이어와 로그를 디스크에 유지하고 이미지를 사용 중 상태로 유지하므로 image GC가 그 이미지를 삭제할 수 없습니다.',
    fix: '완료된 Pod와 Job을 삭제하고(ttlSecondsAfterFinished), 크래시 루프를 해결하고, 컨테이너 GC 플래그를 확인하십시오. 몇 개부터 많은 것인지는 정책의 deadContainers가 정합니다.',
  },
  'dead-registry': {
    title: 'Pod가 종료된 레지스트리의 이미지를 사용합니다',
    why: '이런 Pod는 이미지가 이미 있는 노드에서만 실행됩니다. image GC나 축출이 이미지를 삭제하거나 Pod가 옮겨 가면 이미지를 다시 받을 수 없습니다.',
    fix: 'Pod에 후속 레지스트리를 지정하십시오: docker.pkg.github.com 대신 ghcr.io, k8s.gcr.io 대신 registry.k8s.io. 또는 이미지를 자체 레지스트리로 복사하십시오.',
  },
  'eviction-before-image-gc': {
    title: 'image GC가 실행되기 전에 Pod가 축출됩니다',
    titles: {
      'Image garbage collection is switched off, so only eviction deletes images':
        'image GC가 꺼져 있어 이미지는 축출 시에만 삭제됩니다',
    },
    why: 'image GC는 5분마다, 축출 매니저는 10초마다 디스크를 확인합니다. 축출 임계값에 먼저 도달하거나, 두 임계값이 가까워 GC 한 주기의 증가량으로 둘 다에 도달하면, 사용하지 않는 이미지를 삭제할 수 있었는데도 노드가 DiskPressure 상태가 되어 Pod를 축출합니다.',
    fix: '디스크의 (101 - 상한)%가 축출 임계값보다 충분히 커지도록 imageGCHighThresholdPercent를 낮추고 imageGCLowThresholdPercent도 함께 낮추십시오. EKS Auto Mode에서는 둘 다 변경할 수 없으며, 더 큰 디스크(NodeClass의 ephemeralStorage)로 시간을 벌 수 있을 뿐입니다.',
  },
  'image-age-gc-churn': {
    title: '이미지가 기간 기준으로 너무 빨리 삭제되어 반복해서 다시 받습니다',
    why: 'imageMaximumGCAge는 디스크가 아무리 비어 있어도 그 시간 동안 사용되지 않은 이미지를 모두 삭제합니다. 한 번도 사용되지 않은 이미지는 방금 받았더라도 다음 회차에 삭제됩니다. 24시간보다 짧으면 매일 실행되는 Job의 이미지와 미리 받아 둔 이미지가 남지 않습니다.',
    fix: 'imageMaximumGCAge를 며칠로 설정하거나 0s로 설정하고 디스크는 임계값에 맡기십시오.',
  },
  'image-gc-dead': {
    title: 'image GC가 매번 실패합니다: 이미지 파일시스템을 볼 수 없습니다',
    why: '런타임이 알려 주는 이미지 마운트 지점을 kubelet이 측정할 수 없습니다. 그러면 용량이 0이 되어, 공간 확보를 위해 무엇을 삭제하기도 전에 매 회차가 오류로 끝납니다. imagefs의 임계값도 image GC와 마찬가지로 아무것도 볼 수 없습니다. kubelet이 GC에 대해 이벤트로 반복해서 알리는 다른 오류는 kubelet의 문구 그대로 여기에 표시됩니다. 시작 후 10분 이내에 알리는 것은 의미가 없습니다.',
    fix: 'crictl imagefsinfo로 런타임이 알려 주는 마운트 지점을 확인하고, kubelet이 보는 곳에 존재하는 지점으로 바꾸십시오(containerd: root). 먼저 런타임을, 그다음 kubelet을 재시작하십시오. 다른 오류라면 그 오류가 나오는 런타임을 확인하십시오.',
  },
  'image-gc-disabled': {
    title: 'image GC가 꺼져 있습니다',
    why: 'imageGCHighThresholdPercent 100은 루프를 멈추며, 루프를 유지할 이미지의 최대 경과 시간도 없습니다. 사용하지 않는 이미지는 노드가 이미 DiskPressure 상태가 되어 축출이 전부 삭제할 때까지 남습니다.',
    fix: 'imageGCHighThresholdPercent를 100보다 낮고 축출이 시작되는 지점보다 낮게 설정하고, imageGCLowThresholdPercent도 함께 설정하십시오.',
  },
  'image-gc-due': {
    title: 'image GC가 곧 이미지를 삭제합니다',
    titles: {
      'Image garbage collection is due, and no image may go':
        'image GC를 실행해야 하지만 삭제할 수 있는 이미지가 없습니다',
    },
    why: '이미지 파일시스템이 상한 임계값을 넘었으므로 다음 회차에 사용하지 않는 이미지를 오래된 것부터 삭제합니다. 레지스트리에 접근할 수 없으면 삭제된 이미지는 돌아오지 않습니다.',
    fix: '이미지를 다시 받을 수 있으면 조치가 필요 없습니다. 그렇지 않으면 이미지를 고정(pin)하거나 공간을 확보하십시오: 이미지 줄이기, 더 큰 디스크, 다른 임계값.',
  },
  'image-gc-never-first': {
    title: 'image GC가 보지 않는 것이 차오릅니다: 축출이 먼저 일어납니다',
    why: 'image GC는 이미지 파일시스템의 바이트만 봅니다. nodefs가 별도의 파일시스템이거나 바이트보다 inode가 먼저 고갈되면 도중에 GC가 시작되지 않으며, 가장 먼저 동작하는 것은 축출 매니저입니다.',
    fix: '임계값에 도달하기 전에 무엇이 증가하는지 찾아(컨테이너 로그, emptyDir 볼륨, 호스트의 파일, inode라면 많은 작은 파일) 공간을 확보하거나 더 큰 디스크를 사용하십시오. image GC 백분율을 바꿔도 도움이 되지 않습니다. 어느 사용률부터 해당하는지는 정책의 alertPercent가 정합니다.',
  },
  'narrow-gc-band': {
    title: 'image GC의 두 임계값 간격이 너무 좁습니다',
    why: '회차는 상한 임계값에서 시작하여 하한 임계값에서 끝납니다. 간격이 기본값의 5 %보다 좁으면 확보량이 너무 적어 디스크가 곧 다시 찹니다. 몇 분마다 회차가 돌고, 이미지를 삭제하고 다시 받습니다.',
    fix: 'imageGCLowThresholdPercent를 낮추십시오(예: imageGCHighThresholdPercent보다 10 아래). 하한 임계값이 상한 임계값보다 낮지 않으면 다음 시작 때 거부됩니다.',
  },
  'pull-failing-now': {
    title: '컨테이너가 받을 수 없는 이미지를 기다리고 있습니다',
    why: 'Pod가 실행되지 않습니다. kubelet은 10초 뒤에 다시 시도하고 매번 간격을 두 배로 늘려 최대 5분까지 늘립니다. 시도할 때마다 레지스트리의 한도에 집계됩니다. 이미 사라진 Pod에 대해서는 지난 1시간의 이벤트가 알려 줍니다.',
    fix: '메시지를 확인하십시오: 잘못된 이름, 없는 인증 정보, 접근할 수 없거나 pull을 제한하는 레지스트리. GC가 삭제한 이미지는 노드가 접근할 수 있는 레지스트리에 있어야 합니다.',
  },
  'rate-limited-registry': {
    title: '이미지를 인증 없이 Docker Hub에서 받습니다',
    why: 'Docker Hub는 인증 없이 IPv4 주소 또는 IPv6 /64마다 6시간에 100회, 개인 계정에 200회의 pull을 허용하며 유료 계정에는 한도가 없습니다. NAT 게이트웨이 하나 뒤의 모든 노드는 주소 하나를 공유합니다. image GC가 삭제하거나 노드가 교체되면 곧 다시 받아야 하는 이미지가 429 toomanyrequests를 만납니다.',
    fix: '캐시(docker-hub용 ECR pull-through cache rule), 복사본(public.ecr.aws/docker/library) 또는 유료 계정의 imagePullSecrets로 받으십시오. egress 주소를 늘리는 것은 한도를 옮길 뿐입니다.',
  },
  'required-image-at-risk': {
    title: '없어서는 안 될 이미지가 삭제될 수 있습니다',
    why: 'image GC와 축출은 다음에 무엇에 필요하든 그 순간 어떤 컨테이너도 사용하지 않는 것을 삭제합니다. kube-system과 DaemonSet의 이미지, 정책 requiredImages의 이미지는 이 노드에서 다시 필요합니다. 레지스트리가 응답하지 않으면 돌아오지 않으며, 노드나 그 이미지에 의존하는 것이 시작되지 않습니다.',
    fix: '이미지를 고정하거나(ctr -n k8s.io images label NAME io.cri-containerd.pinned=pinned), DaemonSet으로 사용 중 상태를 유지하거나, 노드가 접근하는 미러 레지스트리에서 제공하십시오. 어느 레지스트리에 접근하는지는 정책의 reachableRegistries가 정합니다.',
  },
  'serialized-pulls': {
    title: 'kubelet이 이미지를 한 번에 하나씩 받습니다',
    why: '큰 이미지 하나 또는 응답하지 않는 레지스트리 하나가 노드의 다른 모든 pull을 지연시킵니다. GC가 많이 삭제한 뒤, 이웃 노드를 drain한 뒤, 그리고 노드 자체에 필요한 Pod에서도 그렇습니다.',
    fix: 'EKS 이미지처럼 serializeImagePulls: false를 설정하고, 디스크 부하를 줄여야 하면 maxParallelImagePulls(kubelet 1.27 이상)를 설정하십시오.',
  },
  'stranded-disk': {
    title: '축출 임계값 때문에 큰 디스크의 상당 부분을 사용할 수 없습니다',
    why: '20 GiB에 알맞은 백분율이 수 TB의 디스크에서는 수백 GiB를 비워 둡니다. 비용은 발생하지만 어떤 Pod도 사용할 수 없습니다. 노드가 그 전에 축출합니다.',
    fix: '그 파일시스템의 임계값을 낮추거나(모든 크기에는 백분율, 디스크가 모두 같으면 절대값) 더 작은 디스크를 사용하십시오. 어디서부터 해당하는지는 정책의 strandedPercent와 strandedGiB가 정합니다.',
  },
  'truncated-image-list': {
    title: '노드의 이미지 목록이 잘려 있습니다',
    why: 'Node 오브젝트는 가장 큰 이미지만 nodeStatusMaxImages개까지 담습니다. 스케줄러는 이미지가 있는 노드를 찾을 때 나머지를 알지 못하며, image GC가 무엇을 삭제할지도 목록에서는 일부만 알 수 있습니다.',
    fix: 'nodeStatusMaxImages를 더 높게 또는 전부를 뜻하는 -1로 설정하십시오. 큰 클러스터에서는 Node 오브젝트의 크기에 유의하십시오.',
  },
  'unpinned-sandbox-image': {
    title: 'sandbox 이미지가 고정(pin)되지 않아 image GC가 삭제합니다',
    why: 'pause 이미지를 사용하는 컨테이너가 없으므로 image GC는 사용하지 않는 이미지로 봅니다. Kubernetes 1.29부터 kubelet은 런타임이 고정(pin)한 경우에만 보호합니다. 사라지면 다시 받을 때까지 노드에서 어떤 Pod도 시작되지 않으며, 레지스트리가 containerd에 없는 인증 정보를 요구하면 받기에 실패합니다.',
    fix: '더 새로운 AMI(v20241115 이후의 AL2023, Bottlerocket)를 사용하여 노드를 교체하십시오. 유지해야 하는 노드에서는 이미지를 import하거나 받은 다음 레이블 io.cri-containerd.pinned=pinned를 설정하십시오.',
  },
  'unreachable-gc-low-threshold': {
    title: 'image GC가 필요한 만큼 확보할 수 없습니다',
    why: '디스크가 상한 임계값을 넘었고, 삭제할 수 있는 이미지를 모두 합해도 삭제해야 하는 양보다 적습니다. 매 회차가 가능한 것을 삭제하고 실패하고 반복됩니다. 디스크를 채우는 것은 사용하지 않는 이미지가 아닙니다.',
    fix: '디스크에 또 무엇이 있는지 찾으십시오: 사용 중인 이미지, 컨테이너 로그와 쓰기 가능 레이어, emptyDir 볼륨, 호스트의 파일. 그곳에서 공간을 확보하거나 더 큰 디스크를 사용하십시오. 임계값으로는 해결되지 않습니다.',
  },
}
