import { weekMs } from '#base/units.ts'
import { imageGcLine } from '#facts/kubelet/event-messages.ts'
import { gcMinutes } from '#facts/kubelet/periods.ts'
import { isWithinWindow, unreadEvents } from '#judge/events/events.ts'
import { bytes, contextRule, isLinux, line, seenFirst, worldCause } from '#judge/rule.ts'
import type { ReclaimRound } from '#model/history.ts'

const leastRounds = 3
const windowMs = weekMs

export const imageGcFreesLittle = contextRule({
  id: 'image-gc-frees-little',
  family: 'image-gc',
  severity: 'medium',
  cause: worldCause('gc-fails'),
  needs: ['disks'],
  title: 'Image garbage collection frees less than half of what it counts',
  why: 'The kubelet counts the size that the CRI lists for an image. Layers that other images share, and data that other programs write in the meantime, leave the disk as full as before.',
  fix: 'Find in the ledger of the node what else grows on the disk, and make room there. Use images with fewer shared layers of different versions, or a larger disk.',
  sources: ['pkg/kubelet/images/image_gc_manager.go GarbageCollect, freeSpace'],
  appliesTo: isLinux,

  fact: ({ host }) => host?.logLines?.some(text => imageGcLine(text) !== null) === true,

  *judge(isLogged, context) {
    const measured = context
      .rounds()
      .filter(isMeasured)
      .filter(({ at }) => isWithinWindow(at, context.at, windowMs))
    const short = measured.filter(({ countedBytes, freedBytes }) => freedBytes < countedBytes / 2)
    if (short.length < leastRounds || short.length <= measured.length / 2) {
      if (!isLogged) yield* unreadEvents(context)
      return
    }
    const sum = (field: 'countedBytes' | 'freedBytes') =>
      short.reduce((total, round) => total + round[field], 0)
    yield {
      // The bytes written between two rounds are unknown.
      confidence: 'likely',
      ...seenFirst(
        `In ${short.length} of ${measured.length} rounds the kubelet counted ${bytes(sum('countedBytes'))} of deleted images, and the disk became emptier by ${bytes(sum('freedBytes'))}.`,
        `It repeats that every ${gcMinutes} min.`,
      ),
      evidence: short.map(({ at, countedBytes, freedBytes }) =>
        line(
          'event',
          `round of image GC at ${at}`,
          `counted ${bytes(countedBytes)}, freed ${bytes(freedBytes)}`,
        ),
      ),
    }
  },
})

type MeasuredRounds = ReclaimRound & { countedBytes: number; freedBytes: number }

/** Between two readings a day apart other writes hide what was freed, so only rounds that the kubelet reported count. */
const isMeasured = (round: ReclaimRound): round is MeasuredRounds =>
  round.wantedBytes !== null && round.freedBytes !== null && (round.countedBytes ?? 0) > 0
