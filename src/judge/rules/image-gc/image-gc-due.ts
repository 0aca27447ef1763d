import { usedPercentOf } from '#base/percent.ts'
import { by } from '#base/text.ts'
import { gcMinutes } from '#facts/kubelet/periods.ts'
import { isCrio } from '#facts/kubelet/unpacking.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import { lowThresholds, whyNoRound } from '#judge/help/thresholds.ts'
import {
  bytes,
  bytesLine,
  type Failing,
  line,
  lines,
  nodeRule,
  percent,
  plural,
  type Satisfied,
  shorten,
  worldCause,
} from '#judge/rule.ts'
import type { ImageDeletion, ImageGcPrediction } from '#model/prediction.ts'

const shown = 5
const shownInText = 3

const titles = { nothingToDelete: 'Image garbage collection is due, but no image can be deleted' }

export const imageGcDue = nodeRule({
  id: 'image-gc-due',
  family: 'image-gc',
  severity: 'info',
  // The disk is past the threshold: another one would not end that.
  cause: worldCause('growth'),
  effect: 'image-gc',
  steps: ['list-deletions', 'advice'],
  needs: ['imageGC'],
  titles,
  title: 'Image garbage collection is about to delete images',
  why: 'The image filesystem is above the high threshold, so the next round deletes unused images, oldest first. Where a registry cannot be reached, what it deletes does not come back.',
  fix: 'Nothing, if the images can be pulled again. Otherwise pin them or make room: fewer images, a larger disk, or another threshold.',
  sources: ['pkg/kubelet/images/image_gc_manager.go GarbageCollect, freeSpace'],
  appliesTo: ({ imageGC }) => imageGC?.enabled !== false,

  *judge(subject) {
    const { imageGC, filesystems } = subject
    const { triggered, bytesToFree, highThresholdPercent, lowThresholdPercent } = imageGC
    // Upstream's round ends with `error` and frees nothing.
    if (triggered === null || (!triggered && imageGC.error !== null))
      yield { unknown: whyNoRound(subject) }
    const { deletions } = imageGC
    if (!triggered) return
    const going = deletions?.toSorted(byRank) ?? []
    const available = filesystems.imagefs?.availableBytes
    const used = usedPercentOf(filesystems.imagefs?.capacityBytes, available)
    yield {
      ...(deletions?.length === 0
        ? {
            ...(lowThresholds(subject) ?? diskReason(subject, 'imagefs.available')),
            ...noDeletionFailing(imageGC),
          }
        : nextRound(going, subject)),
      evidence: lines(
        used !== null && line('summary', 'image filesystem used', percent(used)),
        line('configz', 'imageGCHighThresholdPercent', highThresholdPercent),
        line('configz', 'imageGCLowThresholdPercent', lowThresholdPercent),
        available !== null &&
          available !== undefined &&
          bytesLine('summary', 'image filesystem available', available),
        bytesToFree !== null && bytesLine('computed', 'to free', bytesToFree),
        ...going
          .slice(0, shown)
          .map(image =>
            line(
              'computed',
              image.certainty === 'certain' ? 'image GC deletes' : 'image GC may delete',
              `${nameOf(image)}${image.sizeBytes === null ? '' : `, ${bytes(image.sizeBytes)}`}`,
            ),
          ),
      ),
    }
  },
})

const nameOf = ({ image, names }: ImageDeletion) => shorten(names[0] ?? image, 200)

/** Images without a known rank come last. */
const byRank = by<ImageDeletion>(({ rank }) => rank ?? Number.MAX_SAFE_INTEGER, nameOf)

/** Names of the images that the replay predicts to be deleted, in order. */
function deletionWords(going: readonly ImageDeletion[]) {
  const surely = going.filter(({ certainty }) => certainty === 'certain')
  const named = surely.length > 0 ? surely : going
  const names = named
    .slice(0, shownInText)
    .map(
      image => `${nameOf(image)}${image.sizeBytes === null ? '' : ` (${bytes(image.sizeBytes)})`}`,
    )
  if (named.length > shownInText) names.push(`${named.length - shownInText} more`)
  const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0]
  const others = going.length - named.length
  return `${surely.length > 0 ? 'deletes' : 'may delete'} ${plural(named.length, 'image')}, ${list},${others > 0 ? ` may delete ${others} more,` : ''}`
}

function nextRound(
  going: readonly ImageDeletion[],
  { imageGC, node }: Satisfied<'imageGC'>,
): Pick<Failing, 'confidence' | 'consequence'> {
  const what = imageGC.deletions
    ? deletionWords(going)
    : 'deletes unused images, which they are is not known,'
  return {
    confidence: going.some(({ certainty }) => certainty === 'certain') ? 'certain' : 'likely',
    consequence: `Within ${gcMinutes} min the kubelet ${what}${freedClause(imageGC)}. ${isCrio(node.status?.nodeInfo?.containerRuntimeVersion) ? 'It counts a layer that images share for each of them: the disk gets less than it counts.' : countedText(imageGC)}`,
  }
}

/** Deletions go past what the disk needs only if there are as many images. */
function countedText({ bytesToFree, deletableBytes }: ImageGcPrediction): string {
  const counts = 'It counts compressed sizes, the disk has unpacked ones'
  if (deletableBytes !== null && bytesToFree !== null && deletableBytes < bytesToFree)
    return `${counts}: everything that it may delete counts ${bytes(deletableBytes)}, and it reports that it freed too little.`
  return `${counts}: it may delete more than the disk needs, and still report that it freed too little.`
}

/** The rule unreachable-gc-low-threshold reports the consequences of a round that frees nothing. */
const noDeletionFailing = ({
  bytesToFree,
}: ImageGcPrediction): Pick<Failing, 'title' | 'consequence'> => ({
  title: titles.nothingToDelete,
  consequence: `Within ${gcMinutes} min the kubelet looks for unused images${bytesToFree === null ? '' : ` of ${bytes(bytesToFree)}`} and deletes none: by replay every image that is known is in use, pinned or too young.`,
})

function freedClause({ bytesToFree, freedBytes }: ImageGcPrediction) {
  if (bytesToFree === null) return ' until it has counted enough'
  return freedBytes === null
    ? ` until it has counted ${bytes(bytesToFree)} freed`
    : ` and counts ${bytes(freedBytes)} of the ${bytes(bytesToFree)} that it has to free`
}
