import { describe, expect, it } from 'vitest'
import { versionSkewDrift } from '#judge/rules/drift/version-skew-drift.ts'
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import type { NodeExample } from '#test/example.ts'
import { baselineExamples } from '#test/examples/baseline-drift.ts'
import type { NodeOptions } from '#test/node-builder.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { high, judged, withImage } from '#test/rules/drift-others.ts'

const node = (release: string): NodeExample => ({
  node: { status: { nodeInfo: { osImage: `Amazon Linux 2023.9.${release}` } } },
})

itJudgesExamples(versionSkewDrift, {
  bad: [node('20251117'), node('20251117'), node('20250203')],
  good: [node('20251117'), node('20251117')],
})

describe('version-skew-drift', () => {
  const older = withImage('Amazon Linux 2023.9.20251105')
  const newer = withImage('Amazon Linux 2023.9.20251208')
  const skew = (...nodes: NodeOptions[]) => judged([versionSkewDrift], nodes)

  it('names the older nodes, be they the most', () => {
    expect(skew(older, older, newer)).toMatchObject([
      { severity: 'info', nodes: { sample: ['node-0', 'node-1'] } },
    ])
    expect(skew(newer, newer, older)).toMatchObject([{ nodes: { sample: ['node-2'] } }])
  })

  it('names the fewer where the age of an AMI is unknown', () => {
    const ami = (id: string) =>
      withImage('Amazon Linux 2', { 'eks.amazonaws.com/nodegroup-image': id })
    expect(skew(ami('ami-1'), ami('ami-2'), ami('ami-1'))).toMatchObject([
      { nodes: { sample: ['node-1'] } },
    ])
    expect(skew(ami('ami-1'), ami('ami-1'), withImage('Amazon Linux 2'))).toEqual([])
  })

  it('says which settings differ for it, and is low then', () => {
    const [finding] = skew(
      newer,
      newer,
      {
        ...older,
        record: { ...older.record, configz: { kubeletconfig: { shutdownGracePeriod: '0s' } } },
      },
      newer,
    )
    expect(finding?.severity).toBe('low')
    expect(finding?.consequence).toMatch(/ differ\b/)
  })

  it('does not blame a release for what somebody edited', () => {
    const shutdown = { shutdownGracePeriod: '2m30s', shutdownGracePeriodCriticalPods: '30s' }
    const configuration = {
      ...baselineExamples.good.configuration,
      shutdownGracePeriod: '0s',
      shutdownGracePeriodCriticalPods: '0s',
    }
    const old = { configuration, identity: { kubeletVersion: 'v1.33.5' } }
    const text = (more: KubeletConfiguration) =>
      skew({ configuration: { ...configuration, ...more } }, old)[0]?.consequence
    expect(text(shutdown)).toMatchSnapshot()
    expect(text(high(95))).toMatchSnapshot()
    expect(text(high(95))).not.toContain('So these settings')
    expect(text({ ...shutdown, ...high(95) })).toMatchSnapshot()
  })

  it('compares settings that depend on the size only among nodes of one instance type', () => {
    const { configuration } = baselineExamples.good
    const at = (release: string, type: string, maxPods: number): NodeOptions => ({
      ...withImage(`Amazon Linux 2023.9.${release}`, { 'node.kubernetes.io/instance-type': type }),
      configuration: { ...configuration, maxPods },
    })
    const mixed = [at('20251105', 'm6i.large', 29), at('20251208', 'm6i.4xlarge', 234)]
    expect(skew(...mixed)).toMatchObject([
      { severity: 'info', consequence: expect.stringContaining('alike') },
    ])
    const [finding] = skew(...mixed, at('20251105', 'm6i.4xlarge', 58))
    expect(finding?.severity).toBe('low')
    expect(finding?.consequence).toContain('maxPods differs, too')
    expect(finding?.evidence.map(({ what }) => what)).toContain('configz maxPods (m6i.4xlarge)')
  })

  it('does not call settings alike that were not read', () => {
    const unread = { ...older, record: { ...older.record, configz: undefined } }
    expect(skew(unread, newer)[0]?.consequence).toContain('could not be compared')
  })

  it('of minors is low, and of Karpenter info', () => {
    const old = { identity: { kubeletVersion: 'v1.33.1' } }
    expect(skew({}, {}, old)).toMatchObject([{ severity: 'low', nodes: { sample: ['node-2'] } }])
    const labels = { 'karpenter.sh/nodepool': 'general' }
    expect(skew({ labels }, { labels }, { labels, ...old })).toMatchObject([{ severity: 'info' }])
    const auto = { labels: { ...labels, 'eks.amazonaws.com/compute-type': 'auto' } }
    expect(skew(auto, { ...auto, ...old })).toEqual([])
  })
})
