/**
 * The configuration that a kubelet gets from the files on its node, before its flags.
 *
 * Replays       cmd/kubelet/app/server.go  NewKubeletCommand
 * Read at       1.29 to 1.37
 */
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
  const { main } = files
  const configuration =
    main !== null && isRead(main)
      ? loadConfigFile(main.content, { ...kubelet, path: main.path })
      : flagsOnlyConfiguration(kubelet.kubeletVersion)
  return hasDropInFolder(files)
    ? mergeKubeletConfigurations(
        configuration,
        files.dropIns.filter(isRead),
        kubelet.kubeletVersion,
      )
    : configuration
}
