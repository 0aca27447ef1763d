import { byText } from '#base/text.ts'
import { isTerminalPhase } from '#facts/kubernetes/pod-phase.ts'
import { endedRegistries } from '#facts/kubernetes/registries.ts'
import { imagesOf, pullFailures, registryOf, unreadEvents } from '#judge/events/events.ts'
import {
  contextRule,
  type Failing,
  line,
  type NodeContext,
  type NodeSubject,
  plural,
  podName,
  type Satisfied,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import { statusesOf } from '#model/input/record.ts'

const shown = 10

interface NamedPod {
  image: string
  registry: string
  user: string
}
const isEnded = ({ registry }: Pick<NamedPod, 'registry'>) =>
  Object.hasOwn(endedRegistries, registry)
const sandbox = 'the sandbox of every pod'

export const deadRegistry = contextRule({
  id: 'dead-registry',
  family: 'image-pull',
  severity: 'medium',
  cause: worldCause('registry-unreachable'),
  needs: ['pods'],
  title: 'Pods name images in a registry that has ended',
  why: 'Such a pod runs only where its image is already on the node. Once image GC or eviction deletes it, or the pod moves, the image cannot be pulled again.',
  fix: 'Name the successor in the pod: ghcr.io instead of docker.pkg.github.com, registry.k8s.io instead of k8s.gcr.io; or copy the image into a registry of your own.',
  sources: [
    'github.blog/changelog/2025-01-23-legacy-docker-registry-closing-down',
    'containerd/containerd#3291',
    'kubernetes.io/blog/2023/02/06/k8s-gcr-io-freeze-announcement',
  ],

  fact: subject => [...imagesOfPods(subject), ...imagesOfSandbox(subject).filter(isEnded)],

  *judge(fact, context) {
    yield* failingsOf([...fact, ...imagesOfEvents(context)])
    yield* unreadEvents(context)
  },

  judgeUnread: context => failingsOf(imagesOfEvents(context)),
})

/** Images of unfinished pods in ended registries: those that specs name and those that container statuses report. */
function imagesOfPods({ pods }: Satisfied<'pods'>): NamedPod[] {
  const found = imagesOf(pods)
    .filter(isEnded)
    .map(({ image, registry, pod }) => ({ image, registry, user: pod }))
  for (const pod of pods) {
    const { metadata, status } = pod
    if (isTerminalPhase(status?.phase)) continue
    const statuses = [...statusesOf(pod), ...(status?.ephemeralContainerStatuses ?? [])]
    for (const { image } of statuses) {
      const registry = image ? registryOf(image) : ''
      if (image && Object.hasOwn(endedRegistries, registry))
        found.push({ image, registry, user: podName(metadata) })
    }
  }
  return found
}

function imagesOfSandbox({ host }: NodeSubject): NamedPod[] {
  const image = host?.containerd?.sandboxImage
  return image ? [{ image, registry: registryOf(image), user: sandbox }] : []
}

/** Images of failed pulls in events. Their pods might be deleted by now. */
const imagesOfEvents = ({ events, at }: NodeContext): NamedPod[] =>
  pullFailures(events, at)
    .flatMap(({ image, registry, pod }) =>
      image === null || registry === null ? [] : [{ image, registry, user: pod }],
    )
    .filter(isEnded)

function* failingsOf(images: readonly NamedPod[]): Iterable<Failing> {
  for (const [registry, { successor, state, isGone }] of Object.entries(endedRegistries)) {
    const dead = images.filter(image => image.registry === registry)
    if (dead.length === 0) continue
    const names = [...new Set(dead.map(({ image }) => image))].toSorted(byText)
    const isOfSandbox = dead.some(({ user }) => user === sandbox)
    yield {
      severity: isGone ? 'high' : 'medium',
      consequence: `${registry} ${state}. Once the kubelet deletes ${names.length === 1 ? shorten(names[0] ?? '', 200) : `one of these ${names.length} images`}, a pod that needs it waits in ImagePullBackOff${isOfSandbox ? ', and without the sandbox image no pod starts here' : ''}; ${successor} has taken its place.`,
      evidence: names.slice(0, shown).map(name => {
        const users = [
          ...new Set(dead.filter(({ image }) => image === name).map(({ user }) => user)),
        ].toSorted(byText)
        return line(
          'computed',
          `image of ${shorten(users[0] ?? '', 200)}${users.length > 1 ? ` and ${plural(users.length - 1, 'more pod')}` : ''}`,
          name,
        )
      }),
    }
  }
}
