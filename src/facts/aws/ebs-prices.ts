/**
 * What a GiB of EBS costs in a month, in US dollars, by volume type: list prices of us-east-1, without provisioned IOPS and throughput; elsewhere it is
 * up to twice as much. Source: AWS, Amazon EBS pricing.
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

/** Null of a type that is not in the list. @param volumeType null: whatever the EBS CSI driver makes where nobody says it */
export function monthlyUsd(capacityBytes: number, volumeType: string | null): number | null {
  const type = volumeType ?? defaultVolumeType
  return Object.hasOwn(usdPerGiBMonth, type) ? (capacityBytes / 2 ** 30) * (usdPerGiBMonth[type] ?? 0) : null
}

/** The drivers whose volumes are EBS's: the plugin of old, the CSI driver's, and Auto Mode's. */
export const ebsDrivers: ReadonlySet<string> = new Set(['kubernetes.io/aws-ebs', 'ebs.csi.aws.com', 'ebs.csi.eks.amazonaws.com'])
