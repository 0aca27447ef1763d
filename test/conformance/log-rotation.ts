import { parseLogRotatePolicy } from '#replay/log-rotation.ts'
import type { Family } from './family.ts'

interface Input {
  containerLogMaxSize: string
  containerLogMaxFiles: number
}

export const logRotation: Family<Input> = {
  name: 'log-rotation',
  leavesOut: ['rotationOn', 'filesAfter'],
  answer({ containerLogMaxSize, containerLogMaxFiles }) {
    try {
      parseLogRotatePolicy(containerLogMaxSize, containerLogMaxFiles)
      return { ok: true, error: null }
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) }
    }
  },
}
