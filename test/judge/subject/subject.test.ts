import { expect, it } from 'vitest'
import { nodeSubject } from '#judge/subject/subject.ts'
import { inputOf } from '#test/at-the-door.ts'
import { hard } from '#test/example.ts'
import { buildNode } from '#test/node-builder.ts'

it('shows rules no threshold of 0, which is never met', () => {
  const { record, prediction } = buildNode()
  const thresholds = [hard('nodefs.available', 0), hard('imagefs.available', 10)]
  const eviction = { ...prediction.eviction!, thresholds }
  const { eviction: shown } = nodeSubject(inputOf(record), { ...prediction, eviction })
  expect(shown?.thresholds.map(({ signal }) => signal)).toEqual(['imagefs.available'])
})
