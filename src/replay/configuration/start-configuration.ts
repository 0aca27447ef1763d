/**
 * The configuration that a kubelet gets from the files on its node, before its flags.
 *
 * Replays       cmd/kubelet/app/server.go  NewKubeletCommand
 * Read at       1.24 to 1.37
 */
import { evictionHardDefaults } from '#facts/kubelet/eviction-defaults.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import {
  flagsOnlyConfiguration,
  type LoadedConfiguration,
  type LoadOptions,
  loadConfigFile,
} from './configuration-file.ts'
import { mergeKubeletConfigurations } from './drop-ins.ts'
import { hasDropInFolder, isRead, type KubeletFiles } from './kubelet-files.ts'

/** Without a main file the kubelet starts with its flags' defaults. Unread files are skipped. @throws LoadError */
export function configurationFromFiles(
  files: KubeletFiles,
  kubelet: Pick<LoadOptions, 'kubeletVersion' | 'operatingSystem'>,
): LoadedConfiguration {
  const { kubeletVersion, operatingSystem } = kubelet
  const options = {
    kubeletVersion,
    operatingSystem,
    evictionHardDefault: evictionHardDefaults(kubeletVersion, operatingSystem),
  }
  const { main } = files
  const configuration =
    main !== null && isRead(main)
      ? loadConfigFile(main.content, { ...options, path: main.path })
      : flagsOnlyConfiguration(options)
  const isMerged = hasDropInFolder(files) && featuresOf(kubeletVersion).has('dropIns')
  return isMerged
    ? mergeKubeletConfigurations(configuration, files.dropIns.filter(isRead), options)
    : configuration
}
