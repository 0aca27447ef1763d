/** Korean: rules on reservations, logs, drift and what else is set on a node. */
import type { RuleTexts } from '#report/languages/language.ts'

export const settings: RuleTexts = {
  'allocatable-mismatch': {
    title: '노드가 제공하는 자원이 설정에서 나오는 값과 다릅니다',
    why: 'Allocatable은 capacity에서 예약과 하드 축출 임계값을 뺀 값입니다. 다른 값을 보고하는 노드는 설정에 나타나지 않는 것(--experimental-allocatable-ignore-eviction 같은 플래그)으로 실행 중이거나, kubelet 시작 이후 변경되었거나, 다른 주체가 status를 기록한 것입니다. 스케줄러는 status를 믿습니다.',
    fix: '머신이나 설정이 변경되었으면 kubelet을 재시작하십시오. 그렇지 않으면 kubelet의 플래그와 노드의 status를 기록하는 주체를 확인하십시오.',
  },
  'baseline-drift': {
    title: '노드가 의도한 것과 다른 kubelet 설정으로 실행 중입니다',
    why: '정책의 baseline은 노드가 어떤 설정으로 실행되어야 하는지를 정합니다. baseline이 없으면 EKS 이미지의 노드는 launch template 또는 node class가 선언한 값으로, 나머지는 모두 AMI가 기록한 값으로 실행됩니다. 그 밖의 값은 노드에서 변경된 것이며 노드가 교체되면 사라집니다.',
    fix: 'baseline의 값을 노드가 만들어지는 곳(launch template, NodeConfig, EC2NodeClass)에 설정하거나, 의도한 값을 policy.baseline에 적으십시오.',
  },
  'cgroup-v1': {
    title: '노드가 cgroup v1을 사용하며, kubelet이 이를 거부합니다',
    why: '1.35부터 cgroup v1에서는 failCgroupV1이 false가 아니면 kubelet이 시작할 때 종료됩니다. v1 지원은 수정만 이루어지며 곧 제거됩니다.',
    fix: 'cgroup v2를 사용하는 이미지(AL2023, Bottlerocket)로 노드를 교체하십시오. 그때까지는 failCgroupV1: false로 kubelet을 시작할 수 있습니다.',
  },
  'changed-not-restarted': {
    title: 'kubelet의 파일이 변경되었지만 재시작되지 않았습니다',
    why: 'kubelet은 시작할 때 한 번만 파일을 읽습니다. 그 이후에 기록된 내용은 다음 재시작이나 재부팅까지 적용되지 않다가 한꺼번에 적용됩니다.',
    fix: '한가한 시간에 kubelet을 재시작하거나(systemctl restart kubelet) 파일을 되돌리십시오. 변경이 launch template에 속하는 것이면 노드를 교체하십시오.',
  },
  'ineffective-log-rotation': {
    title:
      'logrotate 파일이 아무것도 회전하지 않거나, 너무 늦거나, kubelet이 회전하는 로그를 건드립니다',
    why: '설정에는 있지만 실행되지 않는 로그 회전은 디스크가 가득 찼을 때에야 드러납니다. containerd에서는 /var/lib/docker/containers 아래에 아무도 기록하지 않고, /var/log/containers에는 logrotate가 건너뛰는 심볼릭 링크만 있으며, /var/log/pods 아래의 로그는 kubelet이 회전합니다. 그곳에서 logrotate는 전혀 동작하지 않거나 로그 줄을 잃게 합니다. 크기 조건은 logrotate가 실행될 때만 적용되며, rotate가 없으면 이전 로그가 삭제됩니다.',
    fix: '근거에 나온 파일에서 컨테이너 로그 블록을 제거하고 containerLogMaxSize와 containerLogMaxFiles를 설정하십시오. timer나 cron으로 logrotate를 최소 하루 한 번 실행하고, 각 블록에 rotate를 적으십시오.',
  },
  'invalid-kubelet-configuration': {
    title: '디스크에 있는 설정을 kubelet이 거부합니다',
    why: 'kubelet은 시작할 때만 파일을 읽고, 파일이 유효하지 않으면 종료합니다. 실행 중인 노드에는 아무 징후가 없습니다. 다음 재시작이나 재부팅 후에는 NotReady로 남고, 5분 뒤 Pod가 다른 곳에서 다시 만들어지며, API 서버는 그 kubelet에 대해 503으로 응답합니다.',
    fix: 'kubelet이 재시작되기 전에 파일(또는 파일을 기록하는 user data)을 바로잡으십시오.',
  },
  'invalid-log-size': {
    title: '컨테이너 로그 회전이 kubelet이 거부하는 값이거나 꺼져 있습니다',
    why: 'containerLogMaxSize를 정수로 해석할 수 없거나(1.5Gi는 정수가 아니고 1536Mi는 정수입니다) containerLogMaxFiles가 2보다 작으면 kubelet이 시작하지 않습니다. 크기가 음수이면 시작하지만 로그가 전혀 회전되지 않습니다.',
    fix: 'containerLogMaxSize를 Mi 또는 Gi 단위의 정수로, containerLogMaxFiles를 2 이상으로 지정하십시오.',
  },
  'log-retention-too-short': {
    title: '컨테이너 로그가 몇 분 만에 회전되어 사라집니다',
    why: 'kubelet은 컨테이너마다 containerLogMaxSize 크기의 파일을 containerLogMaxFiles개 보관하고 더 오래된 것은 제거합니다. 빠르게 기록하는 컨테이너는 짧은 과거만 남습니다. kubectl logs로 문제의 시작을 볼 수 없고, 로그 에이전트가 그 시간 동안 멈추면 로그 줄을 영구히 잃습니다.',
    fix: '디스크가 허용하는 만큼 containerLogMaxSize(또는 containerLogMaxFiles)를 올리거나 컨테이너가 적게 기록하도록 하십시오. 로그가 얼마 동안 남아야 하는지는 정책의 logRetentionMinutes가 정합니다.',
  },
  'log-rotation-drift': {
    title: '로그 회전 파일이 같은 그룹의 노드 또는 정책과 다릅니다',
    why: 'logrotate 파일은 디스크가 가득 찬 노드에서 손으로 수정된 뒤 그대로 남습니다. Pod가 함께 쓰는 디스크에서 로그가 얼마나 차지할 수 있는지는 크기와 개수가 정합니다. 로그마다 rotate개의 이전 파일과 현재 로그가 있으며, 각각의 크기는 회전되는 크기에 logrotate가 다음에 실행될 때까지 기록되는 양을 더한 것입니다(maxsize는 그때만 적용됩니다). 파일은 의미로 비교합니다. 100M은 104857600과 같고, 지시어의 순서는 의미가 없지만, 시간이나 크기가 둘이면 마지막 것이 적용됩니다.',
    fix: '원하는 파일을 노드가 만들어지는 곳(이미지, launch template의 user data)에 넣고 다른 노드를 교체하십시오. 어떤 파일을 원하는지는 정책의 logRotation이 정하며, 없으면 그룹의 다수가 기준입니다.',
  },
  'log-rotation-overshoot': {
    title: '회전된 컨테이너 로그가 디스크의 남은 공간보다 커질 수 있습니다',
    why: '실행 중인 컨테이너는 각각 containerLogMaxSize 크기의 파일을 containerLogMaxFiles개 가질 수 있고, 재시작된 컨테이너는 종료된 인스턴스의 파일도 같은 수만큼 가집니다. 크기도 엄격한 한도가 아닙니다. 로그는 10초마다 확인되며 그동안 증가하고, 적은 worker가 많은 로그를 회전해야 하면 더 오래 증가합니다. 파일이 축출 전까지 남은 공간보다 더 차지할 수 있는 만큼은 DiskPressure로 끝납니다.',
    fix: 'containerLogMaxSize 또는 containerLogMaxFiles를 낮추거나 노드에 더 큰 디스크를 사용하십시오. containerLogMaxWorkers(kubelet 1.30 이상)를 늘리면 로그가 지정한 크기에 가깝게 유지됩니다.',
  },
  'lost-on-the-way': {
    title: '지정한 kubelet 설정이 적용되지 않습니다',
    why: '설정은 launch template, EC2NodeClass 또는 파일에서 drop-in과 플래그를 거쳐 kubelet에 이르며, 어느 단계에서나 조용히 빠질 수 있습니다. 이미지는 자신의 소스만 읽고, kubelet은 철자가 틀린 필드와 이름이 *.conf가 아닌 파일을 무시하며, 나중의 drop-in이나 플래그가 우선합니다. 설정한 사람은 적용된다고 믿고 있습니다.',
    fix: '이 이미지가 읽는 곳(Amazon Linux 2023은 NodeConfig, Bottlerocket은 settings.kubernetes, EC2NodeClass는 spec.kubelet)에 설정하고, 덮어쓰는 것을 제거한 다음 노드를 교체하십시오.',
  },
  'memory-cgroup-leak': {
    title: '커널에서 memory cgroup이 누수됩니다',
    why: 'cgroup v1에서 커널 메모리를 집계하는 커널 3과 4는 삭제된 memory cgroup의 id를 계속 보유합니다. 65535개가 모두 사용되면 노드를 재부팅할 때까지 어떤 컨테이너도 시작되지 않습니다("cannot allocate memory", "no space left on device", "SLUB: Unable to allocate memory"). cgroup v2에서는 id가 반환되지만, 삭제된 cgroup은 페이지가 계상되어 있는 동안 남으며 그 메모리는 어느 Pod의 것도 아닙니다.',
    fix: 'cgroup v2를 사용하는 커널 5.4 이상으로 옮기십시오. 이전 커널에서는 cgroup.memory=nokmem으로 부팅하십시오. id가 고갈되는 노드는 재부팅하십시오. cgroup v2에서는 무엇이 이렇게 많이 만들고 삭제하는지 찾고(크래시하는 컨테이너, probe, Job) 더 새로운 커널로 옮기십시오.',
  },
  'missing-enforced-cgroup': {
    title: '예약을 강제하지만 그 대상 cgroup이 지정되지 않았습니다',
    why: 'enforceNodeAllocatable에 system-reserved 또는 kube-reserved가 있는데 그 데몬의 cgroup이 지정되지 않으면 kubelet이 시작을 거부합니다.',
    fix: '존재하는 cgroup을 systemReservedCgroup 또는 kubeReservedCgroup에 지정하거나 pods만 강제하십시오.',
  },
  'missing-system-reserved': {
    title: '시스템용으로 예약된 메모리가 없습니다',
    why: '스케줄러는 allocatable 메모리까지 노드를 채웁니다. kubelet, 런타임, 시스템이 그 외에 사용하는 메모리는 Pod에 약속된 몫에서 나옵니다. Pod가 requests를 넘지 않아도 노드는 메모리 압박에 빠지거나 커널이 프로세스를 종료합니다.',
    fix: 'kubeReserved와 systemReserved에 데몬의 최대 사용량과 축출 임계값을 합한 메모리를 예약하십시오. EKS 이미지는 kubeReserved에 255 Mi + Pod당 11 Mi를 예약합니다.',
  },
  'oom-before-eviction': {
    title: 'kubelet이 축출하기 전에 커널이 메모리 부족으로 종료합니다',
    why: '하드 memory.available 임계값이 없으면 메모리가 고갈될 때 즉시 동작하는 것이 없습니다. 소프트 임계값은 먼저 유예 시간을 기다립니다. 그러면 커널이 OOM score로 선택하여 유예 시간 없이 개별 프로세스를 종료하고, 그 컨테이너는 여전히 가득 찬 같은 노드에서 다시 시작됩니다.',
    fix: 'evictionHard memory.available을 설정하고 데몬을 위한 메모리를 예약하십시오.',
  },
  'peer-drift': {
    title: 'GC, 축출, 로그 또는 예약 설정이 같은 그룹의 노드와 다릅니다',
    why: '한 노드 그룹의 노드는 서로 같아야 합니다. 손으로 수정되었거나 변경이 누락된 노드는 다른 노드와 다른 지점에서 압박에 이릅니다. 선언된 값이나 정책의 baseline이 소수 쪽이 옳다고 하지 않는 한 다수가 기준입니다.',
    fix: '그룹의 노드가 만들어지는 곳(launch template, NodeConfig, EC2NodeClass)에 설정하고 다른 노드를 교체하십시오.',
  },
  'reservation-without-eviction': {
    title: '메모리 예약이 축출 임계값을 위한 여유를 남기지 않습니다',
    why: '사용 가능하게 남아 있어야 하는 메모리는 누구도 쓸 수 없습니다. 데몬에 1 GiB, 축출이 500 MiB 미만이면 1.5 GiB를 예약해야 합니다. 하드 임계값만 allocatable에서 자동으로 빠지므로, 예약이 그보다 적으면 소프트 임계값이나 데몬의 약간의 추가 사용 때문에 노드가 제공하는 범위를 지키는 Pod가 축출됩니다.',
    fix: 'kubeReserved와 systemReserved의 합을 데몬의 메모리와 가장 높은 memory.available 임계값을 더한 값으로 설정하십시오.',
  },
  'reserved-below-eks-formula': {
    title: '같은 Pod 수와 코어 수에서 EKS 이미지보다 적게 예약합니다',
    why: 'EKS 이미지는 255 Mi + Pod당 11 Mi, 그리고 첫 번째, 두 번째, 다음 두 개, 나머지 코어의 6 %, 1 %, 0.5 %, 0.25 %를 예약합니다. 노드가 Pod로 가득 찼을 때 kubelet과 런타임에 필요한 정도입니다. maxPods를 올린 노드는 이전 수의 예약을 유지합니다.',
    fix: 'kubeReserved를 이 공식까지 올리거나 maxPods를 예약에 맞는 수로 낮추십시오.',
  },
  'reserved-below-real-usage': {
    title: '데몬이 예약보다 많은 메모리를 사용합니다',
    why: 'kubelet과 런타임이 kubeReserved와 systemReserved를 넘어 사용하는 것은 Pod에 약속된 몫에서 나옵니다. 가득 찬 노드에서는 모든 Pod가 requests를 넘지 않아도 memory.available이 임계값 아래로 떨어집니다.',
    fix: '축출 임계값의 여유를 포함하여 데몬의 사용량보다 크게 예약을 올리거나, 왜 이렇게 많이 사용하는지 찾으십시오.',
  },
  'unread-node': {
    title: '노드를 완전히 읽지 못했습니다',
    titles: {
      'A kubelet that does not tell what the node itself has told':
        '노드 자체가 알려 준 것을 kubelet이 알려 주지 않습니다',
      'A node of a kind that does not tell all of itself':
        '모든 정보를 제공하지 않는 종류의 노드입니다',
      'A kubelet does not answer: nothing listens on port 10250':
        'kubelet이 응답하지 않습니다: 포트 10250에서 수신하는 것이 없습니다',
    },
    why: '읽지 못한 것은 판정하지 않았습니다. 그 정보가 필요한 규칙은 여기서 모두 알 수 없음이며, 이는 통과가 아닙니다.',
    fix: '사유를 확인하십시오. 금지된 경우 get nodes/proxy 권한을, 또는 ssm과 kubelet 모드에 필요한 것을 부여하십시오(부족한 것은 highwater doctor가 알려 줍니다). kubelet이 응답하지 않으면 노드에서 저널을 확인하십시오(journalctl -u kubelet).',
  },
  'unsafe-enforced-reservation': {
    title: '데몬의 예약이 메모리 또는 프로세스 수의 하드 리밋으로 작용합니다',
    why: 'system-reserved나 kube-reserved를 강제하면 예약이 그 cgroup의 한도가 됩니다. 더 필요한 데몬은 노드에 메모리가 남아 있어도 커널이 종료하거나 fork하지 못합니다. 런타임이나 kubelet이 그 안에 있으면 노드 전체가 멈춥니다.',
    fix: 'pods만 강제하십시오. kubelet 1.32부터는 system-reserved-compressible과 kube-reserved-compressible이 cpu만 제한합니다.',
  },
  'unsupported-version': {
    title: 'kubelet이 여기서 알지 못하는 버전입니다',
    why: '이 노드에 대한 내용은 알려진 버전인 1.24부터 1.37 가운데 가장 가까운 버전의 규칙을 따르므로 임계값, 기본값, 순서가 다를 수 있습니다. 그보다 오래된 kubelet은 누구도 수정해 주지 않습니다. 컨트롤 플레인보다 새롭거나 minor가 셋(컨트롤 플레인 1.28 전에는 둘)보다 더 뒤처진 kubelet도 누구도 테스트하지 않습니다. 릴리스 후 26개월, 연장 지원이 끝나면 EKS는 컨트롤 플레인을 스스로 업그레이드하고 노드는 그대로 두므로 차이가 벌어집니다.',
    fix: '오래된 kubelet은 노드와 함께 업그레이드하고, 새로운 kubelet이면 highwater를 업그레이드하십시오. 컨트롤 플레인을 먼저, 노드를 다음에 업그레이드하십시오.',
  },
  'version-skew-drift': {
    title: '한 그룹의 노드가 서로 다른 AMI 릴리스 또는 kubelet minor 버전을 실행합니다',
    why: '도중에 멈춘 롤링 업데이트는 두 종류의 노드를 남깁니다. 릴리스와 minor마다 기본값이 다르므로 같은 Pod가 노드에 따라 다른 임계값을 만납니다. Karpenter는 노드를 하나씩 교체하므로 어느 정도의 차이는 정상입니다.',
    fix: '노드 그룹의 업데이트를 완료하십시오(aws eks update-nodegroup-version). 업데이트를 막는 PodDisruptionBudget을 확인하십시오.',
  },
}
