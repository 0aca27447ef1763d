/**
 * Container logs and their directory.
 *
 * Replays       pkg/kubelet/apis/config/validation/validation.go ValidateKubeletConfiguration
 * Read at       1.29 to 1.37
 */

import { cleanPath, goQuote } from '#base/go/go-text.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import type { LoadedConfiguration } from '#replay/configuration/configuration-file.ts'

const second = 1_000_000_000n

export function* logErrors(c: LoadedConfiguration, features: KubeletFeatures): Iterable<string> {
  if (features.has('containerLogWorkers')) {
    if (c.containerLogMaxWorkers < 1)
      yield 'containerLogMaxWorkers must be greater than or equal to 1'
    if (c.containerLogMonitorInterval < 3n * second) {
      yield 'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s'
    }
  }
  if (features.has('containerLogMaxFilesValidated') && c.containerLogMaxFiles <= 1)
    yield 'containerLogMaxFiles must be greater than 1'
  if (!features.has('podLogsDir')) return
  const shown = goQuote(c.podLogsDir)
  if (c.podLogsDir === '') yield 'podLogsDir was not specified'
  if (!c.podLogsDir.startsWith('/')) yield `pod logs path ${shown} must be absolute path`
  if (cleanPath(c.podLogsDir) !== c.podLogsDir) yield `pod logs path ${shown} must be normalized`
  // The spelling "mut" is upstream's.
  if (Array.from(c.podLogsDir).some(character => character > '\u007f'))
    yield `pod logs path ${shown} mut contains ASCII characters only`
}
