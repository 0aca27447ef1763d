import { heldBy, heldEvidence, heldText } from '#judge/held.ts'
import { nodeRule } from '#judge/rule.ts'

const least = { percent: 20, gib: 10 }

export const idleImages = nodeRule({
  id: 'idle-images',
  family: 'image-gc',
  severity: 'low',
  needs: ['ledger'],
  title: 'Unused images hold much of the disk',
  why: 'Image GC starts only at its high threshold. Below it, images that no container uses stay as long as the node lives, unless imageMaximumGCAge is set.',
  fix: 'Set imageMaximumGCAge (since 1.30), for example 168h, or lower the thresholds of image GC.',
  sources: ['pkg/kubelet/images/image_gc_manager.go freeOldImages'],
  // Only a measurement on the node shows how much disk unused images hold.
  appliesTo: ({ host }) => host?.diskUse?.snapshots !== undefined,

  *judge({ ledger }) {
    for (const held of heldBy(ledger, ['images-unused'], least))
      yield {
        consequence: `${heldText(held)} is images that no container uses. They stay until image GC starts.`,
        evidence: heldEvidence(held),
      }
  },
})
