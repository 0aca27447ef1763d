/**
 * The default hard eviction thresholds of a kubelet whose configuration file has no `evictionHard`. If the file sets
 * one signal, the others have no default, unless `mergeDefaultEvictionSettings` is true. Soft thresholds and `pid.available` have no default.
 *
 * Source  pkg/kubelet/eviction/defaults_linux.go, defaults_others.go DefaultEvictionHard;  cmd/kubelet/app/server.go loadConfigFile
 */
import { featuresOf } from './features.ts'

/** `evictionHard` by signal, with thresholds as text. An unknown version counts as the newest. */
export function evictionHardDefaults(
  kubeletVersion: string | null,
  operatingSystem: 'linux' | 'windows',
): Record<string, string> {
  const features = featuresOf(kubeletVersion)
  if (operatingSystem === 'windows') {
    return {
      'memory.available': features.has('windowsMemoryDefault500Mi') ? '500Mi' : '100Mi',
      'nodefs.available': '10%',
      'imagefs.available': '15%',
    }
  }
  return {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    ...(features.has('imagefsInodesDefault') ? { 'imagefs.inodesFree': '5%' } : {}),
  }
}
