import { firstNames } from '#base/text.ts'
import { gibibyte } from '#base/units.ts'
import { holders } from '#facts/holders.ts'
import {
  evictionCause,
  imageGcLine,
  type PullCause,
  pullCause,
  runtimeErrorIn,
} from '#facts/kubelet/event-messages.ts'
import { longestImageBackOffMs } from '#facts/kubelet/pull-errors.ts'
import { needsKubeletCredentials } from '#facts/kubernetes/registries.ts'
import {
  type PullFailure,
  pullFailures,
  recentEvents,
  registryOf,
  shownTime,
  soleAuthor,
  timesText,
  unreadEvents,
  type WaitingContainer,
  waitingContainers,
  waitingOf,
} from '#judge/events/events.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import { earlyGc, startsLate } from '#judge/help/freed-by-image-gc.ts'
import {
  bytes,
  contextRule,
  deviceCause,
  type Failing,
  imageGcThresholds,
  kubeletSetting,
  line,
  type NodeContext,
  type NodeSubject,
  plural,
  type Satisfied,
  seenFirst,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import type { HolderCause, StepActionId } from '#model/finding.ts'
import { canonicalName, repositoryOf } from '#model/input/image-reference.ts'
import { runtimeNames } from '#model/input/inspection.ts'

const mostShown = 10
const rateLimit: PullCause = 'rate limit (429)'
/** An image that needs more is rare: the disk was full at another time, or it is another disk. */
const roomyBytes = 10 * gibibyte

/** Percentages with which image GC keeps room for another large image. */

const titles = {
  noSpace: 'The disk has no room for an image, and its pull fails',
  sandbox: 'No pod starts: the sandbox image is not on the node, and containerd cannot pull it',
  missing: 'A container waits for an image that is neither on its node nor in its registry',
  ownFile: 'A pull fails at a file of the node, not at its registry',
}

export const pullFailingNow = contextRule({
  id: 'pull-failing-now',
  family: 'image-pull',
  severity: 'high',
  cause: worldCause('pull-fails'),
  steps: ['read-pull-events', 'pin-images'],
  needs: ['pods'],
  titles,
  title: 'Containers wait for an image that cannot be pulled',
  why: `The pod does not run. The kubelet tries again after 10 s, then after twice as long each time, up to ${longestImageBackOffMs / 60_000} min; each attempt counts against the limits of the registry. Of pods that are gone by now, events of the last hour tell.`,
  fix: 'Look at the message: a wrong name, missing credentials, a registry that is out of reach or that limits its pulls. An image that GC has deleted must be in a registry that the node can reach.',
  sources: [
    'pkg/kubelet/images/image_manager.go EnsureImageExists',
    'pkg/kubelet/images/types.go',
    'kubernetes#103643',
  ],

  images: ({ pods }) => (pods ?? []).flatMap(waitingOf).map(({ image }) => image),

  fact: factOf,

  *judge(fact, context) {
    const { shown, waitingPods, startedPods } = fact
    const { events, at } = context
    const recent = pullFailures(events, at)
    // Waiting pods are reported from their status. Pods that have started no longer fail. Both have a sandbox.
    const settled = new Set([...waitingPods, ...startedPods])
    const failures = recent.filter(
      ({ pod, isPulledSince, cause }) => !isPulledSince && !settled.has(pod) && cause !== rateLimit,
    )
    // rate-limited-registry reports the others.
    const [first, ...others] = shown.filter(one => reasonOf(one, recent) !== rateLimit)
    if (first)
      yield waitingFailing([first, ...others], {
        ...fact,
        failures: recent,
        sandboxes: unreachableSandboxes(failures),
        deleted: deletionText(context, fact.deletedAt),
      })
    yield* failingsOf(failures, fact)
    yield* unreadEvents(context)
  },

  *judgeUnread({ events, at }) {
    const failures = pullFailures(events, at).filter(({ isPulledSince }) => !isPulledSince)
    // Without its status, a pod might have pulled its image by now.
    for (const failing of failingsOf(failures, {})) yield { ...failing, confidence: 'likely' }
  },
})

function factOf(subject: Satisfied<'pods'>) {
  const { pods, recentStarts, host, node, runtime } = subject
  const { imagefs, nodefs } = subject.filesystems
  const waiting = pods.flatMap(waitingOf)
  const isWaiting = waiting.length > 0
  return {
    containers: waiting.length,
    // Those that another rule reports come last.
    shown: waiting
      .toSorted((a, b) => Number(isRateLimited(a)) - Number(isRateLimited(b)))
      .slice(0, mostShown),
    waitingPods: [...new Set(waiting.map(({ pod }) => pod))],
    startedPods: Object.keys(recentStarts()),
    /** Of the disk with the images. 0: none, or unknown. */
    freeBytes: (imagefs ?? nodefs)?.availableBytes ?? 0,
    unused: isWaiting && startsLate(subject) ? subject.unusedImages() : null,
    /** What holds the disk with the images. */
    held: isWaiting ? diskReason(subject, 'imagefs.available') : null,
    isGcDue: subject.imageGC?.triggered === true,
    pulled: isWaiting ? pulledRepositories(node.status?.images ?? []) : [],
    /** How many images the node has. Null: unknown. */
    listedImages: runtime?.images?.length ?? node.status?.images?.length ?? null,
    sandboxImage: missingSandbox(subject),
    /** Pods that wait for their containers. */
    creating: pods
      .flatMap(waitingContainers)
      .flatMap(({ pod, reason }) => (reason === 'ContainerCreating' ? pod : [])),
    sandboxDeletedAt: lastDeletion(host?.logLines ?? [], mostSandboxBytes),
    deletedAt: isWaiting ? lastDeletion(host?.logLines ?? []) : null,
  }
}

type PullFact = ReturnType<typeof factOf>

interface Waiting extends PullFact {
  failures: readonly PullFailure[]
  /** Sandbox images that other pods wait for, and whose registry is out of reach. */
  sandboxes: readonly string[]
  /** Why and when the kubelet last deleted images here. Null: nothing shows that it did. */
  deleted: string | null
}

const isRateLimited = ({ message, image }: WaitingContainer) =>
  pullCause(message, image) === rateLimit

/** While the kubelet waits for its next attempt, only the event has the cause. */
const reasonOf = ({ message, image, pod }: WaitingContainer, failures: readonly PullFailure[]) =>
  pullCause(message, image) ?? failures.find(failure => failure.pod === pod)?.cause

function waitingFailing(
  waiting: [WaitingContainer, ...WaitingContainer[]],
  { failures, sandboxes, deleted, ...fact }: Waiting,
): Failing {
  const { freeBytes, unused, held, isGcDue, pulled } = fact
  const causeOf = (container: WaitingContainer) => reasonOf(container, failures)
  const full = waiting.find(one => causeOf(one) === 'no space left')
  const ownFile = waiting.find(one => causeOf(one) === 'file of the node')
  const missing = waiting.find(one => causeOf(one) === 'not found')
  const [most] = [...Map.groupBy(waiting, causeOf).values()].toSorted((a, b) => b.length - a.length)
  const first = full ?? ownFile ?? missing ?? most?.[0] ?? waiting[0]
  const why = causeOf(first) ?? null
  const isGone = why !== null && mayBeGone.has(why)
  const isLost = isGcDue && isUnreachable(why)
  const alike = waiting.filter(one => causeOf(one) === why)
  const images = [
    ...new Set([...(isUnreachable(why) ? sandboxes : []), ...alike.map(one => one.image)]),
  ]
  const remedy = remedyFor(why, first.image, first, images)
  // A new release may never have been on the node, and a container that has run keeps its image.
  const wasHere = alike.every(isNeverPulled)
  const lost = isGone ? missingImagesText(images, wasHere, isLost ? null : deleted) : ''
  const isOfNode = why === 'missing or denied' && isMadeOnNode(first.image, pulled)
  const asked = first === missing || isOfNode ? missingImage(first, isOfNode) : null
  const freeing = (held?.steps ?? []).filter(({ id }) => !ofImages.has(id)).slice(0, 1)
  return {
    cause: worldCause('pull-fails', registryOf(first.image)),
    ...(why !== null && {
      seen: `${isNeverPulled(first) ? `Pod ${shorten(first.pod, 300)} waits for ${shorten(first.image, 200)}: it is not on the node, and imagePullPolicy is Never.` : `pulls from ${shorten(registryOf(first.image), 200)} fail: ${why}, first for pod ${shorten(first.pod, 300)}.`}${isOfNode ? madeOnNode : (hints[why] ?? '')}${lost}${isLost ? lostByGc : ''}`,
      ...(elsewhere.has(why) && { steps: [{ id: 'read-pull-events' as const }] }),
      ...remedy,
      ...(isLost && { steps: [...freeing, ...(remedy.steps ?? [])] }),
    }),
    ...asked,
    ...(isGone && deleted !== null && !isUnreachable(why) && withImport(asked ?? remedy, images)),
    ...(first === ownFile && {
      title: titles.ownFile,
      cause: worldCause('pull-fails'),
      steps: [{ id: 'read-pull-events' }, { id: 'replace-node' }],
      seen: `Pod ${shorten(first.pod, 300)} waits for ${shorten(first.image, 200)}, and containerd fails at a file of its own.`,
    }),
    ...(full && noSpaceFailing(full, { freeBytes, unused, held })),
    consequence: `${plural(fact.containers, 'container')} of ${plural(fact.waitingPods.length, 'pod')} cannot start, the first ${shorten(first.pod, 300)} for ${shorten(first.image, 200)}: the kubelet tries again at most ${longestImageBackOffMs / 60_000} min after the last attempt, without end.`,
    evidence: waiting.map(({ pod, image, reason, message }) =>
      line(
        'object',
        shorten(`pod ${pod} ${reason}`, 300),
        // The message has the name again, and more than once.
        message === '' ? image : `${image}: ${runtimeErrorIn(message).replaceAll(image, '…')}`,
      ),
    ),
  }
}

function noSpaceFailing(
  { image, pod }: WaitingContainer,
  { freeBytes, unused, held }: Pick<Waiting, 'freeBytes' | 'unused' | 'held'>,
): Partial<Failing> {
  const what = `${shorten(image, 200)} of pod ${shorten(pod, 300)}`
  const failing = { title: titles.noSpace, seen: `no space is left for ${what}.` }
  if (freeBytes >= roomyBytes)
    return {
      ...failing,
      cause: worldCause('pull-fails', registryOf(image)),
      steps: [
        { id: 'larger-disk', variant: 'image', place: shorten(image, 200) },
        { id: 'read-pull-events' },
      ],
      seen: `no space is left for ${what}, and ${bytes(freeBytes)} are free now: it needs more, packed and unpacked, or the disk was full then.`,
    }
  if (held?.cause.kind === 'device')
    return { ...failing, ...held, seen: `no space is left for ${what}; ${held.seen}` }
  // A larger disk fills up, too.
  if (held?.cause.kind === 'holder' && !isOfImages(held.cause)) return { ...failing, ...held }
  // Image GC that starts earlier keeps room for the next image.
  if (unused !== null)
    return {
      ...failing,
      cause: imageGcThresholds,
      steps: [{ id: 'prune-images' }, { id: 'set-fields' }, { id: 'larger-disk' }],
      fix: { config: { ...earlyGc } },
      seen: `no space is left for ${what}, and ${unused}.`,
    }
  return {
    ...failing,
    cause: deviceCause('too-small'),
    steps: [{ id: 'larger-disk' }],
    seen: `no space is left for ${what}. Its size is unknown: more space may not do.`,
  }
}

const isOfImages = ({ holder }: HolderCause) =>
  holder === 'images-in-use' || holder === 'unread' || holders[holder].freedBy.startsWith('image')

/** They delete the images that cannot be pulled again. */
const ofImages: ReadonlySet<StepActionId> = new Set(['prune-images', 'set-fields'])

/** Whether a copy that the node keeps would not have helped, or would hide what has to be mended. */

const elsewhere: ReadonlySet<PullCause> = new Set<PullCause>([
  'registry error (5xx)',
  'certificate (x509)',
  'invalid name',
  'wrong content',
])

/** No new pod starts without such an image. */
const unreachableSandboxes = (failures: readonly PullFailure[]) =>
  failures.flatMap(one => (one.isOfSandbox && isUnreachable(one.cause) ? (one.image ?? []) : []))

const isUnreachable = (why: PullCause | null) => why === 'out of reach' || why === 'timeout'

/** What each kind of failure is about, and who ends it. */
const hints: Readonly<Partial<Record<PullCause, string>>> = {
  'deadline exceeded':
    ' No registry refused them: a slow network is such a cause, and so is a slow disk that unpacks a large image.',
  'registry error (5xx)':
    ' The registry fails, not the node: the kubelet tries again by itself, and a mirror or a pull-through cache helps meanwhile.',
  'certificate (x509)':
    ' The node does not trust the certificate of the registry: its CA is missing on the node, it has expired, or a clock is wrong.',
  'wrong content':
    ' What came is not what the manifest names: the registry, or a cache before it, has a damaged copy. Who runs it deletes that copy, or pushes the image again; a pull from another node gets the same.',
  'invalid name': ' The owner of the pod has to correct the name of the image.',
}

const madeOnNode =
  ' The name has no registry, and Docker Hub has no such image: it was built or imported on the node, or the name is wrong.'

/** Repositories of Docker Hub's official images on the node that have a digest there, as pulled images do. */
const pulledRepositories = (images: readonly { names?: string[] }[]): string[] =>
  images.flatMap(({ names = [] }) =>
    names.filter(name => name.includes('@')).flatMap(name => officialRepository(name) ?? []),
  )

/** Null: the name has a registry, or an account of Docker Hub. */
function officialRepository(image: string): string | null {
  const repository = repositoryOf(canonicalName(image))
  return repository.startsWith('docker.io/library/') ? repository : null
}

/** Docker Hub refuses nobody an official image: if it does, it has none of that name, unless a mirror answered. */
function isMadeOnNode(image: string, pulled: readonly string[]): boolean {
  const repository = officialRepository(image)
  return repository !== null && !pulled.includes(repository)
}

const lostByGc =
  ' Image GC is due here: unused images that it deletes, imported ones too, cannot be pulled again. Free the disk first, or pin them (io.cri-containerd.pinned).'

const shownImages = 3

const imageNamesText = (images: readonly string[]) =>
  firstNames(
    images.map(image => shorten(image, 120)),
    shownImages,
  )

/** Causes of failures where the registry may not have the image, or is out of reach: an image that was imported on the node comes back by another import. */
const mayBeGone: ReadonlySet<PullCause> = new Set([
  'out of reach',
  'timeout',
  'not found',
  'missing or denied',
  'no basic auth credentials',
])

const isNeverPulled = ({ reason }: WaitingContainer) => reason === 'ErrImageNeverPull'

/** Lists images that cannot be pulled, and why they may be gone from the node. */
function missingImagesText(
  images: readonly string[],
  wasHere: boolean,
  deleted: string | null,
): string {
  const list =
    images.length < 2
      ? ''
      : ` ${plural(images.length, 'image')} cannot be pulled: ${imageNamesText(images)}.`
  if (deleted === null) return list
  const [it, were] = images.length < 2 ? ['it', 'it was'] : ['them', 'they were']
  // The list may be cut.
  return ` ${wasHere ? 'Likely image GC' : `If ${were} on the node before, image GC likely`} deleted ${it}: ${deleted}.${list}`
}

/** After what the owner can do, those who imported it can do so again. */
function withImport({ steps = [] }: Partial<Failing>, images: readonly string[]): Partial<Failing> {
  const [first, ...others] = steps
  if (!first || first.id === 'import-image' || first.variant === 'local') return {}
  return { steps: [first, { id: 'import-image', place: imageNamesText(images) }, ...others] }
}

const ofImported = 'and then the kubelet deletes unused images, imported ones too'

/** Why and when the kubelet last deleted images here: by events, by what happened within a day, or by its log. */
function deletionText({ events, at, happened }: NodeContext, deletedAt: string | null) {
  const lastOf = (...reasons: string[]) =>
    recentEvents(events, at, reasons)
      .filter(
        ({ reason, message }) =>
          reason !== 'EvictionThresholdMet' ||
          evictionCause(message).resource === 'ephemeral-storage',
      )
      .flatMap(({ lastTime }) => lastTime ?? [])
      .toSorted()
      .at(-1)
  const pressure =
    lastOf('NodeHasDiskPressure', 'EvictionThresholdMet') ??
    happened().findLast(({ what, subject }) => what === 'condition' && subject === 'DiskPressure')
      ?.at
  if (pressure !== undefined)
    return `the node was under DiskPressure (${shownTime(pressure)}), ${ofImported}`
  const round = lastOf('FreeDiskSpaceFailed')
  if (round !== undefined)
    return `the kubelet could not free enough space (${shownTime(round)}), ${ofImported}`
  return deletedAt && `the kubelet deleted an image here at ${shownTime(deletedAt)}`
}

/** What ends a failure of this kind. Of an image that is on no registry in reach, another import does. */
function remedyFor(
  why: PullCause | null,
  image: string | null,
  container?: WaitingContainer,
  images: readonly string[] = image === null ? [] : [image],
): Partial<Failing> {
  const read = { id: 'read-pull-events' as const }
  if (image === null || why === null) return {}
  const place = shorten(registryOf(image), 200)
  const isOther = !needsKubeletCredentials(registryOf(image))
  const grant = { id: 'grant-pull' as const, place, ...(isOther && { variant: 'other' as const }) }
  switch (why) {
    case 'limit of the kubelet':
      return {
        cause: kubeletSetting('registryPullQPS', 'registryBurst'),
        steps: [{ id: 'set-fields' }],
        fix: { config: { registryPullQPS: 50, registryBurst: 100 } },
      }
    case 'missing or denied':
      return { steps: [{ id: 'provide-image', place: shorten(image, 200) }, grant] }
    case 'expired credentials':
    case 'no basic auth credentials':
    case 'denied':
      if (isOther) return { steps: [grant, read] }
      return container?.hasPullSecret === true
        ? { steps: [{ ...grant, variant: 'secret' }, read] }
        : { steps: [grant, { id: 'restart-kubelet' }] }
    case 'out of reach':
    case 'timeout':
      // A plan pulls the image from another source, by its digest.
      return {
        steps: [{ id: 'import-image', place: imageNamesText(images) }, { id: 'pin-images' }, read],
      }
    default:
      return { steps: [read] }
  }
}

/** Who pushes an image is its owner; an image that is never pulled was put on the node by who runs it. */
function missingImage(container: WaitingContainer, isOfNode: boolean): Partial<Failing> {
  const { image, workload } = container
  const [namespace = '', pod = ''] = container.pod.split('/')
  const place = shorten(image, 200)
  return {
    title: titles.missing,
    cause: worldCause('image-missing', place),
    steps: [
      isNeverPulled(container)
        ? { id: 'import-image', place }
        : {
            id: 'provide-image',
            place,
            ...(isOfNode
              ? { variant: 'local' }
              : { owner: { kind: 'pod', namespace, pod, workload, volume: null } }),
          },
      { id: 'read-pull-events' },
    ],
  }
}

/** A sandbox image has less than 1 MiB; hardly any other image has. */
const mostSandboxBytes = 2 ** 20

/** When image GC last deleted an image, or one below that size, by the log of the kubelet. */
function lastDeletion(lines: readonly string[], belowBytes = Infinity): string | null {
  const deletions = lines.flatMap(text => {
    const found = imageGcLine(text)
    return found && 'image' in found && found.bytes < belowBytes ? [found.at] : []
  })
  return deletions.at(-1) ?? null
}

/** Canonical name of the runtime's sandbox image, if its list of images lacks it. Empty: the list has it. Null: unknown. */
function missingSandbox({ host, runtime }: NodeSubject): string | null {
  const image = host?.containerd?.sandboxImage
  if (image === undefined || !runtime?.images) return null
  const name = canonicalName(image)
  return runtime.images.flatMap(runtimeNames).some(one => canonicalName(one) === name) ? '' : name
}

function* failingsOf(failures: readonly PullFailure[], fact: Partial<PullFact>): Iterable<Failing> {
  const sandboxes = failures.filter(
    ({ isOfSandbox, image }) =>
      isOfSandbox &&
      image !== null &&
      (fact.sandboxImage ?? canonicalName(image)) === canonicalName(image),
  )
  const others = failures.filter(({ isOfSandbox }) => !isOfSandbox)
  if (sandboxes[0]) yield sandboxFailing(sandboxes[0], sandboxes, fact)
  if (others[0]) yield pastFailing(others[0], others)
}

/** A containerd whose folder a mount hides has fewer images, if any. */
const fewImages = 3

/** The image comes with the AMI: a new node has it again, if nothing hides it, such as a mount over the folder of containerd. */
function sandboxFailing(
  first: PullFailure,
  failures: readonly PullFailure[],
  { sandboxDeletedAt: deletedAt = null, listedImages = null, creating = [] }: Partial<PullFact>,
): Failing {
  const place = shorten(first.image ?? '', 200)
  const isInNoRegistry = place.startsWith('localhost/')
  const isHidden = listedImages !== null && listedImages < fewImages
  const replace = { id: 'replace-node' as const }
  const author = soleAuthor(failures.map(({ pod }) => pod))
  const bringBack = {
    id: 'import-sandbox' as const,
    place,
    ...(isHidden && { variant: 'hidden' as const }),
    ...(deletedAt !== null && { variant: 'deleted' as const }),
  }
  return {
    severity:
      author === null || failures.some(({ pod }) => creating.includes(pod)) ? 'critical' : 'high',
    ...(author !== null && { confidence: 'likely' }),
    title: titles.sandbox,
    cause: worldCause('image-missing', place),
    // Events of one namespace may be forged; the journal is not. A new node loses a deleted image in the same way.
    steps: [
      ...(author === null ? [] : [{ id: 'read-journal' as const, place: 'containerd' }]),
      ...(deletedAt !== null || isHidden || isInNoRegistry ? [bringBack] : []),
      ...(deletedAt !== null || isInNoRegistry ? [] : [replace]),
    ],
    ...seenFirst(
      `${plural(failures.length, 'pod')} did not start here within the last hour, the first ${shorten(first.pod, 300)}: ${place} is not on the node, and its pull fails (${first.cause ?? 'unknown cause'}${first.cause === 'no basic auth credentials' ? ': containerd pulls it without the login of the kubelet' : ''}).${deletedAt === null ? '' : ` Image GC deleted an image of less than 1 MiB, as a sandbox image is, at ${shownTime(deletedAt)}: it was not pinned.`}`,
    ),
    evidence: evidenceOf(failures),
  }
}

function pastFailing(first: PullFailure, failures: readonly PullFailure[]): Failing {
  const causes = [...new Set(failures.map(({ cause }) => cause ?? 'unknown cause'))].join(', ')
  return {
    severity: 'medium',
    title: 'Images could not be pulled within the last hour',
    ...(failures.every(({ cause }) => cause === first.cause) &&
      remedyFor(first.cause, first.image)),
    ...seenFirst(
      `${plural(new Set(failures.map(({ pod }) => pod)).size, 'pod')} that no status shows failed to get an image here within the last hour (${causes}), the first ${shorten(first.pod, 300)}: the next pod for the same image meets the same.`,
    ),
    evidence: evidenceOf(failures),
  }
}

const evidenceOf = (failures: readonly PullFailure[]) =>
  failures
    .slice(0, mostShown)
    .map(failure =>
      line(
        'event',
        shorten(
          `pod ${failure.pod}: ${failure.cause ?? 'unknown cause'}, ${failure.registry ?? 'registry unknown'}, ${timesText(failure)}`,
          400,
        ),
        failure.message,
      ),
    )
