/** Korean, as in `en/terminal.ts`. */
import type { Catalogue } from '#report/languages/en.ts'

export const ofTerminal: Pick<Catalogue, 'terminal'> = {
  terminal: {
    columns: { cluster: '클러스터', grade: '등급', read: '읽은 노드', findings: '발견 항목' },
    partly: (read, count) => `${read}, 일부 ${count}`,
    since: counts => `지난 실행 이후: ${counts.join(', ')}`,
    changedFinding: (severity, title, where) => `${severity}: ${title} (${where})`,
    nothingFound: '발견 없음',
    tallied: (count, severity) => `${severity} ${count}`,
    moreFindings: count => `… 나머지 ${count}건은 보고서에 있습니다.`,
    noFindings: '발견 항목이 없습니다.',
    input: message => `입력 ${message}`,
    ruleFailed: (rule, node, message) =>
      `${node}에서 규칙 ${rule} 실패: ${message}. highwater의 오류이므로 제보해 주십시오`,
    nodes: (count, names) => `${count}개 노드, ${names.join(', ')}, …`,
    notAudited: count => `미감사 (${count}):`,
    cluster: name => `클러스터 ${name}`,
    node: (cluster, node) => `${cluster}, 노드 ${node}`,
    moreNotAudited: count => `… 나머지 ${count}건은 보고서에 있습니다`,
    report: '보고서:',
    snapshot: '스냅샷:',
  },
}
