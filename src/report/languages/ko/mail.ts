/** Korean, as in `en/mail.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const subject: Catalogue['subject'] = {
  cutShort: subject => `[중단됨] ${subject}`,
  signed: (verdict, from) => `${verdict} - ${from}`,
  evicting: (severity, count) => `${severity}, 지금 노드 ${n(count)}개 축출 중`,
  changed: (severity, counts, count, where) => `${severity}: ${counts}; ${where} 총 ${n(count)}건`,
  nothingNew: (severity, tallied, where) =>
    `${severity}, 변경 없음: ${where} ${tallied.join(', ')}`,
  first: (severity, tallied, where) => `${severity}: ${where} ${tallied.join(', ')}`,
  empty: (headline, counts, scope) => `${headline}: ${counts === '' ? '' : `${counts}; `}${scope}`,
  someClusters: (count, all) =>
    all > count ? `클러스터 ${n(all)}개 중 ${n(count)}개` : `클러스터 ${n(count)}개`,
  andSo: counts => `${counts.join(', ')}, …`,
}

const changes: Catalogue['changes'] = {
  labels: {
    new: '신규',
    back: '재발',
    worse: '악화',
    seen: '처음 확인됨',
    better: '개선',
    unclear: '판단 불가',
    moved: '다른 노드',
    waived: '면제',
    unchanged: '변동 없음',
  },
  counts: {
    new: count => `신규 ${n(count)}건`,
    back: count => `재발 ${n(count)}건`,
    worse: count => `악화 ${n(count)}건`,
    seen: count => `처음 확인 ${n(count)}건`,
    better: count => `개선 ${n(count)}건`,
    resolved: count => `해결 ${n(count)}건`,
    gone: count => `노드와 함께 사라짐 ${n(count)}건`,
    unread: count => `더 이상 완전히 읽히지 않는 노드 또는 클러스터 ${n(count)}개`,
    unclear: (count, critical) =>
      `판단 불가 ${n(count)}건${critical === 0 ? '' : `(심각 ${n(critical)}건)`}`,
    moved: count => `이동 ${n(count)}건`,
    waived: count => `면제 ${n(count)}건`,
    absent: count => `더 이상 찾을 수 없는 클러스터 ${n(count)}개`,
    unreadNewcomers: count => `완전히 읽지 못한 새 노드 또는 클러스터 ${n(count)}개`,
  },
  standing: (count, tallied) =>
    `변동 없는 발견 항목 ${n(count)}건: ${tallied.join(', ')}. 자세한 내용은 보고서에 있습니다.`,
  nothing: time => `${time} 실행 이후 변경된 것이 없습니다.`,
  some: (time, counts) => `${time} 실행 이후: ${counts.join(', ')}.`,
  absent: (names, more, count, tallied) => {
    const which = `${names.join(', ')}${more > 0 ? ` 외 ${n(more)}개` : ''}`
    return `이번 실행에 없는 클러스터: ${which}.${count === 0 ? '' : ` 해당 발견 항목 ${n(count)}건은 마지막 확인 상태로 유지됩니다: ${tallied.join(', ')}.`}`
  },
  hidden: count => `이전에 있었으나 이번에는 판단할 수 없는 발견 항목 ${n(count)}건`,
  lastSeen: day => `마지막 확인 ${day}`,
  moreHidden: (count, tallied) => `그 외 ${n(count)}건: ${tallied.join(', ')}.`,
  ended: '종료된 항목',
  moreEnded: count => `그 외 ${n(count)}건.`,
}

const told: Catalogue['told'] = {
  some: (shown, all) => `변경되었거나 긴급한 ${n(all)}건 중 ${n(shown)}건`,
  changedAndUrgent: '변경된 항목과 긴급한 항목',
  urgent: '긴급한 항목',
  worst: (shown, all) => `발견 항목 ${n(all)}건 중 가장 심각한 ${n(shown)}건`,
  all: count => `발견 항목 ${n(count)}건`,
  more: (count, tallied) => `나머지 ${n(count)}건은 보고서에 있습니다: ${tallied.join(', ')}.`,
  configInReport: count => `KubeletConfiguration ${n(count)}줄은 보고서에 있습니다`,
  inReport: (commands, targets, moreTargets) => {
    const named = `${targets.join(', ')}${moreTargets > 0 ? ` 외 ${n(moreTargets)}개` : ''}`
    const parts = [
      ...(commands > 0 ? [`명령 ${n(commands)}개`] : []),
      ...(targets.length > 0 ? [`영구 적용을 위한 설정(${named})`] : []),
    ]
    return `보고서 수록: ${parts.join(', ')}.`
  },
  whatToDo: '조치:',
  inConfiguration: 'KubeletConfiguration 설정:',
}

const notAudited: Catalogue['notAudited'] = {
  more: (reasons, entries) =>
    `그 외 사유 ${n(reasons)}건(노드 또는 클러스터 ${n(entries)}개)은 보고서에 있습니다.`,
  cluster: name => `클러스터 ${name}`,
  clusterCount: count => `${n(count)}개 클러스터`,
  clusters: (count, names) => `클러스터 ${n(count)}개: ${names}`,
  nodes: (count, cluster, names) => `${cluster}의 노드 ${n(count)}개: ${names}`,
  names: (names, more) => `${names.join(', ')}${more > 0 ? ` 외 ${n(more)}개` : ''}`,
}

const cutShort: Catalogue['cutShort'] = {
  title: '이번 실행은 중간에 끝났습니다',
  unread: count => `노드 ${n(count)}개를 읽지 못함`,
  partly: count => `노드 ${n(count)}개를 일부만 읽음`,
  clusters: count => `클러스터 ${n(count)}개를 끝까지 읽지 못함`,
  text: (parts, why) => `${parts.join(', ')}: ${why}. 아래 내용에는 포함되지 않습니다.`,
}

const report: Catalogue['report'] = {
  title: '전체 보고서',
  open: '보고서 열기',
  openAt: '보고서 열기:',
  attached: isKept =>
    `이 메일에 report.html로 첨부되어 있습니다.${isKept ? '' : ' 저장소에는 보관되지 않습니다.'}`,
  channels: { s3: 'S3', folder: '폴더', ses: 'SES' },
  place: (channel, location) => `${channel}: ${location}`,
  morePlaces: count => `그 외 ${n(count)}곳`,
  moreChannels: count => `그 외 채널 ${n(count)}개`,
  notDelivered: channel => `전달 실패: ${channel}`,
  undelivered: channels => `전달 실패: ${channels.join(', ')}. 사유는 메일 끝에 있습니다.`,
  failed: '실패했으며, 기록된 사유가 없습니다.',
}

const mail: Catalogue['mail'] = {
  snapshot: time => `스냅샷: ${time}`,
  audience: owner => `${owner} 담당 범위만 포함`,
  waived: count => `정책으로 면제된 ${n(count)}건은 집계에서 제외`,
  unsubscribe: addresses => `수신을 원하지 않으면: ${addresses.join(' 또는 ')}`,
  footer: (version, account, region) => `highwater ${version}, 계정 ${account}, 리전 ${region}`,
  headings: {
    cutShort: '중간에 끝난 실행',
    verdict: '판정',
    findings: '발견 항목',
    hidden: '판단할 수 없는 항목',
    ended: '종료',
    garbage: '클러스터 가비지',
    plan: '조치 계획',
    notAudited: '미감사',
    report: '전체 보고서',
  },
  brief: {
    cutShort: (title, text) => `${title}: ${text}`,
    finding: (severity, label, title, where) =>
      `- ${severity}${label === null ? '' : ` (${label})`}: ${title}: ${where}`,
    more: '- 나머지는 보고서에 있습니다',
    hidden: (title, list) =>
      `${title}: ${list.map(one => `${one.severityWord}: ${one.title} (${one.where})`).join('; ')}`,
    ended: (title, list) =>
      `${title}: ${list.map(one => `${one.title} (${one.where}): ${one.how}`).join('; ')}`,
    gaps: gaps => `이 판정에 포함되지 않은 것: ${gaps}`,
    report: link => `보고서: ${link}`,
  },
}

export const ofMail = { subject, changes, told, notAudited, cutShort, report, mail }
