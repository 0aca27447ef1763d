/** Korean, as in `en/paper.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const of = (shown: number, all: string) =>
  `인쇄본: ${all} 중 ${n(shown)}개만 실립니다. 나머지는 페이지에 있습니다.`

const paper: Catalogue['paper'] = {
  clusters: (shown, all) => of(shown, `클러스터 ${n(all)}개`),
  waived: (shown, all) => of(shown, `면제된 항목 ${n(all)}개`),
  unknowns: (shown, all) => of(shown, `판정 불가 ${n(all)}개`),
  notAudited: (shown, all) => of(shown, `미감사 ${n(all)}개`),
  findings: (tables, findings) =>
    `인쇄본: ${[
      ...(tables > 0 ? [`접힌 표 ${n(tables)}개는 페이지에서 펼칠 수 있습니다.`] : []),
      ...(findings === null ? [] : ['근거, 이름, 명령, 새 노드용 설정은 페이지에 있습니다.']),
      ...(findings !== null && findings.short > 0
        ? [`처음 ${findings.whole}건 이후의 ${n(findings.short)}건은 요약입니다.`]
        : []),
      ...(findings !== null && findings.left > 0
        ? [`나머지 ${n(findings.left)}행은 페이지에만 있습니다.`]
        : []),
    ].join(' ')}`,
  thresholds: folded =>
    `인쇄본: 펼친 표만 인쇄됩니다. 나머지 ${n(folded)}개 표는 페이지에서 펼칠 수 있습니다.`,
  nodes: (groups, left) =>
    `인쇄본: 처음 ${n(groups)}개 그룹에서 축출에 가장 가까운 노드만 실립니다. ${n(left)}개 노드는 페이지에만 있습니다.`,
  rules: count => `인쇄본: 규칙 ${n(count)}개의 설명은 페이지에 있습니다.`,
}

export const ofPaper = { paper }
