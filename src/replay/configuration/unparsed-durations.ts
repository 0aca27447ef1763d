/** Durations that do not parse. No kubelet starts with one, so only a hand-written or changed configuration has it. */
import { DurationError, parseDuration } from '#base/go/duration.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import { configurationFields } from '#model/kubelet/fields.ts'
import type { Unknown } from '#model/prediction/prediction.ts'

/** Named by field, plus the key in a map: `configz.evictionSoftGracePeriod.nodefs.available`. */
export const unparsedDurations = (configuration: KubeletConfiguration): readonly Unknown[] =>
  Object.entries(configuration).flatMap(([field, value]): readonly Unknown[] => {
    const { type, compare } = configurationFields[field] ?? {}
    if (compare === 'durations')
      return Object.entries(value).flatMap(([key, text]) =>
        unparsedDuration(`${field}.${key}`, text),
      )
    return type?.endsWith('Duration') ? unparsedDuration(field, value) : []
  })

function unparsedDuration(field: string, text: unknown): Unknown[] {
  if (typeof text !== 'string') return []
  try {
    parseDuration(text)
    return []
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
    return [{ what: `configz.${field}`, effect: `${error.message}: what depends on it is unknown` }]
  }
}
