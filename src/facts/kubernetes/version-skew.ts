/** How far a kubelet may be from its API server. */
import { featuresOf } from '#facts/kubelet/features.ts'

export interface VersionSkew {
  kubeletMinor: number
  controlPlaneMinor: number
  /** How many minors older the kubelet may be. */
  allowedBehind: number
  state: 'supported' | 'newer' | 'tooOld'
}

/**
 * Null where one of them is not told. Source: kubernetes.io/releases/version-skew-policy; KEP-3935: three minors from API server 1.28 on, two before.
 * @param controlPlaneVersion as EKS tells it, `1.34`
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
  return {
    kubeletMinor,
    controlPlaneMinor,
    allowedBehind,
    state: behind < 0 ? 'newer' : behind > allowedBehind ? 'tooOld' : 'supported',
  }
}
