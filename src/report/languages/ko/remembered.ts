/** Korean, as in `en/remembered.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const growth: Catalogue['growth'] = {
  unseen: {
    first: () => '시작 이후 이전 수집 없음',
    few: count => `아직 수집 ${n(count)}회뿐`,
    near: () => '수집 시각이 서로 너무 가까움',
    emptier: count => `수집 ${n(count)}회에서 대체로 감소`,
  },
  seen: (rate, seen) => `증가율 ${rate}, ${seen}`,
  assumed: why => `가정한 증가율${why === null ? '' : `: ${why}`}`,
  note: (disk, rate, seen) => `${disk} 증가율 약 ${rate}: ${seen}.`,
  readings: (count, duration, falls) =>
    `${duration} 동안 수집 ${n(count)}회${falls === 0 ? '' : `, 중간에 ${falls}회 감소`}`,
  rate: (bytes, isHourly, range) =>
    `${isHourly ? '시간당' : '하루'} ${bytes}${range === null ? '' : ` (${range})`}`,
  notWithin: duration => `${duration} 내 도달하지 않음`,
  fastest: duration => `관측된 최고 속도로 ${duration}`,
  about: duration => `약 ${duration} 후`,
  fromTo: (from, to) => `${from}–${to}`,
  orLater: from => `${from} 이후`,
}

const trends: Catalogue['trends'] = {
  title: '추이',
  clustersCaption: '클러스터. 흐린 선은 심각·높음 발견 항목입니다',
  groups: '그룹별 (사용률이 높은 순)',
  groupsOverTime: '노드 그룹의 추이',
  groupsCaption:
    '근접: image GC 대상이거나 시작까지 5포인트 미만. 흐린 선은 그룹 디스크의 중앙값입니다',
  columns: {
    cluster: '클러스터',
    group: '그룹',
    grade: '등급',
    findings: '발견 항목',
    near: 'image GC에 근접한 노드',
    used: '가장 많이 찬 이미지 디스크',
  },
  lead: (days, first, last) =>
    `${first}부터 ${last}까지 ${n(days)}일, 각 날의 마지막 실행 기준입니다. 선이 끊긴 곳은 알 수 없습니다.`,
  allClusters: '전체 클러스터',
  moreClusters: count => `그 외 ${n(count)}개 클러스터: highwater history로 확인할 수 있습니다.`,
  moreGroups: count => `그 외 ${n(count)}개 그룹: highwater history로 확인할 수 있습니다.`,
  about: (cluster, known, nodes) =>
    `${cluster}, ${known < nodes ? `${n(nodes)}개 중 ${n(known)}개 노드 확인` : `${n(nodes)}개 노드`}`,
  nearImageGc: 'image GC 근접',
  atFirst: (now, first) => `${now} (처음 ${first})`,
  noGrade: '없음',
  gradeUntil: (grade, day) => `${day}까지 ${grade}`,
  median: percent => `중앙값 ${percent}`,
  described: (what, { first, least, most, now }) =>
    `일별 ${what}: 처음 ${first}, 최소 ${least}, 최대 ${most}, 현재 ${now}`,
}

const week: Catalogue['week'] = {
  in: (days, parts) => `최근 ${n(days)}일: ${parts.join('; ')}.`,
  findings: (change, urgent) =>
    `발견 항목 ${change}${urgent.length === 0 ? '' : ` (${urgent.join(', ')})`}`,
  severity: (severity, change) => `${severity} ${change}`,
  near: change => `image GC에 근접한 노드 ${change}`,
  used: change => `가장 많이 찬 이미지 디스크 ${change}`,
  grades: (grades, more) => `등급 ${grades.join(', ')}${more > 0 ? ` 외 ${n(more)}건` : ''}`,
  asBefore: value => `${value} (변동 없음)`,
  fromTo: (then, is) => `${then} → ${is}`,
}

const returned: Catalogue['returned'] = {
  endings: {
    fixed: '해결',
    replaced: '새 노드로 해결',
    gone: '노드와 함께 사라짐',
    moved: '다른 발견 항목으로 옮겨짐',
  },
  told: (ending, on, since) => `${on} ${ending}, 그 전에는 ${since}부터 존재`,
}

export const remembered = { growth, trends, week, returned }
