/** Korean, as in `en/findings.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const findings: Catalogue['findings'] = {
  title: '발견 항목',
  none: '읽은 범위에서는 없습니다.',
  link: '이 항목의 링크',
  doubts: {
    certain: null,
    likely: '유력: 읽지 못한 정보에 근거하지만, 이런 노드에서는 거의 항상 그렇습니다.',
    possible: '가능: 실제로 그런지는 읽지 못한 정보에 달려 있습니다.',
  },
  byName: nodes => `${nodes} 이름`,
  evidence: '근거',
  whatWasRead: '읽은 항목',
  value: '값',
  moreInDocument: count => `그 외 ${n(count)}건은 findings.json에 있습니다`,
  fix: '조치',
  commands: '명령',
  durable: target => `새 노드에도 적용하려면: ${target}`,
  rule: rule => `규칙: ${rule}`,
  more: '나머지 발견 항목',
  moreInShort: '나머지 발견 항목 (요약)',
  sumsCaption: '행이 없는 발견 항목, 규칙별',
  columns: {
    severity: '심각도',
    finding: '발견 항목',
    cluster: '클러스터',
    subject: '대상',
    nodes: '노드',
    confidence: '확실성',
    rule: '규칙',
    findings: '건수',
    clusters: '클러스터',
    until: '기한',
    reason: '사유',
  },
  leftOut: (count, tallied, others) =>
    `나머지 ${n(count)}건(${tallied.join(', ')})은 페이지가 너무 무거워지므로 findings.json에만 있습니다. 규칙별 건수:${others === 0 ? '' : ` (그 외 규칙 ${n(others)}건)`}`,
  tallied: (count, severity) => `${severity} ${count}건`,
}

const rules: Catalogue['rules'] = {
  title: '여기 나온 규칙',
  what: '내용',
  why: '이유',
  fix: '조치',
  family: '분류',
  sources: '출처',
}

const waived: Catalogue['waived'] = {
  title: '면제',
  caption: '정책의 waiver가 기한까지 면제하는 발견 항목',
  none: '면제된 항목이 없습니다.',
  noReason: '사유 없음',
  idle: (waiver, until) =>
    `${until}까지인 waiver(${waiver})에 해당하는 발견 항목이 없습니다. 삭제해도 되거나, 의도한 대상과 일치하지 않습니다.`,
  leftOut: count => `그 외 ${n(count)}건은 findings.json에 있습니다.`,
}

const remainder: Catalogue['remainder'] = {
  passed: '통과',
  outcomes: '클러스터별 판정 결과와 발견이 없는 규칙',
  outcomesCaption: '판정 결과: 규칙과 대상마다 하나',
  columns: {
    cluster: '클러스터',
    pass: '통과',
    fail: '실패',
    unknown: '알 수 없음',
    notApplicable: '해당 없음',
    error: '오류',
    rule: '규칙',
    subject: '대상',
    nodes: '노드',
    node: '노드',
    why: '이유',
  },
  quietRules: (count, all) =>
    `규칙 ${n(all)}개 중 ${n(count)}개는 발견도 판정 불가도 없었습니다${count > 0 ? ':' : '.'}`,
  noRulePassed: '통과한 규칙이 없습니다. 판정할 수 있는 정보를 읽지 못했습니다.',
  undecided: '판정 불가',
  undecidedCaption: '규칙이 판정하지 못한 것과 그 이유: 알 수 없음은 통과가 아닙니다',
  allDecided: '모든 규칙이 판정했습니다.',
  notAudited: '미감사',
  notAuditedCaption: '조사하지 않은 것과 그 이유',
  nothingLeftOut: '누락된 것이 없습니다.',
  clusterItself: '클러스터 자체',
  wholeCluster: '클러스터 전체',
  howRead: '수집 방법',
  inputErrors: '입력 오류',
  leftOut: count => `그 외 ${n(count)}건은 findings.json에 있습니다.`,
  snapshotTaken: '스냅샷 시각',
  source: '원본',
  live: '클러스터에서 직접 수집',
  saved: '저장된 스냅샷',
  nodes: '노드',
  account: 'AWS 계정',
  region: '리전',
  rules: '규칙',
  asked: (count, way, mode, rights, answered) =>
    `${n(count)}개 노드, ${way} (모드 ${mode}, 필요 권한: ${rights}): ${answered.join(', ')}`,
  answered: (count, state) => `${n(count)}개 ${state}`,
}

export const ofFindings = { findings, rules, waived, remainder }
