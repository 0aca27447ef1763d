/**
 * Price of one GiB of EBS per month, in US dollars, by volume type: list prices of us-east-1. Other regions cost up
 * to twice as much. Source: AWS, Amazon EBS pricing.
 */
const usdPerGiBMonth: Readonly<Record<string, number>> = {
  gp2: 0.1,
  gp3: 0.08,
  io1: 0.125,
  io2: 0.125,
  st1: 0.045,
  sc1: 0.015,
  standard: 0.05,
}

/** Source: EBS CSI driver, pkg/cloud/cloud.go DefaultVolumeType. */
const defaultVolumeType = 'gp3'

/** Performance of a volume beyond its size. Only gp3 has `throughputMiBps`. Null: unknown. */
export interface VolumePerformance {
  iops: number | null
  throughputMiBps: number | null
}

/** US dollars per IOPS and month. Each price applies to the IOPS above `above`, up to the next entry. Source: as above. */
const usdPerIopsMonth: Readonly<Record<string, readonly { above: number; usd: number }[]>> = {
  gp3: [{ above: 3000, usd: 0.005 }],
  io1: [{ above: 0, usd: 0.065 }],
  io2: [
    { above: 0, usd: 0.065 },
    { above: 32_000, usd: 0.046 },
    { above: 64_000, usd: 0.032 },
  ],
}
/** gp3: US dollars per MiB/s and month, above the included MiB/s. */
const throughputOfGp3 = { above: 125, usdPerMiBpsMonth: 0.04 }

/**
 * Price of a volume in US dollars per month. Null if the type is not in the list.
 * @param volumeType null: the default type of the EBS CSI driver
 */
export function monthlyUsd(
  capacityBytes: number,
  volumeType: string | null,
  performance?: VolumePerformance,
): number | null {
  const type = volumeType ?? defaultVolumeType
  if (!Object.hasOwn(usdPerGiBMonth, type)) return null
  const { iops, throughputMiBps } = performance ?? { iops: null, throughputMiBps: null }
  const throughput =
    type === 'gp3'
      ? Math.max(0, (throughputMiBps ?? 0) - throughputOfGp3.above) *
        throughputOfGp3.usdPerMiBpsMonth
      : 0
  return (
    (capacityBytes / 2 ** 30) * (usdPerGiBMonth[type] ?? 0) + iopsUsd(type, iops ?? 0) + throughput
  )
}

function iopsUsd(type: string, iops: number) {
  const tiers = usdPerIopsMonth[type] ?? []
  return tiers.reduce(
    (sum, { above, usd }, index) =>
      sum + Math.max(0, Math.min(iops, tiers[index + 1]?.above ?? iops) - above) * usd,
    0,
  )
}

export const isWholePrice = (
  volumeType: string | null,
  { iops }: Pick<VolumePerformance, 'iops'>,
): boolean => iops !== null || !Object.hasOwn(usdPerIopsMonth, volumeType ?? defaultVolumeType)

/** Drivers whose volumes are in EBS: the old in-tree plugin, the CSI driver, and Auto Mode. */
export const ebsDrivers: ReadonlySet<string> = new Set([
  'kubernetes.io/aws-ebs',
  'ebs.csi.aws.com',
  'ebs.csi.eks.amazonaws.com',
])
