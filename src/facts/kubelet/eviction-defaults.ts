/**
 * The hard eviction thresholds that a kubelet gives itself where its configuration file has no `evictionHard` at all. A file that sets
 * one signal takes the others away, unless `mergeDefaultEvictionSettings` is true. Soft thresholds and `pid.available` have no default.
 *
 * Source  pkg/kubelet/eviction/defaults_linux.go, defaults_others.go DefaultEvictionHard;  cmd/kubelet/app/server.go loadConfigFile
 */
import { featuresOf } from './features.ts'

/** `evictionHard` by signal, thresholds as written. An unknown version is taken for the newest. */
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
