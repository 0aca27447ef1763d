import { once } from '#base/once.ts'
import { by, matchesGlob } from '#base/text.ts'
import { evictionSeconds, gcMinutes } from '#facts/kubelet/periods.ts'
import { imagesOf, registryOf } from '#judge/events/events.ts'
import {
  line,
  lines,
  nodeRule,
  plural,
  type Satisfied,
  settingIn,
  shorten,
  shortName,
} from '#judge/rule.ts'
import { severityRank } from '#judge/run/outcome.ts'
import type { Severity } from '#model/finding.ts'
import { canonicalName, familiarName } from '#model/input/image-reference.ts'
import { runtimeNames } from '#model/input/inspection.ts'
import { controllerReferenceOf, type KubernetesPod, statusesOf } from '#model/input/record.ts'
import type { Policy } from '#model/policy.ts'
import type { Certainty } from '#model/prediction.ts'

type ImageSubject = Satisfied<'imageGC' | 'pods'>

const shown = 10

export const requiredImageAtRisk = nodeRule({
  id: 'required-image-at-risk',
  family: 'image-gc',
  severity: 'low',
  cause: settingIn('runtime', 'io.cri-containerd.pinned'),
  steps: ['pin-images'],
  needs: ['imageGC', 'pods'],
  policy: ['reachableRegistries', 'requiredImages'],
  title: 'An image that must not be missing may be deleted',
  why: 'Image GC and eviction delete what no container uses at that moment, whatever it is needed for next. Images of kube-system and of DaemonSets, and those of policy requiredImages, are wanted on this node again; where their registry does not answer they do not come back, and the node, or what depends on them, does not start.',
  fix: 'Pin the image (ctr -n k8s.io images label NAME io.cri-containerd.pinned=pinned), have a DaemonSet keep it in use, or make it available from a mirror registry that the nodes reach. Policy reachableRegistries says which ones they do.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go imagesInEvictionOrder, freeSpace, DeleteUnusedImages',
    'containerd/containerd internal/cri/labels PinnedImageLabelKey',
    'kubernetes/kubernetes#68930',
    'containerd/containerd#6930',
  ],

  images(given, policy) {
    const subject = given as ImageSubject
    const found = imagesAtRisk(risksOf(subject) ?? [], wantedImages(subject, policy))
    return found.flatMap(({ risk, need }) => (risk.when === 'open' ? [] : [need.name]))
  },

  *judge(subject, policy) {
    const wanted = wantedImages(subject, policy)
    const risks = risksOf(subject)
    if (!risks) {
      if (wanted.isAny)
        yield {
          unknown: 'which images the node has, and so which of them may be deleted, is not known',
        }
      return
    }
    const found: (Risk & RequiredImage & { severity: Severity })[] = []
    for (const { risk, need } of imagesAtRisk(risks, wanted)) {
      if (risk.when === 'open')
        yield {
          unknown: `whether image ${shorten(need.name)} is in use or pinned: what was read does not tell`,
        }
      else found.push({ ...risk, ...need, severity: severityOf(need.name, risk, policy) })
    }
    const [worst, ...others] = found.toSorted(
      by(
        ({ severity }) => severityRank(severity),
        ({ certainty }) => certainty !== 'certain',
        ({ name }) => name,
      ),
    )
    if (!worst) return
    const unreachable =
      worst.severity === 'low'
        ? ''
        : ` Its registry ${shorten(registryOf(worst.name))} is not among the reachable ones: it does not come back.`
    yield {
      severity: worst.severity,
      confidence: worst.certainty,
      consequence: `Image ${shorten(worst.name)} ${deletionText(worst)}.${unreachable}${others.length === 0 ? '' : ` So it is with ${plural(others.length, 'other image')}.`}`,
      evidence: lines(
        ...[worst, ...others]
          .slice(0, shown)
          .map(({ name, why, when, certainty }) =>
            line(
              'computed',
              `image ${shorten(name)}`,
              `${why}; ${deletionText({ when, certainty })}`,
            ),
          ),
        policy.reachableRegistries !== null &&
          line(
            'policy',
            'policy reachableRegistries',
            policy.reachableRegistries.join(', ') || 'none',
          ),
      ),
    }
  },
})

const imagesAtRisk = (risks: readonly Risk[], wanted: Wanted) =>
  risks.flatMap(risk => {
    const need = wanted.requiredBy(risk)
    return need ? [{ risk, need }] : []
  })

interface Risk {
  names: string[]
  /** `next`: kept only while no space is needed. `open`: use and pinning are unknown. */
  when: 'imageGC' | 'eviction' | 'next' | 'open'
  certainty: Certainty
}

function deletionText({ when, certainty }: Pick<Risk, 'when' | 'certainty'>) {
  if (when === 'next')
    return 'is neither in use nor pinned: the next time that image GC or eviction needs space it may go'
  const goes = certainty === 'certain' ? 'is deleted' : 'may be deleted'
  return when === 'imageGC'
    ? `${goes} by image GC within ${gcMinutes} min`
    : `${goes} by eviction within ${evictionSeconds} s`
}

/** Every image that is not safe from deletion. Null: the images of the node are unknown. */
function risksOf({ imageGC: { deletions, kept }, eviction, node, runtime }: ImageSubject) {
  if (!deletions || !kept || eviction?.imageDeletions === null) return null
  const names = new Map<string, string[]>()
  for (const image of node.status?.images ?? [])
    names.set(image.names?.[0] ?? '', image.names ?? [])
  for (const image of runtime?.images ?? [])
    if (image.id !== undefined) names.set(image.id, runtimeNames(image))
  const risks = new Map<string, Risk>()
  for (const { image, reason } of kept)
    if (reason === 'not-needed' || reason === 'too-young' || reason === 'unknown')
      risks.set(image, {
        names: names.get(image) ?? [image],
        when: reason === 'unknown' ? 'open' : 'next',
        certainty: 'possible',
      })
  for (const deletion of deletions) risks.set(deletion.image, { ...deletion, when: 'imageGC' })
  // Eviction acts sooner, but a certain deletion by image GC is worse than a possible one.
  for (const deletion of eviction?.imageDeletions ?? [])
    if (deletion.certainty === 'certain' || risks.get(deletion.image)?.certainty !== 'certain')
      risks.set(deletion.image, { ...deletion, when: 'eviction' })
  return [...risks.values()]
}

interface RequiredImage {
  /** The name under which a pod or the policy needs the image. */
  name: string
  why: string
}

interface Wanted {
  isAny: boolean
  /** Null: the image is not required. */
  requiredBy(risk: Risk): RequiredImage | null
}

/** Images that the policy names, and images of pods in kube-system or of DaemonSets. */
function wantedImages({ pods }: ImageSubject, { requiredImages }: Policy): Wanted {
  const needing = pods.filter(
    pod =>
      pod.metadata?.namespace === 'kube-system' || controllerReferenceOf(pod)?.kind === 'DaemonSet',
  )
  const byName = new Map(
    imagesOf(needing).map(({ image, pod }) => [
      canonicalName(image),
      { name: image, why: `pod ${shortName(pod)}` },
    ]),
  )
  const requiredByPolicy = (names: string[]): RequiredImage | null => {
    for (const pattern of requiredImages) {
      const name = names.find(
        name => matchesGlob(pattern, name) || matchesGlob(pattern, familiarName(name)),
      )
      if (name !== undefined) return { name, why: `policy requiredImages ${shorten(pattern)}` }
    }
    return null
  }
  const held = once(() => heldImages(pods))
  const bases = new Set([...byName.keys()].map(baseOf))
  const requiredByPod = (names: string[]): RequiredImage | null => {
    for (const name of names) {
      const need = bases.has(baseOf(name)) ? byName.get(canonicalName(name)) : undefined
      if (need) return need
    }
    return null
  }
  return {
    isAny: requiredImages.length > 0 || byName.size > 0,
    requiredBy({ names, certainty }: Risk): RequiredImage | null {
      const need = requiredByPolicy(names) ?? requiredByPod(names)
      if (!need || certainty === 'certain') return need
      // The API shows the container's tag, which might name another image by now. The container still counts as a user.
      return names.some(name => held().has(canonicalName(name))) ? null : need
    },
  }
}

/** The end of the path, which the canonical name shares. */
function baseOf(name: string) {
  const end = name.slice(name.lastIndexOf('/') + 1)
  const at = end.indexOf('@')
  const named = at < 0 ? end : end.slice(0, at)
  const colon = named.indexOf(':')
  return colon < 0 ? named : named.slice(0, colon)
}

/** Canonical names of images in use, from the statuses and specs of created containers. */
const heldImages = (pods: readonly KubernetesPod[]): ReadonlySet<string> =>
  new Set(
    pods.flatMap(pod =>
      [...statusesOf(pod), ...(pod.status?.ephemeralContainerStatuses ?? [])]
        .filter(({ containerID }) => containerID)
        .flatMap(({ name, image }) => [
          image,
          [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].find(
            container => container.name === name,
          )?.image,
        ])
        .flatMap(image => (image ? [canonicalName(image)] : [])),
    ),
  )

function severityOf(name: string, { when }: Risk, { reachableRegistries }: Policy): Severity {
  if (
    !reachableRegistries ||
    reachableRegistries.some(pattern => matchesGlob(pattern, registryOf(name)))
  )
    return 'low'
  return when === 'imageGC' || when === 'eviction' ? 'high' : 'medium'
}
