import {
  type LogRotatePolicy,
  parseLogRotatePolicy,
} from '#replay/configuration/validation/fields.ts'
import type { Family } from './family.ts'
import { isRotationOn, type LogFile, rotateContainerLog } from './rotate-container-log.ts'

interface Input {
  containerLogMaxSize: string
  containerLogMaxFiles: number
  /** RFC 3339, UTC. */
  now: string
  containerState: 'running' | 'exited'
  reopenFails?: boolean
  files: { name: string; sizeBytes: number }[] | null
}

export const logRotation: Family<Input> = {
  name: 'log-rotation',
  answer(input) {
    const policy = policyOf(input)
    if (typeof policy === 'string') return { ok: false, error: policy }
    const filesAfter = rotateContainerLog(policy, {
      log: '0.log',
      files: input.files ?? [],
      isRunning: input.containerState === 'running',
      timestamp: new Date(input.now)
        .toISOString()
        .slice(0, 19)
        .replaceAll(/[-:]/g, '')
        .replace('T', '-'),
      reopenFails: input.reopenFails ?? false,
    })
    return {
      ok: true,
      error: null,
      rotationOn: isRotationOn(policy),
      filesAfter: filesAfter.map(withoutCompressedSize),
    }
  },
}

/** Or upstream's text. */
function policyOf({ containerLogMaxSize, containerLogMaxFiles }: Input): LogRotatePolicy | string {
  try {
    return parseLogRotatePolicy(containerLogMaxSize, containerLogMaxFiles)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const withoutCompressedSize = ({ name, sizeBytes }: LogFile): LogFile => ({
  name,
  sizeBytes: name.endsWith('.gz') ? null : sizeBytes,
})
