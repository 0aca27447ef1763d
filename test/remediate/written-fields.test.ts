import { describe, expect, it } from 'vitest'
import { contentReader } from '#remediate/plan/step-truth.ts'

describe('the contents of a plan', () => {
  it('are read once if they are equal', () => {
    const writtenBy = contentReader()
    const step = { method: 'drop-in', content: '{"maxPods": 1}' } as const
    expect(writtenBy(step)).toEqual({ fields: { maxPods: 1 }, isWhole: false })
    expect(writtenBy(step)).toBe(writtenBy({ ...step }))
  })

  it('are YAML only for nodeadm', () => {
    const content = 'maxPods: 1'
    expect(contentReader()({ method: 'drop-in', content })).toBeNull()
    expect(contentReader()({ method: 'nodeadm', content })?.fields).toEqual({ maxPods: 1 })
  })
})
