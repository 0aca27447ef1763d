import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { podStatsOf } from '#replay/pods.ts'
import { podOf, podStatsOf as statsOf } from '#test/at-the-door.ts'

const one = (stats: object) =>
  podStatsOf(
    statsOf({ pods: [{ podRef: { uid: 'u' }, ...stats }] }),
    podOf({ metadata: { name: 'a', uid: 'u' } })!,
  )

describe('parsePodStats', () => {
  it('reads what decisions need', () => {
    expect(
      one({
        memory: { workingSetBytes: 1, rssBytes: 9 },
        containers: [
          {
            name: 'c',
            memory: { workingSetBytes: 2 },
            rootfs: { usedBytes: 3, inodesUsed: 4 },
            logs: { usedBytes: 5, inodesUsed: 6 },
          },
        ],
        volume: [{ name: 'v', usedBytes: 7, inodesUsed: 8 }],
        'ephemeral-storage': { usedBytes: 9 },
        process_stats: { process_count: 10 },
      }),
    ).toEqual({
      memory: { workingSetBytes: 1 },
      containers: [
        {
          name: 'c',
          memoryWorkingSetBytes: 2,
          rootfs: { usedBytes: 3, inodesUsed: 4 },
          logs: { usedBytes: 5, inodesUsed: 6 },
        },
      ],
      volumes: [{ name: 'v', usedBytes: 7, inodesUsed: 8 }],
      ephemeralStorageUsedBytes: 9,
      processCount: 10,
      malformed: [],
    })
  })

  it('takes what is absent for absent, never for 0', () => {
    expect(one({ containers: [{}], volume: [{}] })).toEqual({
      memory: null,
      containers: [
        {
          name: '',
          memoryWorkingSetBytes: null,
          rootfs: { usedBytes: null, inodesUsed: null },
          logs: { usedBytes: null, inodesUsed: null },
        },
      ],
      volumes: [{ name: '', usedBytes: null, inodesUsed: null }],
      ephemeralStorageUsedBytes: null,
      processCount: null,
      malformed: [],
    })
    expect(one({ memory: {} })?.memory).toEqual({ workingSetBytes: null })
  })

  it.each([
    ['memory', { memory: { workingSetBytes: 'much' } }],
    ['ephemeral-storage', { volume: [{ name: 'v', usedBytes: -5 }] }],
    ['inodes', { containers: [{ name: 'c', logs: { inodesUsed: 1.5 } }] }],
    ['pids', { process_stats: { process_count: [] } }],
  ])('names %s as malformed, not as 0', (resource, stats) => {
    expect(one(stats)?.malformed).toEqual([resource])
  })

  it('leaves out what is no object', () => {
    expect(
      one({ containers: [null, 5, { name: 'c' }], volume: ['v', { name: 'v' }] }),
    ).toMatchObject({ containers: [{ name: 'c' }], volumes: [{ name: 'v' }] })
    expect(statsOf({ pods: [null, 'a', {}] }).byUid.size).toBe(1)
    expect(statsOf({ pods: [null, 'a'] }).byUid.size).toBe(0)
  })

  it('takes a counter that has wrapped for negative', () => {
    expect(one({ memory: { workingSetBytes: 2 ** 64 - 4096 } })?.memory).toEqual({
      workingSetBytes: -4096,
    })
  })
})

describe('podStatsOf', () => {
  const named = (name: string, uid: string, usedBytes: number) => ({
    podRef: { namespace: 'default', name, uid },
    'ephemeral-storage': { usedBytes },
  })
  const stats = statsOf({
    pods: [named('a', 'u1', 1), named('a', 'u2', 2), named('b', 'u3', 3), named('other', 'u3', 4)],
  })
  const used = (metadata: object) =>
    podStatsOf(stats, podOf({ metadata })!)?.ephemeralStorageUsedBytes ?? null
  const annotations = { 'kubernetes.io/config.mirror': 'u2' }

  it.each([
    { what: 'by UID', metadata: { name: 'a', uid: 'u1' }, usedBytes: 1 },
    { what: 'by UID, whatever the name', metadata: { name: 'x', uid: 'u2' }, usedBytes: 2 },
    { what: 'the last of one UID', metadata: { name: 'b', uid: 'u3' }, usedBytes: 4 },
    { what: 'not by name alone', metadata: { name: 'a', uid: 'u9' }, usedBytes: null },
    { what: 'a mirror pod by name', metadata: { name: 'a', uid: 'u9', annotations }, usedBytes: 2 },
    {
      what: 'a mirror pod by UID first',
      metadata: { name: 'a', uid: 'u1', annotations },
      usedBytes: 1,
    },
    {
      what: 'a mirror pod of another namespace',
      metadata: { namespace: 'x', name: 'a', uid: 'u9', annotations },
      usedBytes: null,
    },
    { what: 'without UID by name', metadata: { name: 'b' }, usedBytes: 3 },
  ])('finds $what', ({ metadata, usedBytes }) => {
    expect(used(metadata)).toBe(usedBytes)
  })
})

describe('anything at all', () => {
  it('is read without a throw, and has no number that is none', () => {
    const key = fc.constantFrom(
      'podRef',
      'uid',
      'memory',
      'workingSetBytes',
      'containers',
      'volume',
      'rootfs',
      'usedBytes',
      'process_stats',
    )
    const value = fc.letrec(tie => ({
      any: fc.oneof(
        fc.jsonValue(),
        fc.double(),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(key, tie('any'), { maxKeys: 4 }),
      ),
    })).any
    fc.assert(
      fc.property(fc.array(value), pods => {
        const numbers: unknown[] = []
        JSON.stringify([...statsOf({ pods }).byUid.values()], (_, found) => {
          if (typeof found === 'number') numbers.push(found)
          return found
        })
        return numbers.every(Number.isInteger)
      }),
    )
    expect(statsOf(null).byUid.size).toBe(0)
  })
})
