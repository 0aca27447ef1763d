import { dayMs } from '#base/units.ts'
import {
  findHeld,
  type Held,
  heldAmountText,
  heldEvidence,
  isLargeShare,
} from '#judge/help/held.ts'
import {
  bytesLine,
  contextRule,
  type Failing,
  isSourceExpected,
  kubeletSetting,
  plural,
} from '#judge/rule.ts'
import { utcDay } from '#judge/run/waivers.ts'
import type { RememberedImage } from '#model/history.ts'

const least = { percent: 20, gib: 10 }
const shownImages = 5

export const idleImages = contextRule({
  id: 'idle-images',
  family: 'image-gc',
  severity: 'low',
  cause: kubeletSetting('imageMaximumGCAge'),
  steps: ['prune-images', 'advice'],
  needs: ['ledger', 'runtime'],
  policy: ['idleImageDays'],
  title: 'Images unused for days hold much of the disk',
  why: 'Image GC starts only at its high threshold. Below it, images that no container uses stay as long as the node lives, unless imageMaximumGCAge is set.',
  fix: 'Set imageMaximumGCAge (since 1.30), for example 168h, or lower the thresholds of image GC.',
  sources: ['pkg/kubelet/images/image_gc_manager.go freeOldImages'],
  // The Kubernetes API alone does not show which images are in use.
  appliesTo: subject => subject.runtime !== null || isSourceExpected(subject, 'runtime'),

  fact: ({ ledger, node }) =>
    findHeld(ledger, ['images-unused'], least).map(held => ({
      held,
      joined: node.metadata?.creationTimestamp ?? '',
    })),

  *judge(much, { at, images, imagesSince }, { idleImageDays }) {
    const limit = utcDay(new Date(Date.parse(at) - idleImageDays * dayMs).toISOString())
    const idle = images.filter(([, , since]) => since != null && since <= limit)
    for (const { held, joined } of much) {
      // Images share layers: together they hold at most what all unused images hold.
      const idleBytes = Math.min(
        held.bytes,
        idle.reduce((sum, [, size]) => sum + size, 0),
      )
      if (isLargeShare(idleBytes, held.disk, least))
        yield failing({ ...held, bytes: idleBytes }, idle, idleImageDays)
      else if (joined.slice(0, 10) <= limit && (imagesSince ?? at) > limit)
        yield {
          unknown: `unused images hold much of ${held.disk.filesystem}, and ${imagesSince === null ? 'no reading shows since when' : `the readings begin on ${imagesSince}`}: ${idleImageDays} days are needed`,
        }
    }
  },
})

const failing = (held: Held, idle: readonly RememberedImage[], days: number): Failing => ({
  // Between two readings a container may use an image. Without a measurement the bytes are an estimate.
  confidence: held.lines.every(({ lowBytes }) => lowBytes > 0) ? 'likely' : 'possible',
  consequence: `${heldAmountText(held)} is images that no reading of the last ${plural(days, 'day')} shows in use. They stay until image GC starts.`,
  evidence: [
    ...heldEvidence(held),
    ...idle
      .slice(0, shownImages)
      .map(([name, size, since]) =>
        bytesLine('runtime', `image ${name}, unused since ${since}`, size),
      ),
  ],
})
