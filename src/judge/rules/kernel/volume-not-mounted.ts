import { byText } from '#base/text/text-order.ts'
import { runtimeErrorIn } from '#facts/kubelet/event-messages.ts'
import { volumeProblem, volumeProblems, volumeReasons } from '#facts/kubernetes/volume-events.ts'
import {
  eventEvidence,
  eventTimes,
  isWithinWindow,
  recentEvents,
  timesOf,
  unreadEvents,
} from '#judge/events/events.ts'
import { contextRule, plural, seenFirst, shorten, shortPodName, worldCause } from '#judge/rule.ts'
import { podName } from '#judge/text.ts'

/** Kubelet and controller try again after 2 min at most, and wait that long for a mount. */
const stillMs = 10 * 60_000
const leastTimes = 3
const shown = 5

const titles = { slots: 'An EBS volume is not attached: the node may have no attachment slot left' }

export const volumeNotMounted = contextRule({
  id: 'volume-not-mounted',
  family: 'kernel',
  severity: 'high',
  cause: worldCause('volume-fails'),
  needs: ['pods'],
  titles,
  title: 'A pod waits for a volume that cannot be attached or mounted',
  why: 'The pod stays in ContainerCreating, whatever room the disks of the node have.',
  fix: 'Read the words of the event: attachment slots of the instance, a volume that another node holds, a CSI driver that does not run, or a damaged filesystem.',
  sources: [
    'pkg/controller/volume/attachdetach/reconciler/reconciler.go',
    'pkg/kubelet/volumemanager/volume_manager.go WaitForAttachAndMount',
    'kubernetes-sigs/aws-ebs-csi-driver#1163',
  ],

  fact: ({ pods }) =>
    pods.flatMap(({ metadata, status }) =>
      status?.phase === 'Pending' ? [podName(metadata)] : [],
    ),

  *judge(waiting, context) {
    const { events, podEvents, at } = context
    const ofNode = recentEvents(events, at, volumeReasons)
    const failed = waiting.flatMap(name => {
      const own = [...ofNode, ...podEvents(name)].filter(
        ({ reason, message, pod }) =>
          podName(pod ?? undefined) === name &&
          volumeReasons.includes(reason) &&
          volumeProblem(message) !== null,
      )
      const { count, last } = eventTimes(own, at)
      return count >= leastTimes && isWithinWindow(last, at, stillMs) ? own : []
    })
    // An attachment that fails says more than a mount that waits for it.
    const [first] = failed.sort(
      (a, b) => rank(a.message) - rank(b.message) || byText(a.reason, b.reason),
    )
    if (first?.pod == null) return yield* unreadEvents(context)
    const problem = volumeProblem(first.message) ?? 'other'
    const pods = new Set(failed.map(({ pod }) => podName(pod ?? undefined)))
    yield {
      ...(problem === 'slots' && { title: titles.slots }),
      ...seenFirst(
        `${plural(pods.size, 'pod')} cannot start, the first ${shortPodName(first.pod)}, ${first.reason} ${timesOf(eventTimes([first], at))}: "${shorten(runtimeErrorIn(first.message), 300)}".`,
      ),
      steps: [{ id: 'attach-volume', variant: problem }],
      evidence: failed.slice(0, shown).flatMap(one => eventEvidence([one], at)),
    }
  },
})

const rank = (message: string) => volumeProblems.indexOf(volumeProblem(message) ?? 'other')
