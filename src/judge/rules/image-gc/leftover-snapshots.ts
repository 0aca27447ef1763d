import { holders } from '#facts/holders.ts'
import { isCrio, unpackingOf } from '#facts/kubelet/unpacking.ts'
import {
  findHeld,
  type Held,
  heldAmountText,
  heldEvidence,
  isLargeShare,
} from '#judge/help/held.ts'
import { lineOf, partCause } from '#judge/help/holder-cause.ts'
import { reasonOf } from '#judge/help/holder-steps.ts'
import { bytes, bytesLine, line, lines, type NodeSubject, nodeRule, plural } from '#judge/rule.ts'
import type { HolderCause, Severity, StepAction } from '#model/finding.ts'
import { statusesOf } from '#model/input/record.ts'
import type { DiskHolder, LedgerLine } from '#model/prediction.ts'

const least = { percent: 10, gib: 5 }
const much = { percent: 25, gib: 5 }

/** Share of a disk that is used at most where there is much room. */
const roomy = 0.6

/** Where there is room, what is only inferred is looked at: nothing shows that a release of the runtime is at fault. */
function lookingSteps(steps: readonly StepAction[]): StepAction[] {
  const reading = steps.filter(({ id }) => id === 'read-on-node')
  return reading.length === 0 ? [{ id: 'look-on-node' }] : reading
}

const causeOf = (
  holder: DiskHolder,
  filesystem: HolderCause['filesystem'],
  lowBytes: number,
  highBytes: number | null,
) => partCause({ holder, filesystem, lowBytes, highBytes, owner: null, place: null })

const titles = { inferred: 'Much of what the runtime holds on its disk is not its images' }

export const leftoverSnapshots = nodeRule({
  id: 'leftover-snapshots',
  family: 'image-gc',
  severity: 'medium',
  cause: causeOf('leftover-snapshots', 'imagefs', 0, null),
  steps: holders['leftover-snapshots'].steps,
  needs: ['ledger'],
  title: 'The runtime keeps snapshots that no image and no container needs',
  titles,
  why: 'containerd counts all its snapshots as used bytes of the image filesystem. Snapshots that belong to no image and to no container stay until someone deletes them: image garbage collection, eviction and the deletion of pods free none of them, and lower thresholds only delete the images that pods need.',
  fix: 'Replace the node; a new one starts without them. To see them first, compare `ctr -n k8s.io snapshots ls` with `crictl images` and `crictl ps -a`. If they come back on the new nodes, change the release of containerd.',
  sources: [
    'containerd internal/cri/server/images/imagefs_info.go ImageFsInfo',
    'containerd/containerd#13416',
    'bottlerocket-os/bottlerocket#4825',
    'facts/kubelet/unpacking.ts',
  ],
  // Other runtimes keep their layers otherwise.
  appliesTo: ({ identity, node }) =>
    identity.operatingSystem === 'linux' && !isCrio(node.status?.nodeInfo?.containerRuntimeVersion),

  *judge(subject) {
    const { ledger, node } = subject
    const runtime = node.status?.nodeInfo?.containerRuntimeVersion
    const version = runtime !== undefined && line('node', 'container runtime', runtime)
    for (const held of findHeld(ledger, ['leftover-snapshots'], least))
      yield {
        severity: severityOf(held),
        ...reasonOf(
          causeOf('leftover-snapshots', held.disk.filesystem, held.bytes, held.bytes),
          subject,
        ),
        consequence: `${heldAmountText(held)} is held by leftover snapshots. No garbage collection of the kubelet deletes them.`,
        evidence: lines(...heldEvidence(held), version),
      }
    for (const disk of ledger.filesystems) {
      const rest = lineOf(disk, 'not-images')
      if (!rest || !isLargeShare(rest.lowBytes, disk, least)) continue
      const held = { disk, lines: [rest], bytes: rest.lowBytes }
      const { confidence, consequence, evidence } = inferredLeftovers(held, rest, subject)
      const cause = causeOf('not-images', disk.filesystem, rest.lowBytes, rest.highBytes)
      const reason = reasonOf(cause, subject)
      yield {
        title: titles.inferred,
        ...reason,
        severity: severityOf(held),
        ...(disk.usedBytes < roomy * disk.capacityBytes && {
          steps: lookingSteps(reason.steps),
          severity: severityOf(held) === 'high' ? 'medium' : 'low',
        }),
        confidence,
        consequence,
        evidence: lines(...evidence, version),
      }
    }
  },
})

const severityOf = ({ bytes, disk }: Held): Severity =>
  isLargeShare(bytes, disk, much) ? 'high' : 'medium'

function inferredLeftovers(held: Held, rest: LedgerLine, subject: NodeSubject) {
  const { filesystem, usedBytes } = held.disk
  const sizes = imageSizes(subject)
  const packed = sizes.reduce((sum, size) => sum + size, 0)
  const doubts = otherContents(subject)
  const unpacking = unpackingOf(subject.node.status?.nodeInfo?.containerRuntimeVersion)
  const what = 'neither images nor running containers'
  return {
    confidence: doubts.length === 0 ? ('likely' as const) : ('possible' as const),
    consequence: `At least ${heldAmountText(held)} are neither images nor layers of running containers: ${plural(sizes.length, 'image')} of ${bytes(packed)} unpack to ${bytes(packed * unpacking.most)} at most. The rest is likely ${['leftover snapshots', ...doubts].join(', or ')}. Image garbage collection does not free it.`,
    evidence: [
      bytesLine('summary', `${filesystem} used`, usedBytes),
      bytesLine('node', `listed sizes of ${plural(sizes.length, 'image')}`, packed),
      bytesLine('computed', `${what}, at least`, rest.lowBytes),
      bytesLine('computed', `${what}, at most`, rest.highBytes),
    ],
  }
}

const imageSizes = ({ runtime, node }: NodeSubject) =>
  runtime?.images?.map(({ size }) => Number(size ?? 0)) ??
  (node.status?.images ?? []).map(({ sizeBytes }) => sizeBytes ?? 0)

/** What else counts in the same bytes, without a size in the API. */
function otherContents({ pods }: NodeSubject) {
  const statuses = (pods ?? []).flatMap(statusesOf)
  const dead = statuses.filter(({ state }) => state?.terminated != null).length
  const starting = statuses.some(({ state }) => state?.waiting?.reason === 'ContainerCreating')
  return [
    ...(dead > 0 ? [`layers of ${plural(dead, 'dead container')}`] : []),
    ...(starting ? ['an image that is being pulled'] : []),
  ]
}
