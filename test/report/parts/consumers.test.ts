import { describe, expect, it } from 'vitest'
import type { DiskLedger } from '#model/prediction/disk-ledger.ts'
import { english } from '#report/languages/language.ts'
import { consumerRows } from '#report/parts/consumers.ts'
import { auditedNode, GiB, nodegroup, nothingPredicted } from '#test/report-builder.ts'

const use = (namespace: string, owner: string | null, gib: number) => ({
  ...{ namespace, owner, pods: 1 },
  ...{ bytes: gib * GiB, layerBytes: 0, logBytes: gib * GiB, volumeBytes: 0 },
  ...{ requestBytes: null, limitBytes: 2 * GiB },
})
const pod = (namespace: string, name: string, gib: number, logGib = 0) => ({
  ...{ namespace, name, owner: null, bytes: gib * GiB },
  ...{ layerBytes: (gib - logGib) * GiB, logBytes: logGib * GiB, volumeBytes: 0 },
  ...{ requestBytes: GiB, limitBytes: null },
})
const on = (
  name: string,
  group: string,
  owners: DiskLedger['owners'],
  pods: DiskLedger['pods'] = [],
) =>
  auditedNode(name, nothingPredicted, {
    identity: { group: nodegroup(group) },
    ledger: {
      schema: 'highwater.ledger/1',
      isShared: true,
      filesystems: [],
      volumes: null,
      volumesUnread: null,
      pods,
      owners,
      namespaces: owners.map(one => ({ ...one, owner: null })),
      freeable: {
        ...{ nextImageGcBytes: null, unusedImageBytes: null, deadContainerBytes: null },
        ...{ unrotatedLogBytes: null, debrisBytes: null, totalBytes: 0, unusableBytes: null },
      },
    },
  })

describe('the largest consumers of a fleet', () => {
  it('are the largest owners of each nodegroup, then of each namespace, summed over nodes', () => {
    const rows = consumerRows(
      [
        on('a', 'web', [use('shop', 'Deployment cart', 3), use('log', 'DaemonSet agent', 2)]),
        on('b', 'web', [use('log', 'DaemonSet agent', 4)]),
        on('c', 'batch', [use('jobs', 'Job import', 9)]),
      ],
      english,
    ).map(({ place, consumer, uses, bytes }) =>
      [place, consumer, uses, bytes].map(text => text.replaceAll('\u00a0', ' ')),
    )
    const row = (place: string, name: string, gib: number, pods: string, limit: number) => [
      place,
      name,
      `${pods}, ${gib}.0 GiB of logs; request none, limit ${limit}.0 GiB`,
      `≥ ${gib}.0 GiB`,
    ]
    expect(rows).toEqual([
      row('prod-eu / batch', 'Job jobs/import', 9, '1 pod', 2),
      row('prod-eu / web', 'DaemonSet log/agent', 6, '2 pods', 4),
      row('prod-eu / web', 'Deployment shop/cart', 3, '1 pod', 2),
      row('prod-eu', 'namespace jobs', 9, '1 pod', 2),
      row('prod-eu', 'Job jobs/import', 9, '1 pod', 2),
      row('prod-eu', 'namespace log', 6, '2 pods', 4),
      row('prod-eu', 'DaemonSet log/agent', 6, '2 pods', 4),
      row('prod-eu', 'namespace shop', 3, '1 pod', 2),
      row('prod-eu', 'Deployment shop/cart', 3, '1 pod', 2),
    ])
  })

  it('have their largest five pods, with what they use, their requests and limits', () => {
    const pods = Array.from({ length: 4 }, (_, index) => pod('shop', `cart-${index}`, index + 1, 1))
    const rows = consumerRows(
      [on('a', 'web', [], pods), on('b', 'web', [], [pod('log', 'agent', 9), pod('log', 'b', 8)])],
      english,
    ).filter(({ consumer }) => /\/(?:cart-|agent|b$)/.test(consumer))
    expect(rows.filter(({ place }) => place === 'prod-eu / web')).toHaveLength(5)
    expect(rows.filter(({ place }) => place === 'prod-eu')).toHaveLength(6)
    expect(rows[2]).toEqual({
      place: 'prod-eu / web',
      consumer: 'shop/cart-3',
      uses: '3.0\u00a0GiB written into containers, 1.0\u00a0GiB of logs; request 1.0\u00a0GiB, limit none',
      bytes: '4.0\u00a0GiB',
    })
  })

  it('are none without a ledger, and never more than ten nodegroups and namespaces', () => {
    expect(consumerRows([auditedNode('a', nothingPredicted)], english)).toEqual([])
    const many = Array.from({ length: 12 }, (_, index) =>
      on(`n${index}`, `group-${index}`, [use(`space-${index}`, 'Job one', index + 1)]),
    )
    expect(consumerRows(many, english)).toHaveLength(30)
  })
})
