/** What a change does to a cohort, all its planned nodes together, in numbers and in words. */

import { byText, bytesText, firstNames, linesOf } from '#base/text.ts'
import type {
  Blast,
  CohortCounts,
  CohortEffect,
  CohortImage,
  NodeState,
  PlanCohort,
  PlanStep,
  Pulls,
  StepEnd,
} from '#model/plan.ts'
import type { NodeBlast } from '#remediate/pods.ts'
import type { FileChange } from '#remediate/remedies/remedy.ts'
import type { OtherSettings } from '#remediate/verify/verify.ts'

/** The step of one node, and what it does there. */
export interface PlannedNode
  extends Pick<
    PlanStep,
    'instanceId' | 'expect' | 'expectBack' | 'kubeletStartedAt' | 'before' | 'after' | 'until'
  > {
  change: Omit<FileChange, 'host' | 'staysSet' | 'says'>
  others?: OtherSettings
  /** Null: the step restarts nothing. */
  blast: NodeBlast | null
  pulls: Pulls[]
  /** A remark about the step for people, the same for all nodes of a cohort. */
  says?: string
  isReady: boolean
  hasPressure: boolean
}

type ChangedPlace = Pick<PlanCohort, 'file' | 'image'>

export function effectOf(
  planned: readonly PlannedNode[],
  { file, image }: ChangedPlace,
): CohortEffect {
  const before = countsOf(planned.map(node => node.before))
  const after = countsOf(planned.map(node => node.after))
  const pulls = [
    ...Map.groupBy(
      planned.flatMap(node => node.pulls),
      ({ registry }) => registry,
    ),
  ]
    .map(([registry, some]) => ({
      registry,
      images: sumOf(some, ({ images }) => images),
      limit: some.at(-1)?.limit ?? null,
    }))
    .sort((a, b) => byText(a.registry, b.registry))
  const ends = planned.flatMap(({ until }) => until ?? [])
  const textOf = () => {
    if (file)
      return [
        `${file.path} of ${nodesOf(planned.length)} is replaced as a whole. Nothing restarts: logrotate reads it the next time that it runs.`,
        ...remarksOf(planned),
      ]
    if (image) return imageText(planned, image)
    return ends.length > 0
      ? pruneText(planned, ends, pulls)
      : settingsText(planned, before, after, pulls)
  }
  return { before, after, pulls, text: textOf().join(' ') }
}

function countsOf(states: readonly NodeState[]): CohortCounts {
  const countStates = (matches: (state: NodeState) => boolean) => states.filter(matches).length
  return {
    evictFirst: countStates(({ evictsBeforeImageGc }) => evictsBeforeImageGc === true),
    imageGcDue: countStates(({ imageGcDue }) => imageGcDue === true),
    freedBytesAtMost: sumOf(states, ({ freedBytesAtMost }) => freedBytesAtMost ?? 0),
    evictNow: countStates(({ evictsNow }) => (evictsNow?.length ?? 0) > 0),
    unknown: countStates(state => Object.values(state).includes(null)),
  }
}

const sumOf = <Item>(items: readonly Item[], count: (item: Item) => number) =>
  items.reduce((sum, item) => sum + count(item), 0)

const nodesOf = (count: number) => `${count} node${count === 1 ? '' : 's'}`

function pullText(pulls: readonly Pulls[]) {
  const images = sumOf(pulls, pull => pull.images)
  const byRegistry = pulls.map(({ registry, images: some, limit }) =>
    limit
      ? `${registry} ${some} (it gives ${limit.pulls} in ${limit.hours} h to all nodes behind one address)`
      : `${registry} ${some}`,
  )
  return (
    images > 0 &&
    `At most ${images} image${images === 1 ? '' : 's'} would have to be pulled again: ${byRegistry.join(', ')}.`
  )
}

const remarksOf = (planned: readonly PlannedNode[]) =>
  [...new Set(planned.flatMap(({ says }) => says ?? []))].sort().slice(0, 5)

function imageText(planned: readonly PlannedNode[], { name, source }: CohortImage) {
  const missing = planned.filter(({ change }) => change.oldSha256 === 'absent').length
  return linesOf(
    `${name} is pinned on ${nodesOf(planned.length)}: neither the kubelet nor containerd deletes it any more. Nothing restarts.`,
    missing > 0 &&
      `Where it is missing, ${nodesOf(missing)}, it is pulled from ${source} and given that name.`,
    remarksOf(planned),
  )
}

function pruneText(
  planned: readonly PlannedNode[],
  ends: readonly StepEnd[],
  pulls: readonly Pulls[],
) {
  const longestMs = Math.max(...ends.map(({ atMostMs }) => atMostMs))
  return linesOf(
    `For as long as it takes, and ${longestMs / 60_000} min at most, the kubelets of ${nodesOf(planned.length)} run image GC down to ${ends[0]?.usedPercentAtMost} % of the image filesystem; then what was there before is put back.`,
    `Unused and not pinned are ${sumOf(ends, ({ imagesAtMost }) => imagesAtMost)} images of ${bytesText(sumOf(ends, ({ bytesAtMost }) => bytesAtMost))} by the runtime's own sizes: no more than these are deleted, the longest unused first as far as the kubelet still knows.`,
    remarksOf(planned),
    pullText(pulls),
  )
}

function settingsText(
  planned: readonly PlannedNode[],
  before: CohortCounts,
  after: CohortCounts,
  pulls: readonly Pulls[],
) {
  const lostAtReboot = planned.filter(({ change }) => change.lastsUntil === 'reboot').length
  return linesOf(
    `Today ${before.evictFirst} of ${nodesOf(planned.length)} evict first, before image GC; after: ${after.evictFirst}.`,
    after.imageGcDue > 0 &&
      `Image GC is due at once on ${nodesOf(after.imageGcDue)} (today ${before.imageGcDue}), freeing at most ${bytesText(after.freedBytesAtMost)}.`,
    pullText(pulls),
    after.evictNow > 0 &&
      `Eviction is due on ${nodesOf(after.evictNow)} (today ${before.evictNow}).`,
    lostAtReboot > 0 &&
      `${nodesOf(lostAtReboot)} lose it at the next reboot: nodeadm writes their file anew.`,
    after.unknown > 0 && `Of ${nodesOf(after.unknown)} not all of this is known.`,
    remarksOf(planned),
  )
}

const sampled = 20

/** What the restarts of a cohort's kubelets do to its pods. @param isStatusKept ready containers stay ready */
export function blastOf(
  planned: readonly PlannedNode[],
  { file, image }: ChangedPlace,
  isStatusKept: boolean,
): Blast {
  const nodes = planned.flatMap(({ blast }) => blast ?? [])
  const sum = (count: (node: NodeBlast) => number) => sumOf(nodes, count)
  const nameSample = (names: string[]) => ({
    count: names.length,
    sample: names.sort().slice(0, sampled),
  })
  const budgets = nodes.some(({ budgetsAtLimit }) => budgetsAtLimit === null)
    ? null
    : nameSample([...new Set(nodes.flatMap(({ budgetsAtLimit }) => budgetsAtLimit ?? []))])
  const blast = {
    pods: sum(({ pods }) => pods ?? 0),
    notReadyPods: sum(({ notReadyPods }) => notReadyPods),
    singletons: nameSample(nodes.flatMap(({ singletons }) => singletons)),
    budgetsAtLimit: budgets,
    startupProbes: sum(({ startupProbes }) => startupProbes),
    imagesForgotten: sum(({ imagesForgotten }) => imagesForgotten),
    unreadNodes: nodes.filter(({ pods }) => pods === null).length,
  }
  const isTwice = planned.some(({ until }) => until)
  const text =
    file || image
      ? 'Nothing restarts, and no pod notices.'
      : restartText(blast, isStatusKept, isTwice).join(' ')
  return { ...blast, text }
}

/** @param isTwice one restart for the change, and one when the run puts the old settings back */
function restartText(blast: Omit<Blast, 'text'>, isStatusKept: boolean, isTwice: boolean) {
  const { singletons, budgetsAtLimit, startupProbes, imagesForgotten, unreadNodes } = blast
  return linesOf(
    `Each kubelet restarts ${isTwice ? 'twice' : 'once'}; containers run on, ${readinessText(blast, isStatusKept)}`,
    singletons.count > 0 &&
      `${singletons.count} of them are the only pod of their owner: ${namesOf(singletons)}.`,
    budgetsAtLimit === null && 'PodDisruptionBudgets were not read.',
    budgetsAtLimit !== null &&
      budgetsAtLimit.count > 0 &&
      `${budgetsAtLimit.count} PodDisruptionBudgets allow no disruption now: ${namesOf(budgetsAtLimit)}.`,
    startupProbes > 0 && `${startupProbes} startup probes run again (kubernetes#133579).`,
    `The ages of ${imagesForgotten} images are forgotten${isTwice ? ' each time' : ''}: until imageMinimumGCAge has passed again none of them is deleted, and which was used last is not known.`,
    unreadNodes > 0 && `The pods of ${unreadNodes} nodes were not read.`,
  )
}

function readinessText({ notReadyPods, pods }: Omit<Blast, 'text'>, isStatusKept: boolean) {
  if (isStatusKept) return 'and pods that are ready stay so.'
  if (notReadyPods === 0) return 'and no pod that was read turns NotReady.'
  return `but ${notReadyPods} of ${pods} pods turn NotReady until they are probed again, and leave their Services for that long (kubernetes#100277).`
}

const namesOf = ({ count, sample }: { count: number; sample: string[] }) =>
  firstNames(sample, 5, count)
