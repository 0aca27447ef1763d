import { describe, expect, it } from 'vitest'
import { openJudgement } from '#judge/judge.ts'
import { lostDefaultThreshold } from '#judge/rules/eviction/lost-default-threshold.ts'
import { unwatchedImagefs } from '#judge/rules/eviction/unwatched-imagefs.ts'
import { defaultPolicy } from '#model/policy.ts'
import { inputOf } from '#test/at-the-door.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'
import { only, running, state } from '#test/rules/eviction.ts'

describe('Windows and Auto Mode', () => {
  it.each([lostDefaultThreshold, unwatchedImagefs])('$id does not apply to Windows', rule => {
    expect(
      state(rule, {
        identity: { operatingSystem: 'windows' },
        thresholds: [],
        filesystems: { layout: 'imagefs' },
      }),
    ).toBe('notApplicable')
  })

  it('gives Auto Mode nodes no configuration to set, only the size of the disk', () => {
    const judgement = openJudgement([lostDefaultThreshold], defaultPolicy)
    const labels = {
      'eks.amazonaws.com/compute-type': 'auto',
      'karpenter.sh/nodepool': 'general-purpose',
    }
    const { record, prediction } = buildNode({
      ...running(only('memory.available')),
      nodegroup: null,
      labels,
    })
    judgement.take(inputOf(record), prediction)
    const [finding] = judgement.close(takenAt).findings
    expect(finding?.subject).toEqual({ kind: 'NodePool', namespace: null, name: 'general-purpose' })
    expect(finding?.fix.config).toEqual({})
    expect(finding?.fix.durable).toMatchObject([
      { target: 'auto-mode', snippet: expect.stringContaining('ephemeralStorage') },
    ])
  })
})
