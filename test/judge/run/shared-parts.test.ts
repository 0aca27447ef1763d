/** What is equal on many nodes is one object, and the nodes say what they said. */
import { describe, expect, it } from 'vitest'
import { openSharedParts } from '#judge/run/shared-parts.ts'
import { auditedNode, sharedDisk } from '#test/report-builder.ts'

const parsed = (name: string) =>
  JSON.parse(JSON.stringify(auditedNode(name, sharedDisk(60)))) as ReturnType<typeof auditedNode>

describe('nodes that were parsed', () => {
  it('share what is equal, and differ by the rest', () => {
    const { nodeOf } = openSharedParts()
    const [one, other] = [nodeOf(parsed('ip-10-0-0-1')), nodeOf(parsed('ip-10-0-0-2'))]
    expect([one, other]).toEqual([parsed('ip-10-0-0-1'), parsed('ip-10-0-0-2')])
    expect(JSON.stringify(one)).toBe(JSON.stringify(parsed('ip-10-0-0-1')))
    expect(other.prediction.settings).toBe(one.prediction.settings)
    expect(other.identity.group).toBe(one.identity.group)
    expect(other.outcomes).toBe(one.outcomes)
    expect(other.prediction.filesystems).not.toBe(one.prediction.filesystems)
  })

  it('have one state for a disk that several filesystems lie on', () => {
    const { filesystems } = openSharedParts().nodeOf(parsed('ip-10-0-0-1')).prediction
    expect(filesystems.imagefs).not.toBeNull()
    expect(filesystems.imagefs).toBe(filesystems.nodefs)
  })
})
