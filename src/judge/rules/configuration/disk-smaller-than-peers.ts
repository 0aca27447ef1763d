import { gibibyte } from '#base/units.ts'
import { dataDevice, largerVolume, volumeOf } from '#judge/help/disk-size.ts'
import { diskOf } from '#judge/help/holder-cause.ts'
import { bytes, cohortRule, deviceCause, isLinux, line, plural, shorten } from '#judge/rule.ts'

/** A disk is smaller from this ratio on. Filesystem overhead alone makes a smaller difference. */
const smallerRatio = 1.5
/** Image GC starts here by default: below it, a disk has room. */
const fullPercent = 85

export const diskSmallerThanPeers = cohortRule({
  id: 'disk-smaller-than-peers',
  family: 'configuration',
  severity: 'high',
  cause: deviceCause('below-peers'),
  steps: ['larger-disk'],
  needs: ['disks'],
  title: 'A node has a smaller disk than its peers, and it is filling up',
  why: 'The same pods and images fit on the larger disks of the group. Mostly a new version of the launch template, or an update of the group, has lost the size of the volume.',
  fix: 'Write the size of the peers where the nodes come from, before more nodes are replaced, and replace the small ones.',
  sources: ['terraform-aws-modules/terraform-aws-eks#2572'],
  // Machines without an instance type can be of unlike hardware.
  appliesTo: subject =>
    isLinux(subject) &&
    subject.identity.instanceId !== null &&
    subject.identity.instanceType !== null,

  // Node pools mix instance types, some of which have disks of their own.
  cohort: ({ identity }) => identity.instanceType ?? '',

  fact: ({ disks, conditions, identity, imageGC, ledger }) => {
    const { capacityBytes = null, availableBytes = null } = disks?.nodefs ?? {}
    const used = (capacityBytes ?? 0) - (availableBytes ?? capacityBytes ?? 0)
    const isPast =
      100 * used >= (imageGC?.highThresholdPercent ?? fullPercent) * (capacityBytes ?? 0)
    const disk = ledger && diskOf(ledger, 'nodefs')
    // An instance store has the size of its instance type.
    const isVolume = !ledger || !disk || volumeOf(disk, ledger.volumes, identity) !== null
    return {
      capacityBytes: isVolume ? (capacityBytes ?? 0) : 0,
      isFull: isPast || conditions.DiskPressure === 'True',
      device: identity.owner === 'hybrid' ? null : dataDevice(identity),
      place: largerVolume(identity, { place: dataDevice(identity) }).place,
    }
  },

  *judge(members) {
    const sizes = members
      .flatMap(({ fact: { capacityBytes } }) => capacityBytes || [])
      .toSorted((a, b) => a - b)
    const medianBytes = sizes[Math.floor(sizes.length / 2)] ?? 0
    const small = members.filter(
      ({ fact: { capacityBytes } }) =>
        capacityBytes > 0 && smallerRatio * capacityBytes <= medianBytes,
    )
    const full = small.filter(({ fact: { isFull } }) => isFull)
    const [first] = full
    if (!first) return
    const peers = sizes.slice(small.length)
    const peerBytes = peers[Math.floor((peers.length - 1) / 2)] ?? medianBytes
    const { capacityBytes, device, place } = first.fact
    yield {
      nodes: full.map(({ node }) => node).toSorted(),
      failing: {
        cause: deviceCause('below-peers', { device, peerBytes, actualBytes: capacityBytes }),
        // A node that is replaced before comes back with the small disk.
        steps: [
          {
            id: 'larger-disk',
            ...(place !== undefined && { place }),
            bytes: Math.ceil(peerBytes / gibibyte) * gibibyte,
          },
        ],
        consequence: `${shorten(first.node)}${full.length > 1 ? ` and ${plural(full.length - 1, 'other')}` : ''} of ${plural(members.length, 'node')} of this instance type in the group: ${bytes(capacityBytes)}; the median of the larger ones is ${bytes(peerBytes)}. The same pods and images have less room on it.`,
        evidence: [
          line('computed', 'its disk', `${bytes(capacityBytes)} (${shorten(first.node)})`),
          line('computed', 'median disk of its peers', bytes(peerBytes)),
        ],
      },
    }
  },
})
