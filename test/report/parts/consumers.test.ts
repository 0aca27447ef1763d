import { describe, expect, it } from 'vitest'
import type { DiskLedger } from '#model/prediction.ts'
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
        ...{ unusedImageBytes: null, deadContainerBytes: null },
        ...{ debrisBytes: null, unusableBytes: null },
      },
    },
  })

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

describe('the largest consumers of a fleet', () => {
  it('are the largest owners of each nodegroup, summed over nodes, in columns', () => {
    const rows = consumerRows(
      [
        on('a', 'web', [use('shop', 'Deployment cart', 3), use('log', 'DaemonSet agent', 2)]),
        on('b', 'web', [use('log', 'DaemonSet agent', 4)]),
        on('c', 'batch', [use('jobs', 'Job import', 9)]),
      ],
      english,
    ).map(row => Object.values(row).map(plain))
    const row = (place: string, consumer: string, gib: number, pods: string, limit: number) =>
      Object.values({
        ...{ place, consumer, written: '', logs: `${gib}.0 GiB`, volumes: '' },
        ...{ asks: `request none, limit ${limit}.0 GiB`, pods, bytes: `≥ ${gib}.0 GiB` },
      })
    expect(rows).toEqual([
      row('prod-eu / batch', 'Job jobs/import', 9, '1 pod', 2),
      row('prod-eu / web', 'DaemonSet log/agent', 6, '2 pods', 4),
      row('prod-eu / web', 'Deployment shop/cart', 3, '1 pod', 2),
    ])
  })

  it('have a row for a namespace of several owners', () => {
    const [web, job] = [use('shop', 'Deployment web', 3), use('shop', 'Job import', 2)]
    const whole = { ...use('shop', null, 5), pods: 2 }
    const node = on('a', 'web', [web, job])
    const { ledger } = node.details()
    const rows = consumerRows(
      [
        {
          ...node,
          details: () => ({ ...node.details(), ledger: { ...ledger!, namespaces: [whole] } }),
        },
      ],
      english,
    )
    expect(rows.map(({ place, consumer }) => `${place}: ${consumer}`)).toEqual([
      'prod-eu / web: Deployment shop/web',
      'prod-eu / web: Job shop/import',
      'prod-eu: namespace shop',
    ])
  })

  it('have their largest five pods, with what they use, their requests and limits', () => {
    const pods = Array.from({ length: 4 }, (_, index) => pod('shop', `cart-${index}`, index + 1, 1))
    const rows = consumerRows(
      [on('a', 'web', [], pods), on('b', 'web', [], [pod('log', 'agent', 9), pod('log', 'b', 8)])],
      english,
    )
    expect(rows).toHaveLength(5)
    expect(rows[2]).toEqual({
      ...{ place: 'prod-eu / web', consumer: 'shop/cart-3', pods: '1 pod' },
      ...{ written: '3.0\u00a0GiB', logs: '1.0\u00a0GiB', volumes: '', bytes: '4.0\u00a0GiB' },
      asks: 'request\u00a01.0\u00a0GiB, limit\u00a0none',
    })
  })

  it('name the only pod of an owner in the row of the owner', () => {
    const cart = { ...pod('shop', 'cart-1', 3), owner: 'Deployment cart' }
    const rows = consumerRows(
      [on('a', 'web', [use('shop', 'Deployment cart', 3)], [cart])],
      english,
    )
    expect(rows.map(({ consumer, pods }) => [consumer, pods])).toEqual([
      ['Deployment shop/cart', 'shop/cart-1'],
    ])
  })

  it('are none without a ledger, and never more than ten nodegroups', () => {
    expect(consumerRows([auditedNode('a', nothingPredicted)], english)).toEqual([])
    const many = Array.from({ length: 12 }, (_, index) =>
      on(`n${index}`, `group-${index}`, [use(`space-${index}`, 'Job one', index + 1)]),
    )
    expect(consumerRows(many, english)).toHaveLength(10)
  })
})
