import { describe, expect, it } from 'vitest'
import type { NodeLedger } from '#model/disk-ledger.ts'
import { english } from '#report/languages/language.ts'
import { consumerRows } from '#report/views/consumers.ts'
import { auditedNode, GiB, nodegroup, nothingPredicted } from '#test/report-builder.ts'

const use = (namespace: string, owner: string | null, gib: number) => ({
  ...{ namespace, owner, pods: 1 },
  bytes: gib * GiB,
})
const on = (name: string, group: string, owners: NodeLedger['owners']) =>
  auditedNode(name, nothingPredicted, {
    identity: { group: nodegroup(group) },
    ledger: {
      schema: 'highwater.ledger/1',
      filesystems: [],
      volumes: null,
      volumesUnread: null,
      pods: [],
      owners,
      namespaces: owners.map(({ namespace, bytes }) => ({
        namespace,
        owner: null,
        pods: 1,
        bytes,
      })),
      freeable: {
        ...{ nextImageGcBytes: null, unusedImageBytes: null, deadContainerBytes: null },
        ...{ unrotatedLogBytes: null, debrisBytes: null, totalBytes: 0, unusableBytes: null },
      },
    },
  })

describe('the largest consumers of a fleet', () => {
  it('are the largest owner of each nodegroup, then the namespaces, summed over nodes', () => {
    const rows = consumerRows(
      [
        on('a', 'web', [use('shop', 'Deployment cart', 3), use('log', 'DaemonSet agent', 2)]),
        on('b', 'web', [use('log', 'DaemonSet agent', 4)]),
        on('c', 'batch', [use('jobs', 'Job import', 9)]),
      ],
      english,
    ).map(({ place, consumer, bytes }) => [place, consumer, bytes.replaceAll('\u00a0', ' ')])
    expect(rows).toEqual([
      ['prod-eu / batch', 'Job jobs/import', '≥ 9.0 GiB'],
      ['prod-eu / web', 'DaemonSet log/agent', '≥ 6.0 GiB'],
      ['prod-eu', 'namespace jobs', '≥ 9.0 GiB'],
      ['prod-eu', 'namespace log', '≥ 6.0 GiB'],
      ['prod-eu', 'namespace shop', '≥ 3.0 GiB'],
    ])
  })

  it('are none without a ledger, and never more than ten of each', () => {
    expect(consumerRows([auditedNode('a', nothingPredicted)], english)).toEqual([])
    const many = Array.from({ length: 12 }, (_, index) =>
      on(`n${index}`, `group-${index}`, [use(`space-${index}`, 'Job one', index + 1)]),
    )
    expect(consumerRows(many, english)).toHaveLength(20)
  })
})
