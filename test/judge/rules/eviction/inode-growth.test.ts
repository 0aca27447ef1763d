import { describe, expect, it } from 'vitest'
import { gibibyte } from '#base/units.ts'
import { inodeGrowth } from '#judge/rules/eviction/inode-growth.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, hard, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf } from '#test/rule-outcome.ts'

const inodes = (free: number): NodeExample => ({
  thresholds: [hard('nodefs.inodesFree', 5)],
  filesystems: {
    nodefs: {
      ...{ capacityBytes: 100 * 1024 ** 3, availableBytes: 60 * 1024 ** 3, usedPercent: 40 },
      ...{ inodes: 6_553_600, inodesFree: free },
    },
  },
})

itJudgesExamples(inodeGrowth, { bad: inodes(2_000_000), good: inodes(5_000_000) })

describe('inode-growth', () => {
  const used = (inodesFree: number | null, availableGib: number): NodeExample => ({
    filesystems: {
      nodefs: {
        ...{ capacityBytes: 100 * gibibyte, availableBytes: availableGib * gibibyte },
        ...{ usedPercent: 0, inodes: 1000, inodesFree },
      },
    },
  })
  it.each([
    { free: 500, availableGib: 60, is: 'fail' },
    { free: 501, availableGib: 60, is: 'pass' },
    { free: 300, availableGib: 30, is: 'pass' }, // both at 70 %
    { free: null, availableGib: 60, is: 'unknown' },
  ])(
    'with $free of 1000 inodes and $availableGib of 100 GiB free: $is',
    ({ free, availableGib, is }) => {
      expect(
        outcomeOf(inodeGrowth, exampleSubject(used(free, availableGib)), defaultPolicy).state,
      ).toBe(is)
    },
  )

  it('gives the days that are left at the mean rate since the node joined', () => {
    const subject = exampleSubject({
      ...used(400, 60),
      at: '2026-11-21T00:00:00Z',
      node: { metadata: { creationTimestamp: '2026-11-15T00:00:00Z' } },
    })
    expect(JSON.stringify(outcomeOf(inodeGrowth, subject, defaultPolicy))).toContain('in 4 days')
  })

  it('does not measure again what did not get through', () => {
    const line = { holder: 'unread' as const, bytes: 0, lowBytes: 0, highBytes: 0, inodes: 550 }
    const disk = { filesystem: 'nodefs' as const, capacityBytes: 100 * gibibyte, usedBytes: 0 }
    const { steps } = failingOf(inodeGrowth, {
      ...used(400, 60),
      ...{ identity: { instanceId: 'i-0a1b' }, host: { diskUse: { missed: 1 } } },
      ofPods: { filesystems: [{ ...disk, usedInodes: 600, lines: [{ ...line, source: 'du' }] }] },
    })
    expect(steps?.map(({ id }) => id)).toEqual(['look-on-node'])
  })

  it('looks first where pods of the node write', () => {
    const line = { holder: 'unread' as const, bytes: 0, lowBytes: 0, highBytes: 0, inodes: 550 }
    const disk = { filesystem: 'nodefs' as const, capacityBytes: 100 * gibibyte, usedBytes: 0 }
    const { steps } = failingOf(inodeGrowth, {
      ...used(400, 60),
      ofPods: { filesystems: [{ ...disk, usedInodes: 600, lines: [{ ...line, source: 'du' }] }] },
      pods: [
        {
          metadata: { namespace: 'ci', name: 'runner' },
          spec: {
            volumes: [{ name: 'work', hostPath: { path: '/mnt/work' } }],
            containers: [{ name: 'app', volumeMounts: [{ name: 'work', mountPath: '/work' }] }],
          },
        },
      ],
    })
    expect(steps?.[0]).toMatchObject({ mounts: ['/mnt/work (Pod ci/runner)'] })
  })
})
