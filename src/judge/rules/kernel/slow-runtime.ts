import { isRuntimeTimeout, isUnfinishedStart } from '#facts/kubelet/event-messages.ts'
import { pullErrors } from '#facts/kubelet/pull-errors.ts'
import { runtimeUnit } from '#facts/kubelet/unpacking.ts'
import {
  eventTimes,
  recentEvents,
  shownTime,
  soleAuthor,
  waitingContainers,
} from '#judge/events/events.ts'
import { endingMs } from '#judge/help/deletion.ts'
import { dataDevice } from '#judge/help/disk-size.ts'
import { hasRoom } from '#judge/help/space-errors.ts'
import { hungRuntimeSteps } from '#judge/help/unreplayed.ts'
import {
  contextRule,
  type Failing,
  line,
  type NodeContext,
  plural,
  podName,
  type Satisfied,
  seenFirst,
  shorten,
  shortName,
  shortPodName,
  span,
  worldCause,
} from '#judge/rule.ts'

/** So many pods that start in one minute are a cause of their own. */
const manyStarts = 8
/** From so many calls at their deadline, of so many pods within the hour, on: a finding. */
const leastTimeouts = { times: 5, pods: 2 }
/** If more than this share of the process ids is free, they are not the cause. */
const freePids = 0.1
const shown = 5

const titles = {
  unanswered: 'The container runtime does not answer in time: pods neither start nor end',
}

export const slowRuntime = contextRule({
  id: 'slow-runtime',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('slow-runtime'),
  steps: ['spare-disk'],
  needs: ['pods'],
  titles,
  title: 'Containers do not start: the container runtime does not make them in time',
  why: 'The kubelet waits 2 min (runtimeRequestTimeout) for a container, and asks again; until the first request has ended, the runtime keeps its name reserved. Mostly the disk has no more operations to give: a volume of gp2 has 3 IOPS for each GiB, at least 100, once its burst credits are used. A containerd with a bug keeps the name for good, until it is restarted.',
  fix: 'Start fewer pods at once, and give the volume more IOPS and throughput (gp3 has 3000 IOPS at any size).',
  sources: [
    'containerd internal/cri/server/container_create.go CreateContainer',
    'EBS user guide, General Purpose SSD volumes',
    'containerd/containerd#4604',
    'amazonlinux/amazon-linux-2023#1097',
    'containerd/containerd#13692',
  ],

  fact: factOf,

  *judge(fact, context) {
    const { waiting, atOnce, volume, isRoomy } = fact
    const [first] = waiting
    if (!first) {
      const unanswered = unansweredFailing(fact, context)
      if (unanswered) yield unanswered
      return
    }
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

function factOf({ pods, at, node, identity, ledger, eviction, filesystems }: Satisfied<'pods'>) {
  const device = dataDevice(identity)
  const waiting = pods
    .flatMap(waitingContainers)
    .filter(({ reason, message }) => isUnfinishedStart(message) && !pullErrors.has(reason))
  const first = pods.find(({ metadata }) => podName(metadata) === waiting[0]?.pod)
  const minute = first?.status?.startTime?.slice(0, 16)
  const { nodefs, imagefs } = filesystems
  const pids = eviction?.signals['pid.available']
  const endless = pods.flatMap(pod => {
    const ms = endingMs(pod, at)
    return ms === null ? [] : [{ name: shortPodName(pod.metadata), ms }]
  })
  return {
    waiting,
    atOnce: minute ? pods.filter(one => one.status?.startTime?.startsWith(minute)).length : 0,
    volume: ledger?.volumes?.find(one => one.device === device) ?? null,
    /** The pod that should have ended first. Null: none. */
    endless: endless.toSorted((a, b) => b.ms - a.ms)[0] ?? null,
    runtime: runtimeUnit(node?.status?.nodeInfo?.containerRuntimeVersion),
    isRoomy: [nodefs, imagefs].every(disk => disk !== null && hasRoom(disk)),
    hasPids: !!pids && pids.availableBytes > freePids * pids.capacityBytes,
  }
}

const calls = ['FailedCreatePodSandBox', 'FailedKillPod']

/** Null: fewer timeouts than `leastTimeouts`. */
function unansweredFailing(
  { endless, runtime, isRoomy, hasPids }: ReturnType<typeof factOf>,
  { events, at }: NodeContext,
): Failing | null {
  const timeouts = recentEvents(events, at, calls).filter(({ message }) =>
    isRuntimeTimeout(message),
  )
  const pods = new Set(timeouts.map(({ pod }) => podName(pod)))
  const { count, first } = eventTimes(timeouts, at)
  if (count < leastTimeouts.times || pods.size < leastTimeouts.pods) return null
  const countOf = (some: NodeContext['events'], reason: string) =>
    eventTimes(recentEvents(some, at, [reason]), at).count
  const [sandboxes = 0, kills = 0] = calls.map(reason => countOf(timeouts, reason))
  const flaps = countOf(events, 'NodeNotReady')
  const since = first === null ? '' : ` since ${shownTime(first)}`
  const author = soleAuthor(pods)
  return {
    title: titles.unanswered,
    // Nothing else shows it than what users of one namespace can write.
    ...(author !== null && flaps === 0 && !endless && { severity: 'medium' }),
    confidence: 'likely',
    steps: hungRuntimeSteps(runtime),
    ...seenFirst(
      [
        `${runtime} did not answer in time${since}: ${plural(sandboxes, 'sandbox creation')} and ${plural(kills, 'pod termination')} failed, of ${pods.size} pods${author === null ? '' : ` of namespace ${shortName(author)}`}.`,
        endless && `${endless.name} was deleted ${span(endless.ms)} ago and is still there.`,
        flaps > 0 && `The node was NotReady ${plural(flaps, 'time')}.`,
        isRoomy && 'No disk is full.',
        hasPids && 'Process ids are free.',
      ]
        .filter(Boolean)
        .join(' '),
      'Cordon the node: new pods wait, too.',
    ),
    evidence: timeouts
      .slice(-shown)
      .map(({ reason, pod, message, count: times }) =>
        line(
          'event',
          `event ${reason} of pod ${shortName(pod ? `${pod.namespace}/${pod.name}` : '')}, ${plural(times, 'time')}`,
          message,
        ),
      ),
  }
}
