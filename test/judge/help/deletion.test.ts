import { expect, it } from 'vitest'
import { endingMs } from '#judge/help/deletion.ts'

const at = '2026-11-21T06:00:00Z'

it.each([
  ['runs an hour later', '2026-11-21T05:00:00Z', 'Running', 3_600_000],
  ['may still end by itself', '2026-11-21T05:50:00Z', 'Running', null],
  ['has ended, and a finalizer keeps its object', '2026-11-21T05:00:00Z', 'Succeeded', null],
])('a deleted pod that %s', (_, deletionTimestamp, phase, ms) => {
  expect(endingMs({ metadata: { deletionTimestamp }, status: { phase } }, at)).toBe(ms)
})
