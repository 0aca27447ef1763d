/** What owners say, in the form in which it is cut out of their user data; and the values that the kinds have in common. */

import type { RawObject } from '#base/raw-object.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import type { KubeletSettings } from '#model/kubelet/settings.ts'
import type { Policy } from '#model/policy.ts'
import type { SuiteFamily } from './image.ts'
import type { DriftKind, Expectation } from './kind.ts'

export function kind(
  family: SuiteFamily,
  name: string,
  expect: Expectation | null,
  records: () => SnapshotRecord[],
  policy?: Partial<Policy>,
): DriftKind {
  return { family, name, expect, records, ...(policy && { policy }) }
}

export const nodeConfig = (config: RawObject, ...flags: string[]): KubeletSettings => ({
  source: 'nodeadm',
  config,
  flags,
})
/** `/etc/eks/bootstrap.sh --kubelet-extra-args` */
export const bootstrap = (...flags: string[]): KubeletSettings => ({
  source: 'bootstrap',
  config: {},
  flags,
})
export const script = (config: RawObject, ...flags: string[]): KubeletSettings => ({
  source: 'script',
  config,
  flags,
})
export const settings = (config: RawObject): KubeletSettings => ({
  source: 'bottlerocket',
  config,
  flags: [],
})

export const imageGc = (high: number, low: number) => ({
  imageGCHighThresholdPercent: high,
  imageGCLowThresholdPercent: low,
})
export const early = imageGc(70, 60)
export const late = imageGc(85, 80)
export const earlyFlags = ['--image-gc-high-threshold=70', '--image-gc-low-threshold=60']
export const lateFlags = ['--image-gc-high-threshold=85', '--image-gc-low-threshold=80']
