/**
 * Observed rounds of image GC: bytes the kubelet wanted to free, size of the deleted images, and bytes by which the disk became emptier.
 *
 * Follows  pkg/kubelet/images/image_gc_manager.go GarbageCollect, freeSpace: each round uses the same low threshold, so the wanted bytes
 *          of two rounds in a row differ by the bytes the first round freed, less the bytes written in between.
 */

import { sharedValue } from '#base/once.ts'
import { by } from '#base/text.ts'
import { imageGcLine, shortfallBytes } from '#facts/kubelet/event-messages.ts'
import { imageGcPeriodMs } from '#facts/kubelet/periods.ts'
import type { NodeEvent } from '#judge/subject/node-subject.ts'
import { nameLength, shorten } from '#judge/text.ts'
import type {
  Happening,
  NodeBefore,
  PastRelease,
  ReclaimRound,
  RememberedImage,
} from '#model/history.ts'
import { nameWithoutTag } from '#model/input/image-reference.ts'
import type { NodeInput } from '#model/input/record.ts'
import type { KeptImage, NodePrediction } from '#model/prediction.ts'
import type { TakenNode } from '#model/report.ts'
import { usedOf } from './fill.ts'

const mostRounds = 6
/** If two rounds are further apart, other rounds may have run between them. */
const mostApartMs = 1.5 * imageGcPeriodMs
type Reported = Pick<ReclaimRound, 'at' | 'wantedBytes' | 'countedBytes'>

/** Rounds as the kubelet reported them, in its log or in events of rounds that freed too little. */
export function reportedRounds(
  events: readonly NodeEvent[] | null,
  logLines: readonly string[],
): ReclaimRound[] {
  const logged = loggedRounds(logLines)
  const rounds = (logged.length > 0 ? logged : roundsOfEvents(events ?? [])).toSorted(
    by(({ at }) => at),
  )
  return rounds
    .map((round, index) => ({
      ...round,
      freedBytes: freedUntil(round, rounds[index + 1]),
      predictedBytes: null,
    }))
    .slice(-mostRounds)
}

function freedUntil({ at, wantedBytes }: Reported, next: Reported | undefined) {
  if (!next || wantedBytes === null || next.wantedBytes === null) return null
  const isNext = Date.parse(next.at) - Date.parse(at) <= mostApartMs
  return isNext ? Math.max(0, wantedBytes - next.wantedBytes) : null
}

function loggedRounds(lines: readonly string[]): Reported[] {
  const rounds: Reported[] = []
  for (const line of lines.flatMap(text => imageGcLine(text) ?? [])) {
    const last = rounds.at(-1)
    if ('wantedBytes' in line) rounds.push({ ...line, countedBytes: 0 })
    else if (last) last.countedBytes = (last.countedBytes ?? 0) + line.bytes
  }
  return rounds
}

/** An event counted more than once is two rounds, its first and last, that wanted the same. */
const roundsOfEvents = (events: readonly NodeEvent[]): Reported[] =>
  events.flatMap(({ reason, message, count, firstTime, lastTime }) => {
    const bytes = reason === 'FreeDiskSpaceFailed' ? shortfallBytes(message) : null
    if (!bytes || lastTime === null) return []
    const round = { wantedBytes: bytes.wantedBytes, countedBytes: bytes.freedBytes }
    const isRepeated = count > 1 && firstTime !== null && firstTime !== lastTime
    const before = isRepeated ? [{ ...round, at: firstTime }] : []
    return [...before, { ...round, at: lastTime }]
  })

export const mostImages = 32
const shownName = 40

/** The largest images, largest first. Empty: no list was read. */
export function imagesOf(
  { node, runtime, at }: Pick<NodeInput, 'node' | 'runtime' | 'at'>,
  { imageGC, at: readAt }: Pick<NodePrediction, 'imageGC' | 'at'>,
): RememberedImage[] {
  const unused = runtime ? unusedById(imageGC) : null
  const day = (at ?? readAt).slice(0, 10)
  const listed =
    runtime?.images?.map(({ id = '', repoTags = [], repoDigests = [], size }) => ({
      id,
      names: [...repoTags, ...repoDigests, id],
      bytes: Number(size),
    })) ??
    node.status?.images?.map(({ names = [], sizeBytes }) => ({
      id: '',
      names,
      bytes: Number(sizeBytes),
    })) ??
    []
  return listed
    .filter(({ names, bytes }) => names.length > 0 && Number.isSafeInteger(bytes) && bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, mostImages)
    .map(({ id, names, bytes }) => {
      const isUnused = unused?.get(id)
      return sharedValue<RememberedImage>(
        isUnused === undefined
          ? [nameOf(names), bytes]
          : [nameOf(names), bytes, isUnused ? day : null],
      )
    })
}

const isUnusedBy: Readonly<Partial<Record<KeptImage['reason'], boolean>>> = {
  'in-use': false,
  pinned: false,
  'not-needed': true,
  'too-young': true,
}

/** Images whose use is unknown are absent. */
function unusedById(imageGC: NodePrediction['imageGC']): Map<string, boolean | undefined> {
  const deleted = (imageGC?.deletions ?? []).filter(({ certainty }) => certainty === 'certain')
  return new Map([
    ...deleted.map(({ image }) => [image, true] as const),
    ...(imageGC?.kept ?? []).map(({ image, reason }) => [image, isUnusedBy[reason]] as const),
  ])
}

/** The end of the image name, because the registry in front distinguishes images least. */
function nameOf(names: readonly string[]) {
  const name = shorten(names.find(each => !each.includes('@')) ?? names[0] ?? '', nameLength)
  return name.startsWith('sha256:') ? name.slice(7, 19) : name.slice(-shownName)
}

type ImagesBefore = Omit<NodeBefore, 'rounds'>

/** Compares two readings of a node: deleted images, and since when others are unused. */
export function withImages(now: TakenNode, last: ImagesBefore | null): Partial<TakenNode> {
  const before = last && Date.parse(last.at) <= Date.parse(now.at) ? last : null
  const { images = [], rounds, happened } = now
  const isUseKnown = images.some(([, , since]) => since !== undefined)
  const imagesSince = before?.imagesSince ?? (isUseKnown ? now.at.slice(0, 10) : null)
  if (!before) return { images, imagesSince }
  // A node that was not read keeps its images with the days since which they are unused.
  const { pastReleases: past } = before
  if (images.length === 0)
    return { images: [...before.images], ...(past && { pastReleases: past }), imagesSince }
  const earlier = retagImages(before.images, images)
  const gone = goneImages(earlier, images)
  const pastReleases = releasesAmong([...(past ?? []), ...gone], images)
  const dated = {
    images: withDays(images, earlier),
    ...(pastReleases.length > 0 && { pastReleases }),
    imagesSince,
  }
  if (gone.length === 0) return dated
  const countedBytes = gone.reduce((sum, [, bytes]) => sum + bytes, 0)
  const freedBytes = freedDiskBytes(now, before)
  const predictedBytes = before.imageGC?.predictedBytes ?? null
  const round = { at: now.at, wantedBytes: null, countedBytes, freedBytes, predictedBytes }
  const isLogged = happened?.some(({ what }) => what === 'image-deleted') ?? false
  return {
    ...dated,
    rounds: [...(rounds ?? []), round].slice(-mostRounds),
    ...(!isLogged && { happened: [...(happened ?? []), ...gone.map(deletion(now, before))] }),
  }
}

/** The earlier images by their names of today. A lost name and a new one of the same size are two tags of one image. */
function retagImages(
  before: readonly RememberedImage[],
  now: readonly RememberedImage[],
): RememberedImage[] {
  const [then, here] = [new Set(before.map(([name]) => name)), new Set(now.map(([name]) => name))]
  const added = new Map(now.flatMap(([name, bytes]) => (then.has(name) ? [] : [[bytes, name]])))
  return before.map(([name, bytes, since]) => [
    here.has(name) ? name : (added.get(bytes) ?? name),
    ...([bytes, since] as const),
  ])
}

/** An image of another size under the same name is another image. */
function withDays(images: readonly RememberedImage[], before: readonly RememberedImage[]) {
  const days = new Map(before.map(([name, bytes, since]) => [`${name} ${bytes}`, since]))
  return images.map(([name, bytes, since]) => {
    const first = since === null ? null : (days.get(`${name} ${bytes}`) ?? since)
    return sharedValue<RememberedImage>(first === undefined ? [name, bytes] : [name, bytes, first])
  })
}

/** Lists contain only the largest images. An image smaller than all of today's may still exist. */
function goneImages(before: readonly RememberedImage[], now: readonly RememberedImage[]) {
  const here = new Set(now.map(([name]) => name))
  const least = now.at(-1)?.[1] ?? Number.POSITIVE_INFINITY
  return before.filter(([name, bytes]) => !here.has(name) && bytes > least)
}

export const mostPastReleases = 8

/** Those of an image that is still there in another release, each name once. */
function releasesAmong(
  gone: readonly (RememberedImage | PastRelease)[],
  now: readonly RememberedImage[],
): PastRelease[] {
  const here = new Set(now.map(([name]) => name))
  const known = new Set(now.flatMap(([name]) => nameWithoutTag(name) ?? []))
  const past = gone.filter(([name]) => !here.has(name) && known.has(nameWithoutTag(name) ?? ''))
  return [...new Map(past.map(([name, bytes]) => [name, bytes]))].slice(-mostPastReleases)
}

const deletion =
  ({ at }: TakenNode, before: ImagesBefore) =>
  ([name, bytes]: RememberedImage): Happening => ({
    at,
    what: 'image-deleted',
    subject: name,
    message: `${bytes} bytes by the CRI, after ${before.at}`,
  })

/** Bytes by which the image disk became emptier. Null: not read. 0: the disk did not. */
function freedDiskBytes({ prediction: { filesystems } }: TakenNode, { fill }: ImagesBefore) {
  const { layout, nodefs, imagefs } = filesystems
  const last = fill?.readings.at(-1)
  const used = usedOf(layout === 'shared' ? nodefs : imagefs)
  const then = layout === 'shared' ? last?.nodefsUsedBytes : last?.imagefsUsedBytes
  return used === null || then == null ? null : Math.max(0, then - used)
}

/** Each round once, because two runs may read the same event. */
export const mergedRounds = (
  before: readonly ReclaimRound[],
  now: readonly ReclaimRound[],
): ReclaimRound[] =>
  [...new Map([...before, ...now].map(round => [round.at, round])).values()]
    .toSorted(by(({ at }) => at))
    .slice(-mostRounds)
