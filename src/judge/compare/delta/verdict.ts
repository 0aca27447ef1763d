/** How each finding of two runs changed, with the reasons. */

import { severityRank } from '#judge/run/outcome.ts'
import { plural } from '#judge/text.ts'
import type { Change, ComparedFinding } from '#model/delta.ts'
import type { Confidence } from '#model/finding.ts'
import {
  doubtSentences,
  isDrift,
  isReplaced,
  type Knowledge,
  type Nodes,
  nodeCount,
  nodeNames,
  otherDrift,
  placesOf,
  statesIn,
  successors,
  undecidedCount,
} from './run-knowledge.ts'

export interface Pair {
  before: ComparedFinding | undefined
  after: ComparedFinding | undefined
}

interface Verdict {
  change: Change | 'unchanged'
  why: string[]
  isInDoubt?: boolean
}

export function verdictOn({ before, after }: Pair, then: Knowledge, today: Knowledge): Verdict {
  if (!after)
    return before ? vanishedVerdict(before, then, today) : { change: 'unchanged', why: [] }
  if (!before) return appearedVerdict(after, then, today)
  if (after.waived && before.waived) return { change: 'unchanged', why: [] }
  const { change, why, isInDoubt } = changeVerdict(before, after, then, today)
  if (after.waived) return { change: 'waivedSince', why: [waiverText(after.waived), ...why] }
  if (before.waived)
    return { change: 'waiverExpired', why: [waiverEnd(after, before.waived), ...why] }
  return { change, why, isInDoubt }
}

const waiverText = ({ until, reason }: NonNullable<ComparedFinding['waived']>) =>
  `waived until ${until}: ${reason}`

/** An expired waiver stays in the finding's evidence. A waiver deleted from the policy does not. */
const waiverEnd = (
  { evidence }: ComparedFinding,
  { until }: NonNullable<ComparedFinding['waived']>,
) => {
  const trace = evidence.find(({ kind }) => kind === 'waiver')
  return trace
    ? `the waiver ${trace.value}`
    : `the waiver, until ${until}, is no longer in the policy`
}

function vanishedVerdict(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  const { passing, absent, notFailing, failing, undecided, open } = statesIn(today, finding)
  const waived = finding.waived ? ['it was waived: the waiver can go'] : []
  const left = absent.count > 0 ? [`gone: ${nodeNames(absent)}`] : []
  if (undecided.count + open.count > 0) {
    const mended = passing.count > 0 ? [`no longer on ${nodeNames(passing)}`] : []
    return {
      change: 'cannotTell',
      why: [...doubtSentences(today, finding, { undecided, open }), ...mended, ...left],
    }
  }
  const movedTo = movedAway(finding, passing, then, today)
  if (movedTo !== null) return { change: 'moved', why: [...waived, movedTo, ...left] }
  if (passing.count > 0) return { change: 'fixed', why: [...waived, ...left] }
  if (failing.count > 0 && finding.nodes.count === 0)
    return { change: 'moved', why: [placesMoved(finding, then, today)] }
  if (failing.count > 0)
    return { change: 'moved', why: [`${nodeNames(failing)} now fail as part of another finding`] }
  if (notFailing.count > 0) return { change: 'fixedOrGone', why: waived }
  return {
    change: isReplaced(finding, then, today) ? 'replaced' : 'gone',
    why: [...waived, ...successors(today, finding)],
  }
}

function appearedVerdict(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  if (finding.waived)
    return { change: 'waivedSince', why: ['it was not there before', waiverText(finding.waived)] }
  const { passing, absent, notFailing, failing, undecided, open } = statesIn(then, finding)
  const unseen =
    undecided.count > 0
      ? doubtSentences(then, finding, { undecided, open: { count: 0, names: [] } })
      : []
  const isKnown =
    passing.count > 0 && absent.count + notFailing.count + open.count + undecided.count === 0
  const moved = isKnown ? movedHere(finding, passing, then, today) : null
  if (moved !== null) return { change: 'moved', why: [moved] }
  if (passing.count + absent.count + notFailing.count > 0) {
    const came = absent.count > 0 ? [`on nodes that came since: ${nodeNames(absent)}`] : []
    return { change: 'new', why: [...came, ...unseen] }
  }
  if (open.count > 0)
    return { change: 'cannotTell', why: doubtSentences(then, finding, { undecided, open }) }
  if (undecided.count > 0) return { change: 'newlySeen', why: unseen }
  if (finding.nodes.count > 0)
    return {
      change: 'moved',
      why: [`${nodeNames(failing)} failed before, as part of another finding`],
    }
  const why = [placesMoved(finding, then, today)]
  return {
    change:
      finding.places !== undefined && placesOf(today, finding) > placesOf(then, finding)
        ? 'new'
        : 'moved',
    why,
  }
}

function changeVerdict(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
): Verdict {
  const worse: string[] = []
  const better: string[] = []
  const note = (rise: number, text: string) => {
    if (rise !== 0) (rise > 0 ? worse : better).push(text)
  }
  note(
    severityRank(before.severity) - severityRank(after.severity),
    `severity ${before.severity} → ${after.severity}`,
  )
  note(
    certainty.indexOf(after.confidence) - certainty.indexOf(before.confidence),
    `confidence ${before.confidence} → ${after.confidence}`,
  )
  const [earlier, now] = [before.places ?? 0, after.places ?? 0]
  note(now - earlier, `in ${placesText(now)}, before in ${earlier}`)
  const spread = spreadOf(before, after, then, today)
  const isBetterWhole = better.length > 0 && !spread.isHidden
  const why = [...worse, ...better, ...spread.why]
  if (worse.length > 0 || spread.grows > 0) return { change: 'worse', why }
  // A finding may look milder today only because its worst node was not read.
  if (better.length > 0 && spread.isHidden) return { change: 'cannotTell', why }
  if (isBetterWhole || spread.grows < 0) return { change: 'better', why }
  if (spread.isElsewhere) return { change: 'moved', why }
  return { change: 'unchanged', why: [], isInDoubt: spread.isHidden || spread.isUncovered }
}

const certainty: Confidence[] = ['possible', 'likely', 'certain']

/** For a finding in both runs: whether it is on more, fewer or other nodes than before. */

function spreadOf(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
) {
  const [now, earlier] = [statesIn(then, after), statesIn(today, before)]
  if (now.open.count + earlier.open.count > 0) return spreadByCount(before, after, then, today)
  const ended = earlier.passing
  const left = earlier.absent.count
  const shrunk = Math.max(0, nodeCount(then, before.cluster) - nodeCount(today, before.cluster))
  const fresh = now.absent.count + now.notFailing.count
  // A node replaced by another with the same defect is no change. A deleted node is no repair.
  const joined = Math.max(0, fresh - left - earlier.notFailing.count)
  const endedUnseen = Math.max(0, earlier.notFailing.count - fresh - shrunk)
  const grows = now.passing.count + joined - ended.count - endedUnseen
  const why = [
    now.passing.count > 0 ? `started on ${nodeNames(now.passing)}` : '',
    now.absent.count > 0 ? `came with it: ${nodeNames(now.absent)}` : '',
    now.notFailing.count > 0 ? `started on, or came with it: ${nodeNames(now.notFailing)}` : '',
    ended.count > 0
      ? (movedAway(before, ended, then, today) ?? `ended on ${nodeNames(ended)}`)
      : '',
    left > 0 ? `gone: ${nodeNames(earlier.absent)}` : '',
    earlier.notFailing.count > 0 ? `ended on, or gone: ${nodeNames(earlier.notFailing)}` : '',
    ...(now.undecided.count > 0 ? doubtSentences(then, after, now) : []),
    ...(earlier.undecided.count > 0 ? doubtSentences(today, before, earlier) : []),
  ].filter(Boolean)
  return {
    /** Above 0: on more nodes than before. Below 0: on fewer nodes; deleted nodes do not count. */
    grows,
    /** The finding started on nodes that passed before. */
    isElsewhere: now.passing.count > 0,
    /** Some of the finding's previous nodes could not be checked today. */
    isHidden: earlier.undecided.count > 0,
    /** Some of the finding's current nodes could not be checked before. */
    isUncovered: now.undecided.count + now.notFailing.count + earlier.notFailing.count > 0,
    why,
  }
}

/** Not all nodes of the finding are named, so only counts are compared. Unread nodes and nodes that left the cluster are subtracted. */
function spreadByCount(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
) {
  const rise = after.nodes.count - before.nodes.count
  const [hiddenThen, hiddenNow] = [undecidedCount(then, before), undecidedCount(today, after)]
  const shrunk = Math.max(0, nodeCount(then, before.cluster) - nodeCount(today, before.cluster))
  const isMore = rise > hiddenThen
  const isFewer = -rise > hiddenNow + shrunk
  const counts = `on ${plural(after.nodes.count, 'node')}, before on ${before.nodes.count}`
  const unnamed = `by count alone: not all of its nodes are named`
  return {
    grows: Number(isMore) - Number(isFewer),
    isElsewhere: false,
    isHidden: hiddenNow > 0,
    isUncovered: hiddenThen > 0 || (rise !== 0 && !isMore && !isFewer),
    why: rise === 0 ? [] : [`${counts} (${unnamed})`],
  }
}

/**
 * Another rule reports drift of the same nodes now, because most nodes drift or the declaration
 * became known. Null: no other rule reports drift of these nodes.
 */
function movedAway(
  finding: ComparedFinding,
  ended: Nodes['passing'],
  then: Knowledge,
  today: Knowledge,
) {
  if (!isDrift(finding)) return null
  const before = otherDrift(then, finding, ended.names)
  const rules = otherDrift(today, finding, ended.names).filter(rule => !before.includes(rule))
  if (rules.length === 0) return null
  return `no longer on ${nodeNames(ended)}, where ${rules.toSorted().join(', ')} ${rules.length === 1 ? 'reports' : 'report'} drift now`
}

/** Opposite of `movedAway`. Null unless another rule reported drift on each node before, not today. */
function movedHere(
  finding: ComparedFinding,
  { count, names }: Nodes['passing'],
  then: Knowledge,
  today: Knowledge,
) {
  if (!isDrift(finding) || names.length < count) return null
  const rulesOn = (name: string) => {
    const now = otherDrift(today, finding, [name])
    return otherDrift(then, finding, [name]).filter(rule => !now.includes(rule))
  }
  const rules = names.map(rulesOn)
  if (rules.some(({ length }) => length === 0)) return null
  return `on ${nodeNames({ count, names })}, where ${[...new Set(rules.flat())].toSorted().join(', ')} reported drift before`
}

/** A rule reports few places one by one, and many places together. */
const placesMoved = (finding: ComparedFinding, then: Knowledge, today: Knowledge) =>
  `in ${placesText(placesOf(today, finding))}, before in ${placesOf(then, finding)}: many places are reported together, few one by one`
const placesText = (count: number) => plural(count, 'place')
