/**
 * The configuration of a kubelet that nobody asked for its running one: what its files and its flags come to.
 *
 * Replays       nothing more than next-start.ts does
 * Left out      when the files were written: a kubelet that was not restarted since runs with what stood there before
 */
import type { Unknown } from '#model/prediction.ts'
import { isRawObject, type NodeRecord, type RawObject } from '#model/record.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'
import { predictNextStart } from './next-start.ts'

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
  const operatingSystem = textAt(nodeInfo, 'operatingSystem') === 'windows' ? 'windows' : 'linux'
  const { prediction, unknowns } = predictNextStart(host, textAt(nodeInfo, 'kubeletVersion'), operatingSystem)
  const undecided = (why: string): ConfiguredRecord => ({
    ...asRead,
    unknowns: [{ what: 'configuration.files', effect: `the running configuration is not known, nor what its files come to: ${why}` }],
  })
  if (prediction === null) return undecided(unknowns.map(({ effect }) => effect).join('; '))
  const { errors, settings } = prediction
  if (errors.length > 0 || settings === null)
    return undecided(`a kubelet would not start with them (${errors[0] ?? ''}), so one that runs was started with others`)
  if (!settings.isCommandLineKnown) return undecided('the flags of the kubelet were not read, or it does not run')
  const unread = unreadOf(host)
  if (unread !== '') return undecided(unread)
  return {
    record: { ...record, configz: { kubeletconfig: { ...settings.configuration } } },
    isOnDisk: true,
    unknowns: [
      { what: 'configuration', effect: 'as on disk: whether the kubelet was restarted since its files were written is not known' },
    ],
  }
}

/** Files of which nobody knows what they say. What the environment files would add now, the flags that run do not have. */
const unreadOf = (host: RawObject): string =>
  listAt(host, 'unread')
    .map(entry => ({ what: textAt(entry, 'what') ?? '', why: textAt(entry, 'why') ?? 'no reason given' }))
    .filter(({ what }) => /kubelet|drop-in|^config/i.test(what) && !/environment/i.test(what))
    .map(({ what, why }) => `${what}: ${why}`)
    .join('; ')
    .slice(0, 400)
