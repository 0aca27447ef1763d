import { isUnfinishedStart } from '#facts/kubelet/event-messages.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import { waitingContainers } from '#judge/events/events.ts'
import { dataDevice } from '#judge/help/disk-size.ts'
import { hasRoom } from '#judge/help/space-errors.ts'
import { contextRule, line, plural, podName, seenFirst, shorten, worldCause } from '#judge/rule.ts'

/** So many pods that start in one minute are a cause of their own. */
const manyStarts = 8

export const slowRuntime = contextRule({
  id: 'slow-runtime',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('slow-runtime'),
  steps: ['spare-disk'],
  needs: ['pods'],
  title: 'Containers do not start: the container runtime does not make them in time',
  why: 'The kubelet waits 2 min (runtimeRequestTimeout) for a container, and asks again; until the first request has ended, the runtime keeps its name reserved. Mostly the disk has no more operations to give: a volume of gp2 has 3 IOPS for each GiB, at least 100, once its burst credits are used. A containerd with a bug keeps the name for good, until it is restarted.',
  fix: 'Start fewer pods at once, and give the volume more IOPS and throughput (gp3 has 3000 IOPS at any size).',
  sources: [
    'containerd internal/cri/server/container_create.go CreateContainer',
    'EBS user guide, General Purpose SSD volumes',
    'containerd/containerd#4604',
    'amazonlinux/amazon-linux-2023#1097',
  ],

  fact: ({ pods, identity, ledger, filesystems: { nodefs, imagefs } }) => {
    const device = dataDevice(identity)
    const waiting = pods
      .flatMap(waitingContainers)
      .filter(({ reason, message }) => isUnfinishedStart(message) && !pullErrors.has(reason))
    const first = pods.find(({ metadata }) => podName(metadata) === waiting[0]?.pod)
    const minute = first?.status?.startTime?.slice(0, 16)
    return {
      waiting,
      atOnce: minute ? pods.filter(one => one.status?.startTime?.startsWith(minute)).length : 0,
      volume: ledger?.volumes?.find(one => one.device === device) ?? null,
      isRoomy: [nodefs, imagefs].every(disk => disk !== null && hasRoom(disk)),
    }
  },

  *judge({ waiting, atOnce, volume, isRoomy }) {
    const [first] = waiting
    if (!first) return
    const pods = new Set(waiting.map(({ pod }) => pod))
    const who = shorten(first.pod, 300)
    const disk = volume?.type
      ? ` Its volume is ${shorten(volume.type, 20)} with ${volume.iops ?? 'unknown'} IOPS.`
      : ''
    const starts = atOnce >= manyStarts ? ` ${atOnce} pods of the node began in one minute.` : ''
    yield {
      confidence: 'likely',
      ...seenFirst(
        `${plural(pods.size, 'pod')} cannot start, the first ${who}: "${shorten(first.message, 80)}".${disk}${starts}${isRoomy ? ' No disk is full.' : ''}`,
      ),
      evidence: [line('object', `pod ${who}`, first.message)],
    }
  },
})
