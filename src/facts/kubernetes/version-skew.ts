import { featuresOf } from '#facts/kubelet/features.ts'

export interface VersionSkew {
  kubeletMinor: number
  controlPlaneMinor: number
  allowedBehind: number
  state: 'supported' | 'newer' | 'tooOld'
}

/**
 * The version skew; null: a version is unknown. KEP-3935: three minors from API server 1.28 on, two
 * before. Source: kubernetes.io/releases/version-skew-policy
 * @param controlPlaneVersion as EKS returns it, `1.34`
 */
export function versionSkew(
  kubeletVersion: string | null,
  controlPlaneVersion: string | null,
): VersionSkew | null {
  const [kubeletMinor, controlPlaneMinor] = [
    featuresOf(kubeletVersion).minor,
    featuresOf(controlPlaneVersion).minor,
  ]
  if (kubeletMinor === null || controlPlaneMinor === null) return null
  const allowedBehind = controlPlaneMinor >= 28 ? 3 : 2
  const behind = controlPlaneMinor - kubeletMinor
  return { kubeletMinor, controlPlaneMinor, allowedBehind, state: stateOf(behind, allowedBehind) }
}

function stateOf(behind: number, allowedBehind: number): VersionSkew['state'] {
  if (behind < 0) return 'newer'
  return behind > allowedBehind ? 'tooOld' : 'supported'
}

/** Whether a version has an older minor than another; false if one is unknown. */
export function isOlderMinor(version: string | null, than: string | null): boolean {
  const [minor, other] = [featuresOf(version).minor, featuresOf(than).minor]
  return minor !== null && other !== null && minor < other
}
