import { describe, expect, it } from 'vitest'
import { lostOnTheWay } from '#judge/rules/drift/lost-on-the-way.ts'
import { peerDrift } from '#judge/rules/drift/peer-drift.ts'
import { high, judged, withImage } from '#test/rules/drift-others.ts'

describe('one cause is said once', () => {
  const launchTemplate = { id: 'lt-1', name: 'web', version: '4' }
  const cluster = {
    nodegroups: [{ nodegroupName: 'workers', launchTemplate }],
    launchTemplates: [
      {
        launchTemplateId: 'lt-1',
        launchTemplateName: 'web',
        versionNumber: 4,
        kubelet: { config: high(70), flags: [], source: 'nodeadm' },
      },
    ],
  }
  const fired = (...percents: number[]) =>
    judged(
      [lostOnTheWay, peerDrift],
      percents.map(percent => ({ configuration: high(percent) })),
      cluster,
    ).map(({ rule, nodes }) => [rule, nodes.count])

  it('what arrives on most nodes was changed on the one that is unlike them', () => {
    expect(fired(70, 70, 85)).toEqual([['peer-drift', 1]])
  })

  it('what arrives on no node is lost', () => {
    expect(fired(85, 85, 85)).toEqual([['lost-on-the-way', 3]])
  })

  it('a node of an older version shows what nobody has read of it by its peers', () => {
    const evidenceText = (version: string, percent: number) => {
      const base = withImage('Amazon Linux 2023.6.20250203', {
        'eks.amazonaws.com/sourceLaunchTemplateVersion': version,
      })
      return {
        ...base,
        record: {
          ...base.record,
          configz: { kubeletconfig: { imageGCHighThresholdPercent: percent } },
        },
      }
    }
    const silent = {
      ...cluster,
      launchTemplates: [{ ...cluster.launchTemplates[0], kubelet: null }],
    }
    const rules = [lostOnTheWay, peerDrift]
    expect(
      judged(rules, [evidenceText('4', 85), evidenceText('4', 85), evidenceText('3', 70)], silent),
    ).toMatchObject([
      { rule: 'lost-on-the-way', confidence: 'likely', nodes: { sample: ['node-2'] } },
    ])
    expect(
      judged(rules, [evidenceText('4', 85), evidenceText('4', 85), evidenceText('3', 85)], silent),
    ).toEqual([])
    expect(judged(rules, [evidenceText('3', 70), evidenceText('3', 70)], silent)).toEqual([])
  })
})
