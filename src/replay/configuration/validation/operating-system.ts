/**
 * Checks that depend on the operating system.
 *
 * Replays       pkg/kubelet/apis/config/validation  validation_linux.go, validation_others.go, validation_windows.go validateKubeletOSConfiguration
 * Read at       1.29 to 1.37; until 1.30 Windows refused what it now ignores
 * Kept exactly  the first error ends the check
 */
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'
import type { Kubelet } from '#replay/kubelet.ts'

export interface Machine {
  operatingSystem: 'linux' | 'windows'
  /** Null: not known, so not checked. */
  cgroupVersion: 1 | 2 | null
}

const idsUnit = 65_536
const mostIds = 2 ** 32 - 1

/** Returns whole texts. */
export function operatingSystemErrors(
  c: LoadedConfiguration,
  kubelet: Kubelet,
  { operatingSystem, cgroupVersion }: Machine,
): string[] {
  if (operatingSystem === 'windows') return windowsErrors(c, kubelet)
  const error = linuxError(c, kubelet, cgroupVersion === 1)
  return error === null ? [] : [error]
}

function linuxError(c: LoadedConfiguration, { features }: Kubelet, isCgroupV1: boolean) {
  if (features.has('failCgroupV1') && c.failCgroupV1 === true && isCgroupV1) {
    const support = features.has('cgroupV1Refused')
      ? 'unsupported and will be removed in a future release'
      : 'in maintenance mode'
    return `kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is ${support}`
  }
  if (isCgroupV1 && c.singleProcessOOMKill === false) {
    return 'invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1'
  }
  const ids = c.userNamespaces?.idsPerPod ?? null
  if (ids === null) return null
  const refused = (why: string) => `invalid configuration: userNamespaces.idsPerPod must ${why}`
  if (ids < idsUnit) return refused(`not be less than ${idsUnit}`)
  if (ids % idsUnit !== 0) return refused(`be a multiple of ${idsUnit}`)
  return ids > mostIds ? refused(`not be more than ${mostIds}`) : null
}

function windowsErrors(c: LoadedConfiguration, { features }: Kubelet) {
  if (!features.has('windowsIgnoresCgroups')) {
    const enforced = c.enforceNodeAllocatable
    return [
      ...(c.cgroupsPerQOS
        ? [
            'invalid configuration: CgroupsPerQOS (--cgroups-per-qos) true is not supported on Windows',
          ]
        : []),
      ...(enforced.length > 0
        ? [
            `invalid configuration: EnforceNodeAllocatable (--enforce-node-allocatable) [${enforced.join(' ')}] is not supported on Windows`,
          ]
        : []),
    ]
  }
  const unsupported = Object.entries({
    singleProcessOOMKill: c.singleProcessOOMKill !== null,
    userNamespaces: c.userNamespaces !== null,
    defaultPodSysctls: Object.keys(c.defaultPodSysctls ?? {}).length > 0,
  }).find(([, isSet]) => isSet)
  return unsupported ? [`invalid configuration: ${unsupported[0]} is not supported on Windows`] : []
}
