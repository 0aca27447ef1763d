/** For a finding in both runs: whether it is on more, fewer or other nodes than before. */
import { counted } from '#judge/text.ts'
import type { ComparedFinding } from '#model/delta.ts'
import { movedAway } from './moved.ts'
import { type Knowledge, listed } from './run-knowledge.ts'

interface FindingSpread {
  /** Above 0: on more nodes than before. Below 0: on fewer nodes; deleted nodes do not count. */
  grows: number
  /** The finding started on nodes that passed before. */
  isElsewhere: boolean
  /** Some of the finding's previous nodes could not be checked today. */
  isHidden: boolean
  /** Some of the finding's current nodes could not be checked before. */
  isUncovered: boolean
  why: string[]
}

export function spreadOf(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
): FindingSpread {
  const [now, earlier] = [then.statesOf(after), today.statesOf(before)]
  if (now.open.count + earlier.open.count > 0) return spreadByCount(before, after, then, today)
  const ended = earlier.passing
  const left = earlier.absent.count
  const shrunk = Math.max(0, then.nodeCount(before.cluster) - today.nodeCount(before.cluster))
  const fresh = now.absent.count + now.notFailing.count
  // A node replaced by another with the same defect is no change. A deleted node is no repair.
  const joined = Math.max(0, fresh - left - earlier.notFailing.count)
  const endedUnseen = Math.max(0, earlier.notFailing.count - fresh - shrunk)
  const grows = now.passing.count + joined - ended.count - endedUnseen
  const why = [
    now.passing.count > 0 ? `started on ${listed(now.passing)}` : '',
    now.absent.count > 0 ? `came with it: ${listed(now.absent)}` : '',
    now.notFailing.count > 0 ? `started on, or came with it: ${listed(now.notFailing)}` : '',
    ended.count > 0 ? (movedAway(before, ended, then, today) ?? `ended on ${listed(ended)}`) : '',
    left > 0 ? `gone: ${listed(earlier.absent)}` : '',
    earlier.notFailing.count > 0 ? `ended on, or gone: ${listed(earlier.notFailing)}` : '',
    ...(now.undecided.count > 0 ? then.doubts(after, now) : []),
    ...(earlier.undecided.count > 0 ? today.doubts(before, earlier) : []),
  ].filter(text => text !== '')
  return {
    grows,
    isElsewhere: now.passing.count > 0,
    isHidden: earlier.undecided.count > 0,
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
): FindingSpread {
  const rise = after.nodes.count - before.nodes.count
  const [hiddenThen, hiddenNow] = [then.undecidedCount(before), today.undecidedCount(after)]
  const shrunk = Math.max(0, then.nodeCount(before.cluster) - today.nodeCount(before.cluster))
  const isMore = rise > hiddenThen
  const isFewer = -rise > hiddenNow + shrunk
  const counts = `on ${counted(after.nodes.count, 'node')}, before on ${before.nodes.count}`
  const unnamed = `by count alone: not all of its nodes are named`
  return {
    grows: Number(isMore) - Number(isFewer),
    isElsewhere: false,
    isHidden: hiddenNow > 0,
    isUncovered: hiddenThen > 0 || (rise !== 0 && !isMore && !isFewer),
    why: rise === 0 ? [] : [`${counts} (${unnamed})`],
  }
}
