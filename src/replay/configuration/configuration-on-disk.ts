/**
 * The configuration of a kubelet that nobody asked for its running one: what its files and its flags come to.
 *
 * Replays       nothing more than next-start.ts does
 * Left out      when the files were written: a kubelet that was not restarted since runs with what stood there before
 */
import { featuresOf } from '#facts/kubelet/features.ts'
import type { Unknown } from '#model/prediction.ts'
import { isRawObject, type NodeRecord } from '#model/record.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'
import { LoadError } from './configuration-file.ts'
import { configzOf } from './configz.ts'
import { kubeletFiles } from './kubelet-files.ts'
import { flagSettings, withFlags } from './kubelet-flags.ts'
import { predictNextStart } from './next-start.ts'
import { configurationFromFiles } from './start-configuration.ts'

export interface ConfiguredRecord {
  /** With a `configz` as the kubelet would show it, where one could be made. */
  record: NodeRecord
  isOnDisk: boolean
  /** Each `what` is `configuration`, or begins with `configuration.`. */
  unknowns: Unknown[]
}

/** The record as it is where its configz was read, or its files were not. */
export function withConfigurationOnDisk(record: NodeRecord): ConfiguredRecord {
  const asRead = { record, isOnDisk: false, unknowns: [] }
  const host = isRawObject(record.host) ? record.host : null
  if (host === null || (record.configz !== undefined && record.configz !== null)) return asRead
  const nodeInfo = objectAt(objectAt(record.node, 'status'), 'nodeInfo')
  const kubeletVersion = textAt(nodeInfo, 'kubeletVersion')
  const operatingSystem = textAt(nodeInfo, 'operatingSystem') === 'windows' ? 'windows' : 'linux'
  const files = kubeletFiles(host)
  const flags = flagSettings(files.commandLine)
  const { prediction, unknowns } = predictNextStart(host, kubeletVersion, operatingSystem)
  const undecided = (why: string): ConfiguredRecord => ({
    ...asRead,
    unknowns: [{ what: 'configuration.files', effect: `the running configuration is not known, nor what its files come to: ${why}` }],
  })
  if (prediction === null) return undecided(unknowns.map(({ effect }) => effect).join('; '))
  if (files.commandLine.length === 0) return undecided("the kubelet's flags were not read, or it does not run")
  const unread = unreadOf(host)
  if (unread !== '') return undecided(unread)
  if (prediction.errors.length > 0)
    return undecided(`a kubelet would not start with them (${prediction.errors[0]}), so the one that runs was started with others`)
  try {
    const features = featuresOf(kubeletVersion)
    const loaded = withFlags(configurationFromFiles(files, { kubeletVersion, operatingSystem }), flags, features)
    return {
      record: { ...record, configz: { kubeletconfig: configzOf(loaded, features) } },
      isOnDisk: true,
      unknowns: [
        { what: 'configuration', effect: 'as on disk: whether the kubelet was restarted since its files were written is not known' },
      ],
    }
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    return undecided(error.message)
  }
}

/** Files of which nobody knows what they say. What the environment files would add now, the flags that run do not have. */
const unreadOf = (host: unknown): string =>
  listAt(host, 'unread')
    .map(entry => ({ what: textAt(entry, 'what') ?? '', why: textAt(entry, 'why') ?? 'no reason given' }))
    .filter(({ what }) => /kubelet|drop-in|^config/i.test(what) && !/environment/i.test(what))
    .map(({ what, why }) => `${what}: ${why}`)
    .join('; ')
    .slice(0, 400)
