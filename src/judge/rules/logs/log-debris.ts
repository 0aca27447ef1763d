import { heldBy, heldEvidence, heldText } from '#judge/held.ts'
import { nodeRule } from '#judge/rule.ts'

const least = { percent: 1, gib: 1 }

export const logDebris = nodeRule({
  id: 'log-debris',
  family: 'logs',
  severity: 'low',
  needs: ['ledger'],
  title: 'Logs and folders of deleted pods stay on the disk',
  why: 'The kubelet deletes the folders of a pod when its object is gone. What stays behind is in no statistic of a pod, so no eviction frees it.',
  fix: 'Delete the folders below /var/log/pods and /var/lib/kubelet/pods that belong to no pod, and look in the log of the kubelet for why it could not.',
  sources: [
    'pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories',
    'pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs',
  ],
  // Only a measurement on the node shows it.
  appliesTo: ({ host }) => host?.diskUse !== undefined,

  *judge({ ledger }) {
    for (const held of heldBy(ledger, ['log-debris', 'orphaned-pods'], least))
      yield {
        consequence: `${heldText(held)} belongs to pods that are deleted. It counts for no pod, and eviction does not free it.`,
        evidence: heldEvidence(held),
      }
  },
})
