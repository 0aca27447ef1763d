/** How many more releases of an image a node takes before image GC and before eviction, from the images that it lists. */
import type { RememberedImage } from '#model/history.ts'
import type { Assumptions, AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import type { DiskOutlook } from './disk-outlook.ts'

const byNumber = new Intl.Collator('en', { numeric: true }).compare
const shownTags = 3
/** Fewer images of one name do not show how large the next one is. */
const leastReleases = 3

interface Releases {
  /** End of the image's path, without registry and tag. */
  name: string
  /** Of the releases that it was learned from. */
  tags: string[]
  /** Unpacked, at most. The disk takes less where releases share layers. */
  largestBytes: number
}

/** Of the images in use, the one with the largest release. Null: the node lists fewer than three releases of each. */
function largestReleases(
  images: readonly RememberedImage[],
  { mostUnpacking }: Pick<Assumptions, 'mostUnpacking'>,
): Releases | null {
  const byName = Map.groupBy(images, ([name]) => /^([^@]*):[^/:@]+$/.exec(name)?.[1] ?? '')
  byName.delete('')
  const known = [...byName]
    .filter(([, all]) => all.length >= leastReleases && all.some(([, , unused]) => unused == null))
    .map(([name, all]) => ({
      name: name.split('/').slice(-2).join('/'),
      tags: all.map(([image]) => image.slice(name.length + 1)).toSorted(byNumber),
      largestBytes: mostUnpacking * Math.max(...all.map(([, bytes]) => bytes)),
    }))
  return known.toSorted((a, b) => b.largestBytes - a.largestBytes)[0] ?? null
}

/** Whether room for more releases is unknown because the node lists too few of each. */
export const lacksReleases = (
  { images = [] }: AuditedNode,
  disk: DiskOutlook | null,
  assumptions: Assumptions,
): boolean => hasImages(disk) && largestReleases(images, assumptions) === null

const hasImages = (disk: DiskOutlook | null) => disk?.imageGcMs !== undefined

/** Empty: unknown. */
export function releasesText(
  { images = [], prediction: { imageGC } }: AuditedNode,
  disk: DiskOutlook | null,
  assumptions: Assumptions,
  { words: { list, next: words }, bytes, line }: Language,
): string {
  const releases = largestReleases(images, assumptions)
  if (releases === null || disk === null || !hasImages(disk)) return ''
  const { name, tags, largestBytes } = releases
  const imagesFitting = (room: number | null | undefined) =>
    room == null ? null : Math.floor(Math.max(room, 0) / largestBytes)
  const untilGc = imageGC?.enabled ? imagesFitting(imageGC.bytesUntilTrigger) : null
  const untilEviction = imagesFitting(disk.threshold?.margin)
  if (untilGc === null && untilEviction === null) return ''
  const latest = list(tags.slice(-shownTags).map(tag => line(tag, 20)))
  return words.releases(line(name, 60), latest, bytes(largestBytes), untilGc, untilEviction)
}
