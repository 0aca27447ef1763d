import { severityRank } from '#judge/outcome.ts'
import type { Change, ComparedFinding } from '#model/delta.ts'
import type { Confidence } from '#model/finding.ts'
import { movedAway, movedHere, placesMoved, placesText } from './moved.ts'
import { type Knowledge, listed } from './run-knowledge.ts'
import { spreadOf } from './spread.ts'

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
  if (after === undefined)
    return before === undefined ? { change: 'unchanged', why: [] } : vanished(before, then, today)
  if (before === undefined) return appeared(after, then, today)
  if (after.waived && before.waived) return { change: 'unchanged', why: [] }
  const { change, why, isInDoubt } = compared(before, after, then, today)
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
): string => {
  const trace = evidence.find(({ kind }) => kind === 'waiver')
  return trace
    ? `the waiver ${trace.value}`
    : `the waiver, until ${until}, is no longer in the policy`
}

function vanished(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  const { passing, absent, notFailing, failing, undecided, open } = today.statesOf(finding)
  const waived = finding.waived ? ['it was waived: the waiver can go'] : []
  const left = absent.count > 0 ? [`gone: ${listed(absent)}`] : []
  if (undecided.count + open.count > 0) {
    const mended = passing.count > 0 ? [`no longer on ${listed(passing)}`] : []
    return {
      change: 'cannotTell',
      why: [...today.doubts(finding, { undecided, open }), ...mended, ...left],
    }
  }
  const movedTo = movedAway(finding, passing, then, today)
  if (movedTo !== null) return { change: 'moved', why: [...waived, movedTo, ...left] }
  if (passing.count > 0) return { change: 'fixed', why: [...waived, ...left] }
  if (failing.count > 0 && finding.nodes.count === 0)
    return { change: 'moved', why: [placesMoved(finding, then, today)] }
  if (failing.count > 0)
    return { change: 'moved', why: [`${listed(failing)} now fail as part of another subject`] }
  if (notFailing.count > 0) return { change: 'fixedOrGone', why: waived }
  return { change: 'gone', why: [...waived, ...today.successors(finding)] }
}

function appeared(finding: ComparedFinding, then: Knowledge, today: Knowledge): Verdict {
  if (finding.waived)
    return { change: 'waivedSince', why: ['it was not there before', waiverText(finding.waived)] }
  const { passing, absent, notFailing, failing, undecided, open } = then.statesOf(finding)
  const unseen =
    undecided.count > 0 ? then.doubts(finding, { undecided, open: { count: 0, names: [] } }) : []
  const isKnown =
    passing.count > 0 && absent.count + notFailing.count + open.count + undecided.count === 0
  const moved = isKnown ? movedHere(finding, passing, then, today) : null
  if (moved !== null) return { change: 'moved', why: [moved] }
  if (passing.count + absent.count + notFailing.count > 0) {
    const came = absent.count > 0 ? [`on nodes that came since: ${listed(absent)}`] : []
    return { change: 'new', why: [...came, ...unseen] }
  }
  if (open.count > 0)
    return { change: 'cannotTell', why: then.doubts(finding, { undecided, open }) }
  if (undecided.count > 0) return { change: 'newlySeen', why: unseen }
  if (finding.nodes.count > 0)
    return {
      change: 'moved',
      why: [`${listed(failing)} failed before, as part of another subject`],
    }
  const why = [placesMoved(finding, then, today)]
  return {
    change:
      finding.places !== undefined && today.places(finding) > then.places(finding)
        ? 'new'
        : 'moved',
    why,
  }
}

function compared(
  before: ComparedFinding,
  after: ComparedFinding,
  then: Knowledge,
  today: Knowledge,
): Verdict {
  const worse: string[] = []
  const better: string[] = []
  const severity = `severity ${before.severity} → ${after.severity}`
  const harsher = severityRank(before.severity) - severityRank(after.severity)
  if (harsher !== 0) (harsher > 0 ? worse : better).push(severity)
  const confidence = `confidence ${before.confidence} → ${after.confidence}`
  const surer = certainty.indexOf(after.confidence) - certainty.indexOf(before.confidence)
  if (surer !== 0) (surer > 0 ? worse : better).push(confidence)
  const more = (after.places ?? 0) - (before.places ?? 0)
  if (more !== 0)
    (more > 0 ? worse : better).push(
      `in ${placesText(after.places ?? 0)}, before in ${before.places ?? 0}`,
    )
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
