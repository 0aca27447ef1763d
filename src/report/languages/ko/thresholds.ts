/** Korean, as in `en/thresholds.ts`. */
import type { ThresholdSource } from '#model/prediction.ts'
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const thresholds: Catalogue['thresholds'] = {
  title: '실제 적용 중인 임계값',
  leadBefore:
    '이미지와 kubelet minor 버전이 같은 그룹의 노드마다 표 하나를 보여 주며, 문제가 많은 순서입니다. 값은 실행 중인 kubelet의 값이며, 파일만 읽은 경우에는 그 파일이 의미하는 값입니다. 빨간색 ',
  leadNone: '없음',
  leadAfter: ': 기본값이 사라졌거나 꺼졌거나 아무도 설정하지 않아 적용되는 임계값이 없습니다.',
  noKubelet: '알려진 kubelet이 없습니다.',
  caption: (group, cluster, image) => `${cluster}의 ${group} 임계값, ${image}`,
  columns: {
    signal: '시그널',
    value: '값',
    comesTo: '환산값',
    grace: '유예 시간',
    reclaim: '최소 회수량',
    from: '출처',
    preset: '업스트림 기본값',
  },
  labels: { grace: '유예 시간', reclaim: '최소 회수량', from: '출처', preset: '업스트림 기본값' },
  parts: { hard: '하드 축출', soft: '소프트 축출', imageGc: 'Image GC' },
  fields: {
    imageGCHighThresholdPercent: '상한 임계값, %',
    imageGCLowThresholdPercent: '하한 임계값, %',
    imageMinimumGCAge: '최소 경과 시간',
    imageMaximumGCAge: '최대 경과 시간',
  },
  everySignal: '모든 시그널',
  everyOtherSignal: '그 외 모든 시그널',
  moreCohorts: count => `그 외 ${n(count)}개 코호트 이름`,
  otherImage: '기타 이미지',
  kubelet: minor => `kubelet ${minor}`,
  kubeletUnknown: 'kubelet 버전 알 수 없음',
  image: (image, kubelet) => `${image}, ${kubelet}`,
  defaultsOf: minor => `${minor}의 기본값 사용`,
  nodesOf: (count, types) =>
    `${n(count)}개 노드${types.length === 0 ? '' : `: ${types.join(', ')}`}`,
  moreTypes: count => `그 외 ${n(count)}개 인스턴스 유형`,
  unwatched: (signals, count) =>
    `${signals.join(', ')} 감시 없음${count === null ? '' : ` (${n(count)}개 노드)`}`,
  variants: count => `설정 ${n(count)}종`,
  nodesNotKnown: count => `${n(count)}개 노드 알 수 없음`,
  named: (count, names, more) =>
    `${n(count)}개 노드 (${names.join(', ')}${more > 0 ? ` 외 ${n(more)}개` : ''})`,
  variant: (letter, named, missing) => [`${letter}: ${named}`, ...missing].join('. '),
  evictionNotKnown: why => `축출 임계값 알 수 없음: ${why}`,
  imageGcNotKnown: why => `Image GC 알 수 없음: ${why}`,
  moreVariants: (count, named) => `표시하지 않은 설정 ${n(count)}종: ${named}`,
  notKnownFor: (named, why) => `${named}: 알 수 없음. ${why}`,
  notKnownForOthers: (named, reasons) => `${named}: 다른 사유 ${n(reasons)}건으로 알 수 없음.`,
  row: (letters, count) => `${letters}: ${n(count)}개 노드`,
}

const setting: Catalogue['setting'] = {
  same: '동일',
  atOnce: '즉시',
  noneWritten: value => `없음 (${value})`,
  offWritten: value => `꺼짐 (${value})`,
  onlyOn: (text, count) => `${text}, ${n(count)}개 노드만`,
  on: (text, count) => `${text} (${n(count)}개 노드)`,
  more: count => `그 외 ${n(count)}건`,
  neverMet: watch => `환산값이 0이므로 도달하지 않음; ${watch}`,
  doesNotRun: '여기서는 적용되지 않음',
  switchedOff: '설정됨: 끔',
  lost: by => `사라짐: ${by}`,
  nobodySet: '설정한 곳 없음',
  off: '끔',
  notSet: '설정되지 않음',
  configured: '설정됨',
  nothingWatches: '감시하는 것이 없음',
  watchNotKnown: sister => `${sister}의 같은 디스크 감시 여부 알 수 없음`,
  onlySoftWatches: '소프트 임계값만 감시함',
  sisterWatches: (sister, isCertain) =>
    `${sister}에서 같은 디스크를 감시함${isCertain ? '' : ' (유력)'}`,
  notObserved: (filesystem, count) =>
    `알 수 없음${count === null ? '' : ` (${n(count)}개 노드)`}: ${filesystem} 관측되지 않음`,
  pids: range => `${range} pid`,
  inodes: range => `${range} inode`,
  noSoft: isKnownOfAll => `설정한 곳 없음${isKnownOfAll ? '' : ' (알려진 범위에서)'}`,
  noSuchSetting: '이 kubelet에는 없는 설정',
  neverStarts: 'image GC가 시작되지 않음: 이미지는 축출 시에만 삭제됨',
  startsAbove: used => `시작: ${used} 초과`,
  deletesDownTo: used => `${used}까지 삭제`,
  minimumAge: age => `공간 확보를 위한 삭제에서 처음 ${age} 동안 보호`,
  noMaximumAge: '꺼짐: 기간으로 삭제하지 않음',
  maximumAge: age => `${age} 동안 미사용이면 삭제`,
  used: (percent, bytes, unread) => {
    if (bytes === null) return `${percent} 사용; 바이트 값 알 수 없음: imagefs 관측되지 않음`
    return `${percent} 사용, ${bytes}${unread === 0 ? '' : `; ${n(unread)}개 노드 알 수 없음: imagefs 관측되지 않음`}`
  },
}

const sources: Record<ThresholdSource, string> = {
  'upstream default': '업스트림 기본값',
  'AMI default': 'AMI 기본값',
  file: '파일',
  'drop-in': 'drop-in',
  flag: '플래그',
  configured: '설정됨',
  'no file': '설정 파일 없음',
  'earlier files': '현재 파일이 아님(시작 이후 변경됨)',
  kubelet: 'kubelet 자체',
}
const losers: Record<ThresholdSource, string> = {
  'upstream default': '업스트림 기본값',
  'AMI default': 'AMI의 evictionHard',
  file: '파일의 evictionHard',
  'drop-in': 'drop-in',
  flag: '플래그 --eviction-hard',
  configured: '설정된 evictionHard',
  'no file': '설정 파일 없음',
  'earlier files': '파일에는 있으나 시작 이후 변경됨',
  kubelet: 'kubelet',
}

const origin: Catalogue['origin'] = {
  from: (source, path, isLikely) =>
    `${sources[source]}${path === null ? '' : ` ${path}`}${isLikely ? ' (유력)' : ''}`,
  lostBy: (source, path, isLikely) =>
    `${losers[source]}${path === null ? '' : ` ${path}`}${isLikely ? ' (유력)' : ''}`,
}

export const ofThresholds = { thresholds, setting, origin }
