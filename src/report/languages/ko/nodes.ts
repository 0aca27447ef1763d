/** Korean, as in `en/nodes.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const gauge: Catalogue['gauge'] = {
  oneDisk: 'nodefs = imagefs (디스크 1개)',
  inodesOf: disk => `${disk}의 inode`,
  memory: '메모리',
  notObserved: '알 수 없음: 관측되지 않음',
  bytes: (used, all, free) => `${all} 중 ${used} 사용, ${free} 여유`,
  inodes: (used, all, free) => `inode ${all} 중 ${used} 사용, ${free} 여유`,
  inodeCount: count => `inode ${n(count)}개`,
  marks: {
    'gc-start': 'image GC 시작',
    'gc-stop': 'image GC 종료',
    alert: '설정된 알림',
    soft: '소프트 축출',
    hard: '하드 축출',
  },
  softFor: (threshold, grace) => `${threshold}, ${grace} 지속`,
  thresholdsUnknown: '축출 임계값: 알 수 없음.',
  settingsDoNotParse: why => `축출 설정을 해석할 수 없습니다: ${why}`,
  bytesUnwatched: '이 파일시스템의 바이트를 감시하는 축출 임계값이 없습니다.',
  memoryUnwatched: '이 노드의 메모리를 감시하는 축출 임계값이 없습니다.',
  imageGcUnknown: 'Image GC: 알 수 없음.',
  imageGcOff: high =>
    `디스크 사용률에 따른 image GC가 꺼져 있습니다(imageGCHighThresholdPercent ${high}).`,
  imageGcFails: why => `Image GC 실패: ${why}`,
  dueUnknown: 'Image GC 실행 대상 여부: 알 수 없음.',
  dueNow: toFree => `지금 image GC 실행 대상입니다. ${toFree} 확보가 필요합니다.`,
  untilImageGc: bytes => `${bytes} 더 사용하면 image GC가 시작됩니다.`,
  threshold: (mark, setting) => `${mark} (${setting})`,
  farUnknown: (threshold, filesystem) =>
    `${threshold}까지 남은 양: 알 수 없음(${filesystem} 관측되지 않음).`,
  met: (threshold, below) => `도달: ${threshold}, ${below} 부족.`,
  until: (threshold, amount) => `${threshold}까지 ${amount} 남음.`,
  nowUnknown: '현재 사용률은 알 수 없습니다.',
  now: (used, summary) => `현재 ${used} 사용, ${summary}.`,
  markAt: (mark, percent, setting) => `${mark} ${percent} (${setting})`,
  marksAre: marks => `표시: ${marks.join('; ')}.`,
  noMarks: '표시 없음.',
}

const node: Catalogue['node'] = {
  states: { calm: '', 'image-gc': 'image GC 대상', pressure: '축출 임계값 도달' },
  used: percent => `${percent} 사용`,
  link: '이 노드의 링크',
  ready: { True: 'Ready', False: 'Ready 아님', Unknown: 'Ready 알 수 없음' },
  readinessUnknown: 'Ready 여부 알 수 없음',
  asked: way => way,
  more: '기타',
  moreReasons: count => `나머지 사유 ${count}건은 스냅샷에 있습니다.`,
  disk: '디스크',
  nothingObserved: '관측된 파일시스템이 없으며, 기록된 사유도 없습니다.',
  onDisk:
    '임계값은 디스크의 파일 또는 설정에서 읽은 값입니다. 그 이후 kubelet이 재시작되었는지는 알 수 없습니다.',
  layoutUnknown: 'nodefs와 imagefs가 같은 디스크인지 알 수 없습니다.',
  layout: {
    shared: certainty =>
      `nodefs와 imagefs가 같은 디스크라는 판단의 확실성: ${certainty}. API는 장치 이름을 제공하지 않습니다.`,
    imagefs: certainty =>
      `imagefs가 별도 디스크라는 판단의 확실성: ${certainty}. API는 장치 이름을 제공하지 않습니다.`,
    split: certainty =>
      `이미지는 별도 디스크에, 컨테이너는 nodefs에 있다는 판단의 확실성: ${certainty}. API는 장치 이름을 제공하지 않습니다.`,
  },
  notCertain: '불확실',
}

const distribution: Catalogue['distribution'] = {
  title: disk => `${disk}: 노드 분포`,
  spread: (count, lowest, median, ninetieth, highest) =>
    `${n(count)}개 노드: 사용률 최저 ${lowest}, 중앙값 ${median}, 90번째 백분위수 ${ninetieth}, 최고 ${highest}.`,
  unknown: count => `${n(count)}개 노드: 알 수 없음.`,
  marksOf: (count, others) =>
    `표시는 ${n(count)}개 노드의 값이며, 나머지 ${n(others)}개 노드의 값이 아닙니다.`,
}

const fleet: Catalogue['fleet'] = {
  title: '노드와 high-water mark',
  noNode: '알려진 노드가 없습니다.',
  legend: '그림 읽는 법',
  whereNow: '현재 위치',
  keptFree: '하드 축출이 비워 두는 공간',
  withoutGroup: '그룹 없는 노드',
  fargate: 'Fargate 노드',
  nearest: count => `축출에 가장 가까운 ${n(count)}개 노드`,
  about: (cluster, count, coverage) => `${cluster}, ${count}: ${coverage}`,
  coverage: (count, state) => `${n(count)}개 ${state}`,
  asTable: (count, isRest) => `이 그룹의 ${isRest ? '나머지 ' : ''}${n(count)}개 노드 (표)`,
  restAsTable: count => `이 그룹들의 ${n(count)}개 노드 (표)`,
  caption: group => `${group}: 디스크별 사용률과 가장 가까운 축출 임계값까지의 여유(용량 대비 %)`,
  columns: {
    node: '노드',
    coverage: '수집',
    imageDisk: '이미지 디스크',
    nodefs: 'nodefs (별도인 경우)',
    memory: '메모리',
    headroom: '여유',
    now: '현재 상태',
  },
  notDrawn: count =>
    `${n(count)}개 노드는 그림을 생략했습니다. 페이지를 가볍게 유지하기 위해 큰 그룹은 축출에 가장 가까운 노드만 그리고 나머지는 표로 나열합니다.`,
  notListed: count =>
    `${n(count)}개 노드는 페이지를 가볍게 유지하기 위해 그림과 표 모두에서 생략했습니다. 스냅샷에는 모든 노드가 있습니다.`,
}

export const ofNodes = { gauge, node, distribution, fleet }
