/** Korean, as in `en/garbage.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const garbage: Catalogue['garbage'] = {
  title: '클러스터 가비지',
  lead: '컨트롤 플레인의 수집기가 남긴 것과, 아무도 손대지 않으면 어떻게 되는지를 보여 줍니다.',
  columns: {
    what: '종류',
    count: '개수',
    oldest: '가장 오래된 것',
    whose: '소속',
    fate: '사라지는가',
    end: '정리 방법',
  },
  kinds: {
    'evicted-pods': {
      name: '노드가 축출한 Pod',
      fate: '소유자와 함께 삭제되거나, 종료된 Pod 전체 개수 기준으로 삭제',
    },
    'failed-pods': {
      name: '실패한 Pod',
      fate: '소유자와 함께 삭제되거나, 종료된 Pod 전체 개수 기준으로 삭제',
    },
    'finished-pods': { name: '종료된 Pod 전체' },
    'terminating-pods': { name: '삭제 중인 Pod' },
    'jobs-without-ttl': {
      name: 'TTL이 없는 완료된 Job',
      fate: '삭제하는 주체 없음: ttlSecondsAfterFinished도 소유자도 없음',
    },
    'owned-jobs': {
      name: '다른 소유자가 있는 TTL 없는 완료된 Job',
      fate: '소유자와 함께 사라지거나 소유자가 삭제',
    },
    'jobs-with-ttl': { name: 'TTL이 있는 완료된 Job', fate: 'TTL 컨트롤러가 삭제' },
    'overdue-jobs': { name: 'TTL이 지난 Job', fate: { late: 'TTL 컨트롤러가 이미 삭제했어야 함' } },
    'cronjob-history': {
      name: 'CronJob의 완료된 Job',
      fate: {
        late: '일부가 CronJob의 보관 한도를 초과했으며, CronJob이 삭제함',
        with: 'CronJob이 이만큼 보관함',
      },
    },
    'suspended-jobs': {
      name: '일시 중지된 Job과 CronJob',
      fate: '누군가 재개하거나 삭제할 때까지 대기',
    },
    'old-replica-sets': {
      name: '보관 한도를 넘은 이전 ReplicaSet',
      fate: { late: 'Deployment 컨트롤러가 이미 삭제했어야 함' },
    },
    'controller-revisions': {
      name: '보관 한도를 넘은 ControllerRevision',
      fate: '컨트롤러가 Pod에서 쓰지 않는 것을 삭제함. 어느 것인지는 읽지 않음',
    },
    'released-volumes': {
      name: '클레임 없이 보존된 볼륨',
      fate: 'reclaim policy Retain: 삭제하는 주체 없음',
    },
    'undeleted-volumes': {
      name: '클레임 없이 삭제 예정인 볼륨',
      fate: {
        late: '드라이버가 이미 삭제했어야 함',
        never: '이 클러스터에는 이런 볼륨을 삭제할 수 있는 것이 없음',
      },
    },
    'held-volumes': { name: '삭제 중인 볼륨과 클레임' },
    'retained-ephemeral-volumes': {
      name: '정책이 Retain인 임시 볼륨',
      fate: 'Pod가 사라져도 볼륨이 남음',
    },
    'unattached-disks': {
      name: '연결되지 않은 EBS 디스크',
      fate: {
        never: '어느 클레임에도 속하지 않아 삭제하는 주체 없음',
        unknown: '볼륨을 모두 읽지 못함. 가리키는 것이 있을 수 있음',
      },
    },
    'instances-without-node': {
      name: '노드가 아닌 인스턴스',
      fate: '누군가 종료할 때까지 실행되며 비용이 발생',
    },
    'nodes-without-instance': {
      name: '인스턴스가 없는 노드',
      fate: 'cloud controller가 이미 삭제했어야 함',
    },
    'not-ready-nodes': { name: 'Ready가 아닌 노드', fate: '인스턴스가 있는 한 남음' },
    'left-taints': {
      name: 'Ready 노드에 남은 taint',
      fate: '제거하는 주체가 없어 Pod가 이 노드를 피함',
    },
    'leftover-leases': { name: '사라진 노드의 Lease', fate: '소유자가 없어 삭제하는 주체 없음' },
    'collectable-leases': { name: '노드가 없거나 바뀐 Lease', fate: '가비지 컬렉터가 삭제' },
    'overdue-leases': {
      name: '노드와 함께 사라졌어야 할 Lease',
      fate: '가비지 컬렉터가 이미 삭제했어야 함',
    },
    'unrenewed-leases': { name: '노드가 갱신하지 않는 Lease', fate: 'Node와 함께 사라짐' },
    'unknown-leases': { name: '읽지 못한 노드의 Lease', fate: '노드가 있는지 알 수 없음' },
    'identity-leases': {
      name: '사라진 API 서버의 Lease',
      fate: {
        never: '이 레이블을 수집하는 이 버전의 API 서버가 없음',
        late: '다른 API 서버가 이미 삭제했어야 함',
        itself: '다른 API 서버가 1시간 안에 삭제',
      },
    },
    'waiting-requests': {
      name: '대기 중인 인증서 요청',
      fate: '생성 또는 승인 하루 뒤 cleaner가 삭제',
    },
    'superseded-requests': {
      name: '나중 요청으로 대체된 인증서 요청',
      fate: '생성 또는 승인 하루 뒤 cleaner가 삭제',
    },
    'answered-requests': { name: '응답이 끝난 인증서 요청', fate: '응답 1시간 뒤 cleaner가 삭제' },
    'overdue-requests': { name: '기한이 지난 인증서 요청', fate: 'cleaner가 이미 삭제했어야 함' },
    'unissued-requests': {
      name: '승인되었지만 발급되지 않은 인증서 요청',
      fate: '이 버전의 cleaner는 삭제하지 않음',
    },
    'terminating-namespaces': { name: '삭제 중인 네임스페이스' },
    'unanswered-groups': {
      name: '응답하지 않는 API 그룹 버전',
      fate: '응답할 때까지 삭제 중인 네임스페이스가 사라지지 않음',
    },
    'dangling-objects': {
      name: '소유자가 사라진 오브젝트',
      fate: '가비지 컬렉터가 이미 삭제했어야 함',
    },
    'unserved-owners': {
      name: 'API가 제공하지 않는 종류의 소유자를 가진 오브젝트',
      fate: '가비지 컬렉터가 계속 재시도',
    },
    'foreign-owners': {
      name: '다른 네임스페이스에 소유자가 있는 오브젝트',
      fate: {
        late: '필요 여부와 관계없이 가비지 컬렉터가 이미 삭제했어야 함',
        itself: '필요 여부와 관계없이 가비지 컬렉터가 삭제',
      },
    },
    'foreign-references': {
      name: '다른 네임스페이스에 불필요한 소유자가 있는 오브젝트',
      fate: '가비지 컬렉터가 그 참조를 제거',
    },
    'namespaced-owners': {
      name: '네임스페이스 안의 소유자를 가진 클러스터 범위 오브젝트',
      fate: '가비지 컬렉터가 수집하지 않음',
    },
    'blocked-owners': { name: '종속 오브젝트를 기다리는 소유자' },
    'orphaned-objects': {
      name: '컨트롤러가 남긴 오브젝트',
      fate: '소유자가 없어 삭제하는 주체 없음',
    },
    'held-objects': { name: 'finalizer가 붙잡은 기타 오브젝트' },
    'collector-failures': {
      name: '수집기가 삭제하지 못했다고 알린 오브젝트',
      fate: '다시 시도하며 이벤트로 알림',
    },
  },
  needs: {
    pods: 'Pod',
    jobs: 'Job',
    leases: 'Lease',
    history: '워크로드 이력',
    nodes: 'Node',
    events: '수집기 이벤트',
    volumes: '볼륨',
    certificates: '인증서 요청',
    namespaces: '네임스페이스',
    apis: 'API 그룹',
    owners: '소유자',
    finalizers: 'finalizer',
    disks: 'EBS 디스크',
    instances: '인스턴스',
  },
  heads: {
    never: '남음',
    late: '지연',
    held: '보류',
    threshold: '개수 기준',
    unknown: '알 수 없음',
    with: '자동 아님',
    itself: '자동',
  },
  beforeFate: ': ',
  notRead: '읽지 못함:',
  moreClusters: '그 외 클러스터',
  clustersLeftOut: count => `그 외 ${n(count)}개 클러스터는 생략했습니다.`,
  findingsOnIt: '관련 발견 항목',
  caption: cluster => `${cluster}에 남아 있는 것`,
  nothingLies: '남아 있는 것 없음',
  nothingToClean: '정리할 것 없음',
  toClean: count => `정리할 오브젝트 ${n(count)}종`,
  notAllRead: '일부 읽지 못함',
  clean: needs => `조사했으나 남아 있는 것이 없음: ${needs.join(', ')}.`,
  moreReasons: count => `나머지 사유 ${n(count)}건은 ‘미감사’에 있습니다.`,
  young: (count, hours) => `${count === null ? '' : `그중 ${n(count)}개 `}${hours}시간 미만`,
  waived: '면제됨',
  times: count => ` (${n(count)})`,
  notLooked: '가비지를 조사한 클러스터가 없습니다(정책 clusterGarbage).',
  coverage: (looked, all, read, lists) =>
    `클러스터 ${all > looked ? `${n(all)}개 중 ` : ''}${n(looked)}개를 조사했고, 목록 ${n(lists)}개 중 ${n(read)}개를 끝까지 읽었습니다.`,
  notSwept: count =>
    ` 그 외 오브젝트 ${n(count)}종은 finalizer 보류 여부를 조사하지 않았습니다(정책 clusterGarbage.sweep).`,
  podGcOff: 'pod GC가 삭제하지 않도록 설정됨',
  assumed: limit => `${limit} (가정)`,
  excess: (finished, limit, excess) =>
    `종료된 Pod ${n(finished)}개 중 pod GC는 ${limit}개를 유지: 가장 오래된 ${n(excess)}개가 다음 회차에 삭제됨`,
  below: (limit, finished) =>
    `pod GC는 종료된 Pod가 ${limit}개를 넘으면 시작: 현재 ${n(finished)}개`,
  firstAndLast: (first, last) => `처음 것은 ${first}, 마지막 것은 ${last}`,
  anyMoment: '곧',
  in: duration => `${duration} 후`,
  assumedThreshold:
    '가정: EKS는 컨트롤 플레인의 pod GC 임계값을 알려 주지 않으므로 업스트림 기본값을 사용했습니다.',
  assumedPrices:
    '비용: us-east-1의 EBS 정가 기준이며, 프로비저닝된 IOPS와 처리량은 EC2에 조회한 디스크만 포함했습니다.',
  cost: usd => `월 약 ${usd}\u00a0USD`,
  gap: (why, needs) => `${why}. 따라서 완전히 알 수 없는 것: ${needs.join(', ')}.`,
  mail: {
    title: cost => `클러스터 가비지${cost === null ? '' : `: ${cost}`}`,
    more: count => `그 외 ${n(count)}개 클러스터는 보고서에 있습니다.`,
    kind: (name, count, size) => `${name}: ${n(count)}개${size === '' ? '' : ` (${size})`}`,
    young: (count, hours) => `그 외 ${n(count)}개는 ${hours}시간 미만`,
    kinds: (kinds, more) => `${kinds.join('; ')}${more > 0 ? `; 그 외 ${n(more)}종` : ''}.`,
    gap: gap => `읽지 못함: ${gap}`,
    moreGaps: count => `그 외 목록 ${n(count)}개를 읽지 못했습니다.`,
  },
}

export const ofGarbage = { garbage }
