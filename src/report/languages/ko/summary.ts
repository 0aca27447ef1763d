/** Korean, as in `en/summary.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const verdict: Catalogue['verdict'] = {
  headline: (severity, count, evicting) =>
    `${severity}: ${evicting > 0 ? `지금 노드 ${n(evicting)}개 축출 중, ` : ''}발견 항목 ${n(count)}건`,
  nothingRead: '아무것도 읽지 못했습니다',
  nothingFound: '읽은 범위에서 발견 항목이 없습니다',
  worst: (title, subject, cluster, count) =>
    `가장 심각: ${title} (${cluster}의 ${subject}${count === 0 ? '' : `, ${n(count)}개 노드`})`,
  scope: (clusters, read, all, partly) =>
    `${n(clusters)}개 클러스터, 노드 ${n(all)}개 중 ${n(read)}개 읽음${partly > 0 ? `, ${n(partly)}개 일부만 읽음` : ''}`,
  bySeverity: '심각도별 발견 항목',
  notCovered: '이 판정에 포함되지 않은 것:',
  notAudited: (nodes, clusters) =>
    `${[nodes > 0 ? `노드 ${n(nodes)}개` : '', clusters > 0 ? `클러스터 전체 ${n(clusters)}개` : ''].filter(Boolean).join('와 ')} 미감사`,
  notWhollyRead: count => `클러스터 ${n(count)}개를 끝까지 읽지 못함`,
  partlyRead: count => `노드 ${n(count)}개를 일부만 읽음`,
  undecided: count => `${n(count)}건 판정 불가`,
  inputErrors: count => `입력 오류 ${n(count)}건`,
  noNode: '알려진 노드가 없습니다.',
  complete: '누락된 것이 없습니다. 모든 노드를 읽었고 모든 규칙이 판정했습니다.',
  byCluster: '클러스터별 등급과 수집 범위',
  grade: '등급',
  noGrade: '등급 없음',
  noNodeOfCluster: '알려진 노드 없음',
  coverage: (read, all, percent, partly, not) =>
    [
      `노드 ${n(all)}개 중 ${n(read)}개 읽음 (${percent})`,
      ...(partly > 0 ? [`일부만 ${n(partly)}개`] : []),
      ...(not > 0 ? [`읽지 못함 ${n(not)}개`] : []),
    ].join(', '),
  moreClusters: count => `그 외 ${n(count)}개 클러스터는 findings.json에 있습니다`,
}

const news: Catalogue['news'] = {
  title: '지난 실행 이후 변경 사항',
  comparedBefore: '비교 대상 실행: ',
  comparedAfter: '. ',
  changed: {
    new: '신규',
    worse: '악화',
    waiverExpired: '면제 종료',
    newlySeen: '처음 확인됨',
    cannotTell: '판단 불가',
    moved: '다른 노드로 이동',
    better: '개선',
    fixed: '해결',
    fixedOrGone: '해결 또는 소멸',
    gone: '노드와 함께 사라짐',
    waivedSince: '이후 면제',
  },
  backAgain: '재발',
  newOrWorse: '신규 또는 악화',
  fixedOrBetter: '해결, 개선 또는 소멸',
  neither: '그 외',
  counts: {
    new: count => `신규 ${n(count)}건`,
    worse: count => `악화 ${n(count)}건`,
    better: count => `개선 ${n(count)}건`,
    ended: count => `해결 또는 소멸 ${n(count)}건`,
    otherwise: count => `기타 변경 ${n(count)}건`,
    cannotTell: count => `판단 불가 ${n(count)}건`,
    unchanged: count => `변동 없음 ${n(count)}건`,
  },
  summary: (isChanged, counts) =>
    `${isChanged ? '발견 항목' : '변경된 발견 항목이 없습니다'}: ${counts.length === 0 ? '이전에도 지금도 없습니다' : counts.join(', ')}.`,
  withoutHistory: (newOnes, ended) =>
    `지난 실행 이후: 신규 ${n(newOnes)}건, 해결 또는 소멸 ${n(ended)}건.`,
  noEarlierRun: '이전 실행 기록이 없어 신규 여부를 표시하지 않습니다.',
  nodes: (come, gone, notRead) =>
    `노드: ${[
      come > 0 ? `추가 ${n(come)}개` : '',
      gone > 0 ? `제거 ${n(gone)}개` : '',
      notRead > 0 ? `이번에 끝까지 읽지 못한 노드 또는 클러스터 ${n(notRead)}개` : '',
    ]
      .filter(Boolean)
      .join(', ')}.`,
  moreInDiff: count => `그 외 ${n(count)}건: highwater diff로 모두 확인할 수 있습니다.`,
  more: count => `그 외 ${n(count)}건`,
  gradesChanged: '변경된 등급',
  grade: (cluster, was, is) => `${cluster}: ${was} → ${is}`,
  notInLastRun: '지난 실행에 없음',
  notInThisRun: '이번 실행에 없음',
}

const outlook: Catalogue['outlook'] = {
  title: '다음에 발생할 문제',
  byTime: '첫 축출까지 남은 시간별 노드',
  caption: '가장 먼저 축출을 시작할 노드입니다.',
  columns: {
    node: '노드',
    disk: '디스크',
    imageGc: 'Image GC',
    pressure: '압박 상태',
    eviction: '축출',
    first: '빠르게 찰 때',
    victims: '첫 축출 대상',
    victimsAndChange: '첫 축출 대상과 변경할 것',
  },
  toDo: '조치:',
  change: (fields, more) => `${fields.join(', ')}${more > 0 ? ` 외 ${n(more)}개` : ''} 설정`,
  evictFirst: isAssumed => `먼저 축출할 노드${isAssumed ? ' (가정한 증가율 기준)' : ''}:`,
  evictFirstBrief: (title, first) =>
    `${title} ${first.map(({ when, name }) => `${when} ${name}`).join(', ')}`,
  now: '지금',
  within: duration => `${duration} 이내`,
  withinDays: days => `${n(days)}일 이내`,
  later: '7일 이내 아님',
  neverOrUnwatched: '현재 증가율로는 도달하지 않거나 감시되지 않음',
  unknownTime: '알 수 없음',
  never: '도달하지 않음',
  in: duration => `${duration} 후`,
  off: '꺼짐',
  below: threshold => `${threshold} 미만`,
  disk: (used, free) => `${used} 사용, ${free} 여유`,
  asSeen: within => `${within} (관측된 증가율)`,
  asAssumed: within => `${within} (가정한 증가율)`,
  basis: ({ observed, due, isFirstLook }, growth, period) => {
    const burst = `${period}마다 용량의 ${growth}`
    const assumed = `디스크가 ${burst}만큼 증가한다고 가정합니다(정책 assumedGrowthPercent).`
    const seen =
      '이전 수집에서 본 증가율을 사용합니다. 두 수집 사이에 생겼다 사라진 것은 보이지 않으므로 더 빨리 찰 수 있습니다.'
    const order =
      '목록과 집계의 순서는 같습니다. 7일 안에 도달하는 것으로 관측된 노드, 증가율을 가정한 노드, 도달하지 않는 것으로 관측된 노드의 순서입니다.'
    const rate =
      observed === 0
        ? `관측된 증가율이 없으므로${isFirstLook ? '(모든 노드에 시작 이후 이전 수집이 없음)' : ''} ${assumed}`
        : observed < due
          ? `노드 ${n(observed)}개는 ${seen} 나머지는 ${assumed} ${order}`
          : `${seen} ${order}`
    return `${rate} 시간은 각 노드를 읽은 시점부터, 그 전에 아무것도 해제되지 않는다고 보고 계산하며, kubelet이 동작을 시작하는 시점을 뜻합니다. ‘빠르게 찰 때’: 디스크가 ${burst}만큼 증가할 때 무엇이 먼저 일어나는지를 뜻합니다. image GC는 ${period}마다 한 번만 확인하므로 다음 확인 전에 축출이 먼저 일어날 수 있습니다.`
  },
  acts: {
    'image-gc': 'image GC가 먼저',
    eviction: '축출이 먼저',
    either: '축출이 먼저일 수 있음',
    nobody: '아무 동작 없음',
  },
  noVictim: '축출할 수 있는 Pod 없음',
  oneOf: (count, pods) => `동일 순위 ${n(count)}개 중 하나: ${pods}`,
  andThen: (first, rest) => `${first}, 그다음 ${rest.join(', ')}`,
  leftOut: count =>
    `이후 ${n(count)}개 노드는 위의 합계에 포함되어 있으며, ‘노드’의 각 그룹에서 볼 수 있습니다.`,
  nothing: '축출 시점을 알 수 있는 노드가 없습니다.',
}

const overview: Catalogue['overview'] = {
  title: '여유 기준 전체 노드',
  lead: '각 노드를 가장 가까운 축출 임계값까지 남은 여유(해당 디스크 또는 메모리 대비 %)로 나타냅니다. 임계값에 가까운 순서입니다.',
  shapes: '도형의 의미',
  caption: '여유 기준 노드 그룹, 축출에 가까운 순',
  columns: { group: '그룹', where: '노드 분포' },
  bands: {
    met: '임계값 도달',
    'image-gc': 'image GC 대상',
    close: '5\u00a0% 미만',
    near: '5–15\u00a0%',
    calm: '15\u00a0% 초과',
    unknown: '알 수 없음',
  },
  moreGroups: count => `그 외 ${n(count)}개 그룹`,
  described: (count, bands) => `${n(count)}개 노드: ${bands}`,
}

const opportunities: Catalogue['opportunities'] = {
  title: '개선 기회',
  caption: '효과를 계산할 수 있는 변경, 효과가 큰 순',
  columns: { gain: '효과', change: '변경', where: '대상' },
  wholeFix: '전체 조치 보기',
  nothing: '효과를 계산할 수 있는 변경이 없습니다.',
  leftOut: count => `효과가 더 작은 ${n(count)}건은 생략했습니다. 각 발견 항목에 조치가 있습니다.`,
  noNeedlessEviction: count => `${n(count)}개 노드에서 미사용 이미지로 인한 축출 방지`,
  earlier: (lead, before) => `image GC가 축출 ${lead} 전에 시작 (변경 전: ${before})`,
  leadBefore: duration => `${duration} 전`,
  leadAfter: duration => `${duration} 후`,
  leadNone: '동시',
  leadNever: '시작하지 않음',
  usable: bytes => `디스크 ${bytes} 추가 사용 가능`,
  usableOn: (gained, all, percent) =>
    `${gained < all ? `${n(all)}개 중 ${n(gained)}개` : `${n(all)}개`} 노드, 임계값 ${percent}\u00a0% 기준`,
  set: fields => `${fields}로 설정`,
}

const plan: Catalogue['plan'] = {
  title: '조치 계획',
  digest: '다이제스트',
  failed: why => `조치 계획을 만들지 못했습니다: ${why}`,
  beside: (never, refused, unchanged) =>
    `그 외: 변경하지 않는 노드 ${n(never)}개, 거부된 노드 ${n(refused)}개, 이미 원하는 상태인 노드 ${n(unchanged)}개.`,
  nothing: beside => `조치 계획으로 변경될 노드가 없습니다. ${beside}`,
  made: (nodes, waves, beside) =>
    `${n(nodes)}개 노드를 ${n(waves)}개 웨이브로 조치할 수 있으며, 각 코호트에서 1개 노드를 먼저 변경합니다. ${beside} 아직 아무것도 변경하지 않았습니다. 어느 노드에 무엇을 쓰고 그 결과가 어떻게 되는지는 plan.json에 있습니다. 내용을 확인한 뒤 다음 명령으로 승인합니다:`,
}

export const summary = { verdict, news, outlook, overview, opportunities, plan }
