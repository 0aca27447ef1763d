import {
  findHeld,
  heldAmountText,
  heldEvidence,
  heldReason,
  isLargeShare,
} from '#judge/help/held.ts'
import { canMeasure, line, nodeRule, worldCause } from '#judge/rule.ts'

const least = { percent: 1, gib: 1 }
const much = { percent: 20, gib: 5 }
/** A few links can break between two cleanups by the kubelet, so fewer broken links pass. */
const leastLinks = 10

export const logDebris = nodeRule({
  id: 'log-debris',
  family: 'logs',
  severity: 'low',
  cause: worldCause('leftover-objects', 'pod folders'),
  steps: ['read-journal', 'look-on-node'],
  needs: ['ledger', 'host'],
  title: 'Logs, links and folders of deleted pods stay on the disk',
  why: 'The kubelet deletes the folders of a pod when its object is gone, and broken links to logs every minute. What stays behind is in no statistic of a pod, so no eviction frees it.',
  fix: 'Delete the folders below /var/log/pods and /var/lib/kubelet/pods that belong to no pod, and the broken links (find /var/log/containers -xtype l). Look in the log of the kubelet for the reason.',
  sources: [
    'pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories',
    'pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs',
  ],
  // Only a measurement on the node shows broken links and leftover folders.
  appliesTo: canMeasure(),

  *judge(subject) {
    const links = subject.host?.diskUse?.brokenLinks ?? 0
    if (links >= leastLinks)
      yield {
        consequence: `${links} links to container logs lead nowhere for more than 10 minutes: the kubelet does not clean up after deleted containers. Each holds an inode.`,
        evidence: [line('host', 'broken links of container logs', String(links))],
      }
    for (const held of findHeld(subject.ledger, ['log-debris', 'orphaned-pods'], least))
      yield {
        ...(isLargeShare(held.bytes, held.disk, much) && { severity: 'high' as const }),
        ...heldReason(held, subject),
        consequence: `${heldAmountText(held)} belongs to pods that are deleted. It counts for no pod, and eviction does not free it.`,
        evidence: heldEvidence(held),
      }
  },
})
