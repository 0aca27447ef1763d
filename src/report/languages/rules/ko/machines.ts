/** Korean: rules on what nodes, instances and volumes leave behind. */
import type { RuleTexts } from '#report/languages/language.ts'

export const machines: RuleTexts = {
  'instance-without-node': {
    title: '클러스터의 인스턴스가 노드로 등록되어 있지 않습니다',
    why: '클러스터의 태그가 있는 인스턴스는 그 클러스터의 노드여야 합니다. 한 번도 조인하지 않았거나, 실행 중에 Node가 삭제된 인스턴스는 비용이 발생하지만 Pod를 실행하지 않으며, 아무도 보지 않으므로 패치하는 사람도 없습니다.',
    fix: '인스턴스의 콘솔 출력과 kubelet 로그에서 조인하지 않은 이유를 확인하거나(bootstrap, access entry, 네트워크) 인스턴스를 종료하십시오. 다른 용도로 시작한 것이라면 클러스터의 태그가 있으면 안 됩니다.',
  },
  'leftover-lease': {
    title: '사라진 노드의 Lease가 남아 있습니다',
    why: 'kubelet은 노드를 Lease의 소유자로 한 번 지정하며, 노드가 삭제되면 Lease도 삭제됩니다. 소유자가 없는 Lease는 노드가 사라진 뒤에도 남고, 수집하는 것이 없습니다. 소유자가 아직 지정되어 있는데도 오래 남아 있는 Lease는 건너뛴 것입니다. 가비지 컬렉터가 거기까지 처리하지 못하거나 삭제할 수 없습니다.',
    fix: '노드가 사라진 Lease를 삭제하십시오. 계속 새로 생기면 kube-node-lease에 기록하는 다른 주체를 확인하십시오. 소유자가 있으면 가비지 컬렉터가 동작하지 않는 이유를 확인하십시오(응답하지 않는 API 그룹, 거부하는 webhook).',
  },
  'leftover-taint': {
    title: 'Ready 노드에 이미 끝난 문제의 taint가 남아 있습니다',
    why: 'Ready가 아니거나, 클라우드에 새로 추가되었거나, 종료되었거나, 압박 상태이거나, cordon되었거나, 서비스에서 제외되었거나, 곧 제거될 노드의 taint는 그 상태가 끝나면 사라집니다. 컨트롤러가 제거하며, out-of-service는 설정한 쪽이 제거합니다. 노드를 제거한다고 알린 오토스케일러는 노드를 제거하거나 taint를 거두어들입니다. 남아 있는 taint는 정상 노드에 Pod가 오지 못하게 하거나 Pod를 반복해서 내보냅니다.',
    fix: '노드가 정상인지 확인한 다음 taint를 제거하십시오.',
  },
  'node-not-ready-long': {
    title: '오랫동안 Ready가 아닌 노드를 아무도 삭제하지 않습니다',
    why: '클라우드의 node lifecycle controller는 인스턴스가 사라진 Node만 삭제합니다. 인스턴스가 아직 있거나 원래 없는 Node는 남습니다. 비용이 발생하고 Lease와 볼륨을 붙잡으며, 그 Pod는 삭제 중에 멈춰 있습니다.',
    fix: 'kubelet이 보고하지 않는 이유를 확인하거나(node auto repair라면 교체합니다) Node와 인스턴스를 삭제하십시오.',
  },
  'node-without-instance': {
    title: '인스턴스가 사라진 노드가 남아 있습니다',
    why: '노드가 Ready가 아니고 인스턴스가 더 이상 없으면 클라우드의 node lifecycle controller가 몇 초 안에 Node를 삭제합니다. 남아 있는 Node는 Pod, Lease, 볼륨이 사라지지 못하게 하고 StatefulSet은 그것을 기다립니다. finalizer가 붙잡고 있거나, provider ID가 원래와 다른 인스턴스를 가리킵니다.',
    fix: 'Node를 삭제하십시오. 그 뒤 삭제가 멈추면 finalizer를 확인하십시오(Karpenter의 것이면: Karpenter가 있는지).',
  },
  'released-volume': {
    title: '클레임이 없어진 볼륨이 남아 비용이 발생합니다',
    why: '클레임이 사라지면 정책이 Retain인 PersistentVolume은 Released가 되어 그대로 남습니다. 새 클레임이 받지 못하고 아무도 삭제하지 않으며, 누군가 디스크까지 삭제할 때까지 비용이 발생합니다.',
    fix: '데이터가 아직 필요한지 확인하십시오. 필요하면 spec.claimRef를 비워 클레임이 볼륨을 가질 수 있게 하십시오. 필요 없으면 PersistentVolume을 삭제한 다음 그 디스크를 삭제하십시오.',
  },
  'retained-ephemeral-volume': {
    title: '임시 볼륨이 Pod보다 오래 남습니다',
    why: 'generic ephemeral volume의 클레임은 Pod와 함께 사라집니다. 볼륨의 reclaim policy는 StorageClass에서 오거나, 나중에 바꾼 사람이 정합니다. 그것이 Retain이면 볼륨과 디스크가 남습니다. 클래스가 Retain이면 생겼다 사라지는 Pod마다 하나씩 남깁니다.',
    fix: '임시 볼륨에 reclaimPolicy가 Delete인 StorageClass를 지정하십시오. 볼륨만 Retain이면, 데이터가 필요하지 않은 한 persistentVolumeReclaimPolicy를 되돌리십시오.',
  },
  'unattached-disk': {
    title: '클러스터의 디스크가 연결되지 않았고 어느 클레임에도 속하지 않습니다',
    why: '클러스터의 태그가 있는 EBS 볼륨은 그 클러스터를 위해 만들어진 것입니다. 이를 가리키는 PersistentVolume이 없으면 오브젝트가 강제로 삭제되었을 때, 정책이 Retain이었을 때, 또는 노드가 남긴 것입니다. 아무도 다시 연결하지 않으며 비용이 발생합니다. PersistentVolume이 Available인 것도 마찬가지로 어느 클레임에도 속하지 않습니다.',
    fix: '태그에서 어느 클레임의 것이었는지 확인하십시오. 데이터가 필요할 수 있으면 스냅샷을 만든 다음, 이를 가리키는 PersistentVolume이 있으면 먼저 삭제하고 디스크를 삭제하십시오.',
  },
  'unrenewed-lease': {
    title: '노드가 오랫동안 Lease를 갱신하지 않았습니다',
    why: 'kubelet은 10초마다 Lease를 갱신합니다. Lease가 이렇게 오래된 노드에는 API 서버에 접근하는 kubelet이 없습니다. 그 Pod는 집계되지만 실행 중인지는 알 수 없습니다.',
    fix: '노드를 복구하거나 Node 오브젝트를 삭제하십시오. Lease와 Pod도 함께 삭제됩니다.',
  },
  'volume-held-in-deletion': {
    title: '볼륨 또는 클레임의 삭제가 멈춰 있습니다',
    why: '클레임은 완료된 Pod를 포함해 어떤 Pod도 사용하지 않게 되면, 볼륨은 더 이상 바인딩되지 않으면 사라집니다. 그때까지 각각 finalizer가 보호합니다. 데이터가 안전해 보이지만 그렇지 않습니다. 마지막 Pod가 사라지는 순간 함께 사라집니다.',
    fix: '데이터가 필요하면 지금 복사하십시오. 삭제는 취소할 수 없습니다. 필요 없으면 완료된 것을 포함해 클레임을 사용하는 Pod를 삭제하십시오. 다른 finalizer라면 그것을 제거해야 할 드라이버를 확인하십시오.',
  },
  'volume-not-deleted': {
    title: '해제된 볼륨이 삭제되어야 하지만 남아 있습니다',
    why: '정책이 Delete인 볼륨은 클레임과 함께 사라집니다. 드라이버가 몇 분 안에 디스크와 오브젝트를 삭제합니다. Released나 Failed로 남아 있다면 드라이버가 사라졌거나, 디스크를 삭제할 권한이 없거나, 디스크가 연결되어 있거나 스냅샷이 있거나, 삭제할 수 있는 것이 아예 없는 것입니다.',
    fix: '볼륨의 이벤트와 드라이버 provisioner의 로그(EBS: ebs-csi-controller)를 읽고, 거기서 말하는 것을 고치십시오: 역할, 연결, 드라이버 자체.',
  },
}
