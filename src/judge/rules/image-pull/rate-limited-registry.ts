import { byText } from '#base/text.ts'
import { pullCause } from '#facts/kubelet/event-messages.ts'
import { dockerHubLimits } from '#facts/kubernetes/registries.ts'
import {
  imagesOf,
  type PullFailure,
  pullFailures,
  registryOf,
  timesText,
  unreadEvents,
  type WaitingContainer,
  waitingOf,
} from '#judge/events/events.ts'
import {
  contextRule,
  type Failing,
  line,
  plural,
  type Satisfied,
  seenFirst,
  shorten,
  type Undecided,
  worldCause,
} from '#judge/rule.ts'
import { canonicalName } from '#model/input/image-reference.ts'

const shown = 10
const { anonymousPulls, personalPulls, hours } = dockerHubLimits

export const rateLimitedRegistry = contextRule({
  id: 'rate-limited-registry',
  family: 'image-pull',
  severity: 'low',
  cause: worldCause('registry-rate-limit'),
  steps: ['advice', 'read-pull-events'],
  needs: ['pods'],
  title: 'Images are pulled from Docker Hub without credentials',
  why: `Docker Hub gives ${anonymousPulls} pulls in ${hours} hours to each IPv4 address or IPv6 /64 without credentials, ${personalPulls} to a personal account, and sets no limit to paid ones. All nodes behind one NAT gateway share one address: when their image GC deletes, or they are replaced, what must be pulled again soon meets 429 toomanyrequests.`,
  fix: 'Pull through a cache (on AWS a pull-through cache rule of ECR), from a copy (public.ecr.aws/docker/library), or with imagePullSecrets of a paid account; more egress addresses only move the limit.',
  sources: [
    'docs.docker.com/docker-hub/usage/pulls',
    'docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html',
  ],

  fact: subject => ({
    atRisk: [...pullsAtRisk(subject)],
    waiting: subject.pods.flatMap(waitingOf).filter(isLimited).slice(0, shown),
    started: subject.recentStarts(),
  }),

  *judge({ atRisk, waiting, started }, context) {
    const { events, at } = context
    const failures = pullFailures(events, at)
    const refusedPulls = failures.filter(({ cause }) => cause === 'rate limit (429)')
    const isOver = ({ pod, last, isPulledSince }: PullFailure) =>
      isPulledSince || (last !== null && (started[pod] ?? '') > last)
    const lasting = refusedPulls.filter(failure => !isOver(failure))
    if (lasting.length + waiting.length > 0) yield refusalFailing(lasting, waiting)
    else if (refusedPulls.length > 0) yield pastRefusalFailing(refusedPulls)
    // Of a network that does not reach Docker Hub, its limit says nothing.
    for (const one of isHubOutOfReach(failures) ? [] : atRisk)
      yield 'consequence' in one && failures.length === 0
        ? { ...one, steps: [{ id: 'advice' }] }
        : one
    yield* unreadEvents(context)
  },

  *judgeUnread({ events, at }) {
    const refusedPulls = pullFailures(events, at).filter(
      ({ cause }) => cause === 'rate limit (429)',
    )
    if (refusedPulls.length > 0) yield { ...refusalFailing(refusedPulls, []), confidence: 'likely' }
  },
})

const isHubOutOfReach = (failures: readonly PullFailure[]) =>
  failures.some(({ registry, cause }) => registry === 'docker.io' && cause === 'out of reach')

const isLimited = ({ message, image }: WaitingContainer) =>
  pullCause(message, image) === 'rate limit (429)'

function refusalFailing(
  refusedPulls: readonly PullFailure[],
  waiting: readonly WaitingContainer[],
): Failing {
  const registries = [
    ...refusedPulls.map(({ registry }) => registry),
    ...waiting.map(({ image }) => registryOf(image)),
  ]
  return {
    severity: 'high',
    title: 'A registry refuses pulls: its rate limit is reached',
    ...seenFirst(
      `${registryNames(registries)} answered 429 toomanyrequests to pulls of this node, the first for pod ${shorten(refusedPulls[0]?.pod ?? waiting[0]?.pod ?? '', 300)}.`,
      'Pods whose image is not on a node wait, on every node behind the same address, until its window has passed.',
    ),
    evidence: [
      ...waiting.map(({ pod, message }) =>
        line('object', `pod ${shorten(pod, 300)} waits`, message),
      ),
      ...refusals(refusedPulls),
    ],
  }
}

function pastRefusalFailing(refusedPulls: readonly PullFailure[]): Failing {
  return {
    severity: 'medium',
    confidence: 'likely',
    title: 'A registry refused pulls within the last hour: its rate limit was reached',
    ...seenFirst(
      `${registryNames(refusedPulls.map(({ registry }) => registry))} answered 429 toomanyrequests to pulls of this node within the last hour.`,
      'The pods have their images since; the next that pull much at once, from any node behind the same address, may meet the same limit.',
    ),
    evidence: refusals(refusedPulls),
  }
}

const registryNames = (registries: (string | null)[]) =>
  shorten(
    [...new Set(registries.map(registry => registry ?? 'a registry'))].toSorted(byText).join(', '),
    200,
  )

const refusals = (refusedPulls: readonly PullFailure[]) =>
  refusedPulls
    .slice(0, shown)
    .map(failure =>
      line(
        'event',
        `pod ${shorten(failure.pod, 300)}, refused ${timesText(failure)}`,
        failure.message,
      ),
    )

function* pullsAtRisk({ pods, imageGC, host }: Satisfied<'pods'>): Iterable<Failing | Undecided> {
  // What fails here for another reason than the limit is on no new node either.
  const failing = new Set(
    pods.flatMap(waitingOf).flatMap(one => (isLimited(one) ? [] : [one.image])),
  )
  const ofHub = imagesOf(pods).filter(
    ({ image, registry }) => registry === 'docker.io' && !failing.has(image),
  )
  const images = ofHub.filter(({ hasPullSecret }) => !hasPullSecret)
  if (ofHub.length === 0) return
  if (images.length === 0) {
    const names = new Set(ofHub.map(({ image }) => image)).size
    yield {
      unknown: `whether the imagePullSecrets of pods with ${plural(names, 'image')} of Docker Hub are for that registry is not known`,
    }
    return
  }
  const mirrors = host?.containerd?.mirrors ?? []
  if (mirrors.length > 0)
    return yield {
      unknown:
        "host: containerd has mirrors; whether they answer for Docker Hub's images is not known",
    }
  const names = [...new Set(images.map(({ image }) => image))].toSorted(byText)
  const deleted = (imageGC?.deletions ?? []).filter(
    ({ names }) => names.length > 0 && names.every(name => registryOf(name) === 'docker.io'),
  )
  // Finished and waiting pods count too: the next pod of their owner pulls the image again.
  const named = new Set(
    pods
      .flatMap(({ spec }) => [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])])
      .map(({ image = '' }) => canonicalName(image)),
  )
  const again = deleted.filter(({ names }) => names.some(name => named.has(canonicalName(name))))
  yield {
    severity: deleted.length > 0 ? 'medium' : 'info',
    confidence: 'likely',
    consequence: `Each new node pulls its images of Docker Hub, of the ${anonymousPulls} pulls in ${hours} hours that all nodes behind its address share.${deleted.length > 0 ? ` The next image GC may delete ${plural(deleted.length, 'image')} of Docker Hub here, which the pods that need them pull again.${again.length > 0 ? ` ${again.length} of them are named by pods of this node.` : ''} How many nodes share its address cannot be seen here.` : ''}`,
    evidence: [
      line('object', 'images of Docker Hub in pods without imagePullSecrets', names.length),
      ...names.slice(0, shown).map(name => line('object', 'image', name)),
      ...deleted
        .slice(0, shown)
        .map(({ names }) => line('computed', 'image GC may delete', names[0] ?? '')),
    ],
  }
}
