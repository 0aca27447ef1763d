/**
 * Container log rotation: whether the kubelet takes its settings.
 *
 * Replays       pkg/kubelet/logs/container_log_manager.go  NewContainerLogManager, parseMaxSize
 * Read at       1.24 to 1.37, alike
 * Kept exactly  sizes by AsInt64, so `1.5Gi` is refused and a negative one turns rotation off
 */
import { messageOf } from '#model/error-message.ts'
import { goQuote } from '#model/go-text.ts'
import { asInt64, parseQuantity } from '#model/quantity.ts'

interface LogRotatePolicy {
  /** Negative: no rotation. */
  maxSizeBytes: bigint
  maxFiles: number
}

/** `message` is upstream's text: the kubelet would not start. */
class LogRotationError extends Error {}

/** @throws LogRotationError: upstream's text, without the prefix of the caller. Upstream: NewContainerLogManager. */
export function parseLogRotatePolicy(maxSize: string, maxFiles: number): LogRotatePolicy {
  if (maxFiles <= 1) throw new LogRotationError(`invalid MaxFiles ${maxFiles}, must be > 1`)
  try {
    const maxSizeBytes = asInt64(parseQuantity(maxSize))
    if (maxSizeBytes === null) throw new LogRotationError('invalid max log size')
    return { maxSizeBytes, maxFiles }
  } catch (error) {
    const why = messageOf(error)
    throw new LogRotationError(`failed to parse container log max size ${goQuote(maxSize)}: ${why}`)
  }
}
