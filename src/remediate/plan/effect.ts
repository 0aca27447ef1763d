/** What a change does to a cohort, all its planned nodes together, in numbers and in words. */

import { byText } from '#base/text/text-order.ts'
import type {
  CohortCounts,
  CohortEffect,
  CohortFile,
  CohortImage,
  NodeState,
  Pulls,
  StepEnd,
} from '#model/plan/plan.ts'
import type { FileChange } from '#remediate/remedies/remedy.ts'

/** The fields of a planned node that define its effect. */
export interface Effective {
  change: Pick<FileChange, 'lastsUntil' | 'oldSha256'>
  before: NodeState
  after: NodeState
  until?: StepEnd
  pulls: Pulls[]
  says?: string
}

export function effectOf(
  planned: readonly Effective[],
  { file, image }: { file?: CohortFile; image?: CohortImage },
): CohortEffect {
  const before = countsOf(planned.map(node => node.before))
  const after = countsOf(planned.map(node => node.after))
  const pulls = pullsOf(planned.flatMap(node => node.pulls))
  const textOf = () => {
    if (file) return fileText(planned, file)
    if (image) return imageText(planned, image)
    const ends = planned.flatMap(({ until }) => until ?? [])
    return ends.length > 0
      ? pruneText(planned, ends, pulls)
      : effectText(planned, before, after, pulls)
  }
  return { before, after, pulls, text: textOf() }
}

function countsOf(states: readonly NodeState[]): CohortCounts {
  const count = (is: (state: NodeState) => boolean) => states.filter(is).length
  return {
    evictFirst: count(({ evictsBeforeImageGc }) => evictsBeforeImageGc === true),
    imageGcDue: count(({ imageGcDue }) => imageGcDue === true),
    freedBytesAtMost: states.reduce(
      (sum, { freedBytesAtMost }) => sum + (freedBytesAtMost ?? 0),
      0,
    ),
    evictNow: count(({ evictsNow }) => (evictsNow?.length ?? 0) > 0),
    unknown: count(state => Object.values(state).includes(null)),
  }
}

function pullsOf(pulls: readonly Pulls[]) {
  const byRegistry = new Map<string, Pulls>()
  for (const { registry, images, limit } of pulls)
    byRegistry.set(registry, {
      registry,
      images: images + (byRegistry.get(registry)?.images ?? 0),
      limit,
    })
  return [...byRegistry.values()].sort((a, b) => byText(a.registry, b.registry))
}

const gib = (count: number) => `${(count / 2 ** 30).toFixed(1)} GiB`

const nodesOf = (count: number) => `${count} node${count === 1 ? '' : 's'}`

function pullWords(pulls: readonly Pulls[]) {
  const images = pulls.reduce((sum, { images: some }) => sum + some, 0)
  const byRegistry = pulls.map(({ registry, images: some, limit }) =>
    limit === null
      ? `${registry} ${some}`
      : `${registry} ${some} (it gives ${limit.pulls} in ${limit.hours} h to all nodes behind one address)`,
  )
  return images > 0
    ? [
        `At most ${images} image${images === 1 ? '' : 's'} would have to be pulled again: ${byRegistry.join(', ')}.`,
      ]
    : []
}

const saidOf = (planned: readonly Effective[]) =>
  [...new Set(planned.flatMap(({ says }) => says ?? []))].sort().slice(0, 5)

function fileText(planned: readonly Effective[], { path }: CohortFile) {
  return [
    `${path} of ${nodesOf(planned.length)} is replaced as a whole. Nothing restarts: logrotate reads it the next time that it runs.`,
    ...saidOf(planned),
  ].join(' ')
}

function imageText(planned: readonly Effective[], { name, source }: CohortImage) {
  const missing = planned.filter(({ change }) => change.oldSha256 === 'absent').length
  return [
    `${name} is pinned on ${nodesOf(planned.length)}: neither the kubelet nor containerd deletes it any more. Nothing restarts.`,
    ...(missing > 0
      ? [
          `Where it is missing, ${nodesOf(missing)}, it is pulled from ${source} and given that name.`,
        ]
      : []),
    ...saidOf(planned),
  ].join(' ')
}

function pruneText(
  planned: readonly Effective[],
  ends: readonly StepEnd[],
  pulls: readonly Pulls[],
) {
  const sum = (count: (end: StepEnd) => number) =>
    ends.reduce((total, end) => total + count(end), 0)
  const [until] = ends
  const longestMs = Math.max(...ends.map(({ atMostMs }) => atMostMs))
  return [
    `For as long as it takes, and ${longestMs / 60_000} min at most, the kubelets of ${nodesOf(planned.length)} run image GC down to ${until?.usedPercentAtMost} % of the image filesystem; then what was there before is put back.`,
    `Unused and not pinned are ${sum(({ imagesAtMost }) => imagesAtMost)} images of ${gib(sum(({ bytesAtMost }) => bytesAtMost))} by the runtime's own sizes: no more than these are deleted, the longest unused first as far as the kubelet still knows.`,
    ...saidOf(planned),
    ...pullWords(pulls),
  ].join(' ')
}

function effectText(
  planned: readonly Effective[],
  before: CohortCounts,
  after: CohortCounts,
  pulls: readonly Pulls[],
) {
  const lostAtReboot = planned.filter(({ change }) => change.lastsUntil === 'reboot').length
  return [
    `Today ${before.evictFirst} of ${nodesOf(planned.length)} evict first, before image GC; after: ${after.evictFirst}.`,
    ...(after.imageGcDue > 0
      ? [
          `Image GC is due at once on ${nodesOf(after.imageGcDue)} (today ${before.imageGcDue}), freeing at most ${gib(after.freedBytesAtMost)}.`,
        ]
      : []),
    ...pullWords(pulls),
    ...(after.evictNow > 0
      ? [`Eviction is due on ${nodesOf(after.evictNow)} (today ${before.evictNow}).`]
      : []),
    ...(lostAtReboot > 0
      ? [`${nodesOf(lostAtReboot)} lose it at the next reboot: nodeadm writes their file anew.`]
      : []),
    ...(after.unknown > 0 ? [`Of ${nodesOf(after.unknown)} not all of this is known.`] : []),
    ...saidOf(planned),
  ].join(' ')
}
