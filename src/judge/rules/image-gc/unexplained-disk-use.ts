import { findHeld, heldAmountText, heldEvidence, heldReason } from '#judge/help/held.ts'
import { canMeasure, nodeRule, shorten, worldCause } from '#judge/rule.ts'

const least = { percent: 10, gib: 5 }
/** Share of a disk that is used at most where there is much room. */
const roomy = 0.5

const titles = { folders: 'Folders outside pods and images hold much of the disk' }

export const unexplainedDiskUse = nodeRule({
  id: 'unexplained-disk-use',
  family: 'image-gc',
  severity: 'medium',
  cause: worldCause('growth'),
  steps: ['look-on-node'],
  needs: ['ledger', 'host'],
  titles,
  title: 'Much of the disk is held by something that no measurement shows',
  why: 'Images, pods, logs, the kubelet and the host were measured, and the disk holds more. No garbage collection of the kubelet frees it.',
  fix: 'Look on the node: `du -x` of the folders that are not in the ledger, files under a mount point, leftover layers of another runtime.',
  sources: ['docs/dev/formats.md highwater.ledger/1'],
  // Only a measurement on the node shows unexplained disk use; of other runtimes than containerd it lacks the snapshots.
  appliesTo: canMeasure('snapshots'),

  *judge(subject) {
    const { ledger, host } = subject
    for (const held of findHeld(ledger, ['unknown-folder'], least)) {
      const [folder] = ledger.parts.filter(({ holder }) => holder === 'unknown-folder')
      yield {
        ...heldReason(held, subject),
        title: titles.folders,
        ...(held.disk.usedBytes < roomy * held.disk.capacityBytes && { severity: 'low' }),
        consequence: `${heldAmountText(held)} is in folders outside pods and images, most in ${shorten(folder?.place ?? 'unnamed ones', 200)}: the kubelet cannot free it.`,
        evidence: heldEvidence(held),
      }
    }
    if (host?.diskUse?.missed !== 0)
      yield { unknown: 'a part of the measurement of the disk failed, and may explain its use' }
    for (const held of findHeld(ledger, ['not-explained'], least))
      yield {
        ...heldReason(held, subject),
        consequence: `${heldAmountText(held)} is held by nothing that was measured: the kubelet cannot free it.`,
        evidence: heldEvidence(held),
      }
  },
})
