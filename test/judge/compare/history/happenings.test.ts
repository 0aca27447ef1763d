import { describe, expect, it } from 'vitest'
import {
  happeningsOf,
  mergeHappenings,
  readingOfMachine,
  withEvents,
} from '#judge/compare/history/happenings.ts'
import type { Happening, NodeBefore } from '#model/history.ts'
import { inputOf } from '#test/at-the-door.ts'
import { buildNode, takenAt } from '#test/node-builder.ts'
import { auditedNode, sharedDisk } from '#test/report-builder.ts'

const evicted = (name: string, time: string) => ({
  metadata: { namespace: 'shop', name, uid: name },
  status: {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'The node was low on resource: ephemeral-storage.',
    conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: time }],
  },
})

describe('what happened', () => {
  it('is read from Evicted pods of a day, conditions and the log of the kubelet', () => {
    const { record } = buildNode({
      record: {
        pods: [evicted('web', '2026-11-20T03:12:00Z'), evicted('old', '2026-11-10T03:12:00Z')],
        host: {
          logLines: [
            '2026-11-20T03:11:00+0000 n kubelet[9]: I1120 03:11:00 9 image_gc_manager.go:480] "Removing image to free bytes" imageID="sha256:a" size=77',
          ],
        },
      },
    })
    const node = record.node as { status: Record<string, unknown> }
    node.status.conditions = [
      { type: 'DiskPressure', status: 'True', lastTransitionTime: '2026-11-20T03:11:30Z' },
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-10-01T00:00:00Z' },
    ]
    const found = happeningsOf(inputOf(record), takenAt)
    expect(found.map(({ at, what, subject }) => [at, what, subject])).toEqual([
      ['2026-11-20T03:11:00.000Z', 'image-deleted', 'sha256:a'],
      ['2026-11-20T03:11:30Z', 'condition', 'DiskPressure'],
      ['2026-11-20T03:12:00Z', 'evicted', 'shop/web'],
    ])
    expect(found.map(({ status }) => status)).toEqual([undefined, 'True', undefined])
  })

  it('of a node that was silent is its return, and a pressure that it still has', () => {
    const back = { lastTransitionTime: '2026-11-20T03:11:30Z' }
    const { record } = buildNode({})
    const node = record.node as { status: Record<string, unknown> }
    node.status.conditions = [
      { type: 'DiskPressure', status: 'False', ...back },
      { type: 'MemoryPressure', status: 'True', ...back },
      { type: 'Ready', status: 'True', ...back },
      { type: 'PIDPressure', status: 'False', lastTransitionTime: '2026-11-20T04:00:00Z' },
    ]
    expect(happeningsOf(inputOf(record), takenAt).map(({ message }) => message)).toEqual([
      'MemoryPressure is True',
      'Ready is True',
      'PIDPressure is False',
    ])
  })

  it('includes evictions by the log of the kubelet, and the resource of their pass', () => {
    const line = (time: string, text: string) =>
      `2026-11-20T${time}+0000 n kubelet[9]: I1120 ${time} 9 eviction_manager.go:387] ${text}`
    const starved = '"Eviction manager: must evict pod(s) to reclaim" resourceName="memory"'
    const ended = (pod: string) => `"Eviction manager: pod is evicted successfully" pod="${pod}"`
    const { record } = buildNode({
      record: {
        pods: [evicted('web', '2026-11-20T03:12:00Z')],
        host: {
          logLines: [
            line('03:12:00', ended('shop/web')),
            line('03:13:00', starved),
            line('03:13:01', ended('shop/cart')),
            line('03:14:00', ended('shop/own-limit')),
            line('03:15:00', `"other" output=${ended('shop/forged')}`),
          ],
        },
      },
    })
    const found = happeningsOf(inputOf(record), takenAt)
    expect(found.map(({ subject, resource }) => [subject, resource])).toEqual([
      ['shop/web', 'ephemeral-storage'],
      ['shop/cart', 'memory'],
      ['shop/own-limit', undefined],
    ])
  })

  it('keeps apart pods that the kubelet refused', () => {
    const pod = evicted('web', '2026-11-20T03:12:00Z')
    const message = 'The node had condition: [DiskPressure].'
    const { record } = buildNode({
      record: { pods: [{ ...pod, status: { ...pod.status, message } }] },
    })
    const [found] = happeningsOf(inputOf(record), takenAt)
    expect(found).toMatchObject({ what: 'refused', subject: 'shop/web', message })
  })

  it('is read from events of pods whose records show nothing, each once', () => {
    const event = {
      reason: 'Evicted',
      pod: { namespace: 'shop', name: 'web' },
      message: 'low',
      count: 1,
      firstTime: null,
      lastTime: '2026-11-21T00:00:00Z',
    }
    const node = { ...auditedNode('n', sharedDisk(60)), at: takenAt, happened: [] }
    const found = withEvents(node, [event, event, { ...event, reason: 'Pulled' }])
    expect(found).toEqual([
      { at: '2026-11-21T00:00:00Z', what: 'evicted', subject: 'shop/web', message: 'low' },
    ])
    const earlier = { ...found[0]!, at: '2026-11-20T23:00:00Z', message: 'logged' }
    expect(withEvents({ ...node, happened: [earlier] }, [event])).toEqual([
      { ...found[0], at: earlier.at },
    ])
  })

  it('has each eviction of a pod that was created again under its name', () => {
    const at = (time: string): Happening => ({
      ...{ at: `2026-11-20T${time}Z`, what: 'evicted', subject: 'shop/db-0', message: 'low' },
    })
    const times = (happenings: Happening[]) => happenings.map(one => one.at.slice(11, 16))
    expect(times(mergeHappenings([at('01:00:00')], [at('01:40:00'), at('05:00:00')]))).toEqual([
      '01:00',
      '05:00',
    ])
    expect(times(mergeHappenings([at('05:00:00'), at('01:40:00')], [at('01:00:00')]))).toEqual([
      '01:00',
      '05:00',
    ])
  })

  it('knows another machine under the same name by its boot and the time it joined', () => {
    const audited = auditedNode('n', sharedDisk(60))
    const now = { ...audited, identity: { ...audited.identity, bootId: 'b' } }
    const last = { at: '2026-11-20T00:00:00Z', fill: { bootId: 'a' } } as NodeBefore
    const [earlier, later] = ['2026-11-01T00:00:00Z', '2026-11-20T06:00:00Z']
    expect(readingOfMachine({ ...now, joinedAt: earlier }, last)).toBe(last)
    expect(readingOfMachine(now, last)).toBe(last)
    expect(readingOfMachine({ ...now, joinedAt: later }, last)).toBeNull()
    const same = { ...last, fill: { bootId: 'b' } } as NodeBefore
    expect(readingOfMachine({ ...now, joinedAt: later }, same)).toBe(same)
    expect(readingOfMachine(now, null)).toBeNull()
  })

  it('keeps evictions when there is no room for all', () => {
    const one = (what: Happening['what'], minute: number): Happening => ({
      at: `2026-11-21T00:${String(minute).padStart(2, '0')}:00Z`,
      what,
      subject: `s${minute}`,
      message: '',
    })
    const many = Array.from({ length: 40 }, (_, minute) => one('condition', minute))
    const kept = mergeHappenings(many, [one('evicted', 1)])
    expect(kept).toHaveLength(24)
    expect(kept.filter(({ what }) => what === 'evicted')).toHaveLength(1)
  })
})
