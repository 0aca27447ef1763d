import { dayMs } from '#base/units.ts'
import { diskReason } from '#judge/help/disk-reason.ts'
import { isLinux, line, lines, nodeRule, percent, plural, worldCause } from '#judge/rule.ts'

/** The rule fails from this used percentage of a filesystem's inodes on. */
const leastUsedPercent = 50

export const inodeGrowth = nodeRule({
  id: 'inode-growth',
  family: 'eviction',
  severity: 'medium',
  cause: worldCause('growth'),
  steps: ['look-on-node'],
  needs: ['disks'],
  title: 'A filesystem runs out of inodes before it runs out of bytes',
  why: 'Many small files use up the inodes of the disk. Image GC looks at bytes only, so eviction comes first.',
  fix: 'Find the pod or folder with the most files in the ledger of the node, and delete what it leaves; or create the filesystem with more inodes.',
  sources: [
    'pkg/kubelet/images/image_gc_manager.go GarbageCollect',
    'pkg/kubelet/eviction/helpers.go makeSignalObservations',
  ],
  appliesTo: isLinux,

  *judge(subject) {
    const { disks, ledger, node, at } = subject
    const names =
      disks.layout === 'shared' ? (['nodefs'] as const) : (['nodefs', 'imagefs'] as const)
    const ageMs = Date.parse(at) - Date.parse(node.metadata?.creationTimestamp ?? '')
    for (const name of names) {
      const { inodes: all, inodesFree: free, capacityBytes, availableBytes } = disks[name] ?? {}
      if (all == null || free == null || !capacityBytes || availableBytes == null) {
        yield { unknown: `the inodes or bytes of ${name} were not read` }
        continue
      }
      const usedInodes = all - free
      const inodePercent = all === 0 ? 0 : (100 * usedInodes) / all
      const bytePercent = (100 * (capacityBytes - availableBytes)) / capacityBytes
      if (inodePercent < leastUsedPercent || inodePercent <= bytePercent) continue
      const daysLeft = ageMs > dayMs ? Math.floor((free * ageMs) / usedInodes / dayMs) : 0
      const when =
        daysLeft === 0
          ? ''
          : `, in ${plural(daysLeft, 'day')} at the mean rate since the node joined`
      const most = ledger?.filesystems
        .find(({ filesystem }) => filesystem === name)
        ?.lines.filter(({ inodes: held }) => held !== null)
        .toSorted((a, b) => (b.inodes ?? 0) - (a.inodes ?? 0))[0]
      yield {
        ...diskReason(subject, `${name}.inodesFree`),
        consequence: `${name} has used ${percent(inodePercent)} of its inodes and ${percent(bytePercent)} of its bytes: the inodes run out first${when}.`,
        evidence: lines(
          line('summary', `${name} inodes`, all),
          line('summary', `${name} inodes free`, free),
          most && line('computed', `most inodes: ${most.holder}`, most.inodes ?? 0),
        ),
      }
    }
  },
})
