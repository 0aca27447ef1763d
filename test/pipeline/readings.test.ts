import { describe, expect, it } from 'vitest'
import type { ClusterResult } from '#model/finding.ts'
import type { ReadMode } from '#model/input/record.ts'
import type { AuditedNode } from '#model/report.ts'
import { nodeRights, withReadings } from '#pipeline/audit/audit.ts'

const cluster = (name: string): ClusterResult => ({
  name,
  grade: null,
  coverage: { nodes: 0, read: 0, partlyRead: 0, notRead: 0 },
  outcomes: { pass: 0, fail: 0, unknown: 0, notApplicable: 0, error: 0 },
})
const node = (cluster: string, name: string, mode: ReadMode) =>
  ({ cluster, mode, identity: { name } }) as AuditedNode

describe('the readings of a cluster', () => {
  it('name the nodes that are not read as most are, and no other', () => {
    const nodes = [
      node('a', 'n3', 'ssm'),
      node('a', 'n1', 'both'),
      node('a', 'n2', 'ssm'),
      node('b', 'n1', 'proxy'),
    ]
    const read = withReadings([cluster('a'), cluster('b'), cluster('c')], nodes).map(
      ({ readings }) => readings?.map(({ mode, nodes }) => ({ mode, ...nodes })),
    )
    expect(read).toEqual([
      [
        { mode: 'ssm', count: 2, names: null },
        { mode: 'both', count: 1, names: ['n1'] },
      ],
      [{ mode: 'proxy', count: 1, names: null }],
      [],
    ])
  })

  it.each<[ReadMode, string[], string[]]>([
    [
      'proxy',
      ['list nodes', 'list pods', 'get nodes/proxy'],
      ['ssm:SendCommand', 'get nodes/configz'],
    ],
    [
      'ssm',
      [
        'list nodes',
        'list pods',
        'ssm:SendCommand',
        'ssm:ListCommandInvocations',
        'ssm:DescribeDocument',
      ],
      ['get nodes/proxy'],
    ],
    ['both', ['list nodes', 'list pods', 'get nodes/proxy', 'ssm:SendCommand'], []],
    [
      'kubelet',
      ['list nodes', 'list pods', 'get nodes/configz', 'get nodes/stats'],
      ['get nodes/proxy'],
    ],
  ])('by mode %s need every right of the calls: %j', (mode, needed, needless) => {
    const rights = nodeRights(mode)
    expect(rights).toEqual(expect.arrayContaining(needed))
    expect(rights.filter(right => needless.includes(right))).toEqual([])
    expect(withReadings([cluster('a')], [node('a', 'n', mode)])[0]?.readings?.[0]?.rights).toEqual(
      rights,
    )
  })
})
