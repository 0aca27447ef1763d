/** The smallest volume with which image GC acts before eviction, from what the disk holds now. It does not wait for a history. */

import { monthlyUsd } from '#facts/aws/ebs-prices.ts'
import { gibibyte } from '#judge/text.ts'
import type { StepAction } from '#model/finding/cause.ts'
import type { NodeIdentity } from '#model/input/node-identity.ts'
import type { FilesystemLedger, GroupDiskUse, HolderPart } from '#model/prediction/disk-ledger.ts'

const roundGib = 10
/** Where the configuration is unknown. Image GC that starts above 80 % and frees down to 70 % stays clear of eviction. */
const presetLowPercent = 70

/** Device of images, containers and pods. Source: bottlerocket-os/bottlerocket README, Default Volumes. */
export const dataDevice = ({ amiFamily }: Pick<NodeIdentity, 'amiFamily'>): string =>
  amiFamily === 'Bottlerocket' ? '/dev/xvdb' : '/dev/xvda'

/**
 * What image GC cannot free, what pods request and do not use yet, and one more pull of the largest image fit below the low threshold of
 * image GC. Empty: the disk is large enough for that.
 *
 * @param lowPercent of image GC
 * @param namespaces local storage of the pods on this disk
 */
export function volumeToWrite(
  { filesystem, capacityBytes, usedBytes, lines }: FilesystemLedger,
  parts: readonly HolderPart[],
  {
    amiFamily,
    lowPercent,
    namespaces,
  }: Pick<NodeIdentity, 'amiFamily'> & { lowPercent: number; namespaces: readonly GroupDiskUse[] },
): Pick<StepAction, 'bytes' | 'place' | 'usdPerMonth'> {
  const unused = lines.find(({ holder }) => holder === 'images-unused')?.bytes ?? 0
  const pulls = parts
    .filter(part => part.filesystem === filesystem && part.owner?.kind === 'image')
    .map(({ highBytes, lowBytes }) => highBytes ?? lowBytes)
  const requested = namespaces.reduce(
    (sum, { bytes, requestBytes }) => sum + Math.max(0, (requestBytes ?? 0) - bytes),
    0,
  )
  const neededBytes = usedBytes - unused + requested + Math.max(0, ...pulls)
  const share = Math.min(lowPercent, presetLowPercent) / 100
  const bytes = Math.ceil(neededBytes / share / (roundGib * gibibyte)) * roundGib * gibibyte
  if (bytes <= capacityBytes) return {}
  const usdPerMonth = monthlyUsd(bytes - capacityBytes, null)
  return { bytes, place: dataDevice({ amiFamily }), ...(usdPerMonth !== null && { usdPerMonth }) }
}
