/**
 * The configuration of a kubelet that nobody asked for its running one: what its files and its flags come to, or on Bottlerocket its settings.
 *
 * Replays       nothing more than next-start.ts and bottlerocket-file.ts do
 * Left out      when the files were written: a kubelet that was not restarted since runs with what stood there before
 */
import { bottlerocketFile } from '#facts/eks/bottlerocket-template.ts'
import type { Unknown } from '#model/prediction.ts'
import { parseQuantity, quantityNumber } from '#model/quantity.ts'
import { isRawObject, type NodeRecord, type RawObject } from '#model/record.ts'
import { listAt, objectAt, textAt } from '#replay/untrusted.ts'
import { bottlerocketFileOf } from './bottlerocket-file.ts'
import { kubeletFiles } from './kubelet-files.ts'
import { predictNextStart, whyUndecided } from './next-start.ts'

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
  const told = isRawObject(record.host) ? record.host : null
  if (told === null || (record.configz !== undefined && record.configz !== null)) return asRead
  const status = objectAt(record.node, 'status')
  const nodeInfo = objectAt(status, 'nodeInfo')
  const kubeletVersion = textAt(nodeInfo, 'kubeletVersion')
  const operatingSystem = textAt(nodeInfo, 'operatingSystem') === 'windows' ? 'windows' : 'linux'
  // Only Bottlerocket's script tells settings, and it tells no file.
  const settings =
    objectAt(told, 'kubelet') === null
      ? objectAt(objectAt(told, 'bottlerocket'), 'kubernetes')
      : null
  const host =
    settings === null
      ? told
      : withBottlerocketFile(settings, kubeletVersion, coresOf(objectAt(status, 'capacity')))
  const { prediction } = predictNextStart(host, kubeletVersion, operatingSystem)
  const undecided = (why: string): ConfiguredRecord => ({
    ...asRead,
    unknowns: [
      {
        what: 'configuration.files',
        effect: `the running configuration is not known, nor what its files come to: ${why}`,
      },
    ],
  })
  if (prediction === null)
    return undecided(whyUndecided(kubeletFiles(host)) ?? 'they were not read')
  const { errors, settings: start } = prediction
  if (errors.length > 0 || start === null)
    return undecided(
      `a kubelet would not start with them (${errors[0] ?? ''}), so one that runs was started with others`,
    )
  if (!start.isCommandLineKnown)
    return undecided('the flags of the kubelet were not read, or it does not run')
  const unread = unreadOf(host)
  if (unread !== '') return undecided(unread)
  return {
    record: { ...record, configz: { kubeletconfig: { ...start.configuration } } },
    isOnDisk: true,
    unknowns: [
      {
        what: 'configuration',
        effect:
          settings === null
            ? 'as on disk: whether the kubelet was restarted since its files were written is not known'
            : "as on disk: what Bottlerocket's template makes of the settings; whether the kubelet runs with that file is not known",
      },
    ],
  }
}

/** The host as it would tell of the one file that the settings come to. Its flags set none of the file's fields. Source: kubernetes-*, kubelet-exec-start-conf */
const withBottlerocketFile = (
  settings: RawObject,
  kubeletVersion: string | null,
  cores: number | null,
): RawObject => ({
  kubelet: {
    files:
      cores === null
        ? []
        : [
            {
              path: bottlerocketFile,
              role: 'config',
              content: bottlerocketFileOf(settings, kubeletVersion, cores),
            },
          ],
    commandLine: ['kubelet', `--config=${bottlerocketFile}`],
  },
  ...(cores === null && {
    unread: [
      {
        what: 'kubelet file',
        why: 'how many cores the node has, by which it reserves some, is not known',
      },
    ],
  }),
})

function coresOf(capacity: RawObject | null): number | null {
  try {
    return quantityNumber(parseQuantity(textAt(capacity, 'cpu') ?? ''))
  } catch {
    return null
  }
}

/** Files of which nobody knows what they say. What the environment files would add now, the flags that run do not have. */
const unreadOf = (host: RawObject): string =>
  listAt(host, 'unread')
    .map(entry => ({
      what: textAt(entry, 'what') ?? '',
      why: textAt(entry, 'why') ?? 'no reason given',
    }))
    .filter(({ what }) => /kubelet|drop-in|^config/i.test(what) && !/environment/i.test(what))
    .map(({ what, why }) => `${what}: ${why}`)
    .join('; ')
    .slice(0, 400)
