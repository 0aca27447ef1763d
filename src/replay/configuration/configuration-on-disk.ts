/**
 * The configuration of a kubelet whose configz was not read, from its files and flags, or from the
 * settings of Bottlerocket.
 *
 * Replays       only next-start.ts and bottlerocket-file.ts
 * Left out      when the files were written: a kubelet not restarted since then runs with their older content
 */

import { parseQuantity, quantityNumber } from '#base/go/quantity.ts'
import { bottlerocketFile } from '#facts/eks/bottlerocket-template.ts'
import type { Host, NodeInput } from '#model/input/node-input.ts'
import type { KubeletConfiguration, RunningConfiguration } from '#model/kubelet/configuration.ts'
import type { Unknown } from '#model/prediction/prediction.ts'
import { bottlerocketFileOf } from './bottlerocket-file.ts'
import { kubeletFiles } from './kubelet-files.ts'
import { predictNextStart, whyUndecided } from './next-start.ts'

export interface ConfiguredInput {
  /** The input. If configz was not read, its configuration is from the files, if possible. */
  input: NodeInput
  isOnDisk: boolean
  /** Each `what` is `configuration`, or begins with `configuration.`. */
  unknowns: Unknown[]
}

/** Returns the input unchanged if its configuration was read, or its files were not. */
export function withConfigurationOnDisk(input: NodeInput): ConfiguredInput {
  const asRead = { input, isOnDisk: false, unknowns: [] }
  const { node, host: read, configuration } = input
  if (read === null || configuration !== null) return asRead
  const { status } = node
  const nodeInfo = status?.nodeInfo
  const kubeletVersion = nodeInfo?.kubeletVersion ?? null
  const operatingSystem = nodeInfo?.operatingSystem === 'windows' ? 'windows' : 'linux'
  // Only Bottlerocket's script reports settings; it reports no file.
  const settings = read.kubelet === undefined ? read.bottlerocket?.kubernetes : undefined
  const host =
    settings === undefined
      ? read
      : withBottlerocketFile(settings, kubeletVersion, coresOf(status?.capacity?.cpu))
  const { prediction } = predictNextStart(host, kubeletVersion, operatingSystem)
  const undecided = (why: string): ConfiguredInput => ({
    ...asRead,
    unknowns: [
      {
        what: 'configuration.files',
        part: 'configuration',
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
    input: { ...input, configuration: asRunning(start.configuration) },
    isOnDisk: true,
    unknowns: [
      {
        what: 'configuration',
        effect:
          settings === undefined
            ? 'as on disk: whether the kubelet was restarted since its files were written is not known'
            : "as on disk: what Bottlerocket's template makes of the settings; whether the kubelet runs with that file is not known",
      },
    ],
  }
}

/** A configuration computed from files, as if it were read. */
export const asRunning = (fields: KubeletConfiguration): RunningConfiguration => ({
  fields,
  mistakes: [],
  printed: { ...fields },
})

/** The host as if it reported one file, generated from the settings. Its flags set none of the file's fields. Source: kubernetes-*, kubelet-exec-start-conf */
const withBottlerocketFile = (
  settings: Readonly<Record<string, unknown>>,
  kubeletVersion: string | null,
  cores: number | null,
): Host => ({
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

/** Null: it is no quantity. */
export function coresOf(text: string | undefined): number | null {
  try {
    return quantityNumber(parseQuantity(text ?? ''))
  } catch {
    return null
  }
}

/**
 * Unread files, with reasons. Environment files are left out: what they would add now is not among
 * the running flags.
 */
const unreadOf = ({ unread = [] }: Host) =>
  unread
    .map(({ what = '', why = 'no reason given' }) => ({ what, why }))
    .filter(({ what }) => /kubelet|drop-in|^config/i.test(what) && !/environment/i.test(what))
    .map(({ what, why }) => `${what}: ${why}`)
    .join('; ')
    .slice(0, 400)
