/** Korean, as in `en/page.ts`. */
import type { Catalogue } from '#report/languages/en.ts'

export const ofPage: Pick<Catalogue, 'page' | 'script'> = {
  page: {
    audience: owner =>
      `${owner} 담당 범위만 포함합니다. 수집 범위, 판정 결과, 등급은 각 클러스터에서 담당하는 부분에 대한 것입니다.`,
    title: (headline, clusters) => `${headline} (${clusters}) · highwater`,
    skip: '판정으로 건너뛰기',
    snapshotBefore: '스냅샷: ',
    snapshotAfter: '',
    sections: '목차',
    contents: {
      news: '변경 사항',
      outlook: '다음에 발생할 문제',
      fleet: '전체 노드',
      trends: '추이',
      opportunities: '개선 기회',
      findings: '발견 항목',
      plan: '계획',
      thresholds: '임계값',
      nodes: '노드',
      garbage: '클러스터 가비지',
      waived: '면제',
      passed: '통과',
      undecided: '판정 불가',
      notAudited: '미감사',
      howRead: '수집 방법',
    },
  },
  script: {
    copy: '복사',
    copied: '복사됨',
    filterFindings: '발견 항목 필터',
    filterNodes: '노드 필터',
    clear: '초기화',
    search: '검색',
    searchNodes: '노드, 그룹, 상태 검색',
    severity: '심각도',
    cluster: '클러스터',
    family: '분류',
    order: '정렬',
    any: '전체',
    worstFirst: '심각한 순',
    orders: { nodes: '노드 수', newest: '최신순', cluster: '클러스터' },
    shown: '전체 {all}건 중 {shown}건 표시',
    nodesShown: '이 페이지의 노드 {all}개 중 {shown}개 표시',
  },
}
