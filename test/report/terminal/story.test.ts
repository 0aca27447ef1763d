import { describe, expect, it } from 'vitest'
import { holders } from '#facts/holders.ts'
import type { NodePrediction, TimelineDetail, TimelineEvent } from '#model/prediction.ts'
import { storyOf } from '#report/terminal/story.ts'
import { hard, soft } from '#test/example.ts'
import { buildNode } from '#test/node-builder.ts'

const plain = (text: string) => text
function story(change: Partial<NodePrediction> = {}, before: NodePrediction | null = null): string {
  return storyOf({ ...buildNode().prediction, ...change }, before, plain, holders)
}
/** Without the breaks and indents of lines. */
const onOneLine = (text: string) => text.replace(/\s+/g, ' ')

const eviction = (change: object) =>
  ({ ...buildNode().prediction.eviction, ...change }) as NodePrediction['eviction']
const imageGC = (change: object) =>
  ({ ...buildNode().prediction.imageGC, ...change }) as NodePrediction['imageGC']

describe('storyOf', () => {
  it('shows the distance to each threshold on a calm node', () => {
    expect(story()).toBe(
      [
        'prod / ip-10-0-1-2.ec2.internal: nothing acts; image GC next, in 39.0 GiB',
        '              kubelet v1.34.1-eks-0000000, 2026-11-21 00:00 UTC',
        'Disk          one for everything: 100.0 GiB, 40 % used, 60.0 GiB available',
        '                (nodefs and imagefs are the same)',
        'Image GC      calm: 39.0 GiB more, and it starts (at 80, which is above 79 %',
        '                used)',
        'Eviction      calm memory.available < 1Gi: 60.0 GiB left',
        '              calm nodefs.available < 10Gi: 60.0 GiB left',
        '              calm nodefs.inodesFree < 5Gi = 5,368,709,120: 64,424,509,440',
        '                left',
        '',
        '',
      ].join('\n'),
    )
  })

  it('marks its heading as the terminal wants it', () => {
    expect(storyOf(buildNode().prediction, null, text => `*${text}*`, holders)).toMatch(
      /^\*prod \/ ip-10-0-1-2\.ec2\.internal: nothing acts.*\*\n/,
    )
  })

  it('names what is unknown, and never prints 0 for it', () => {
    const text = onOneLine(
      story({
        imageGC: null,
        eviction: null,
        unknowns: [{ what: 'configz', effect: 'no thresholds' }],
      }),
    )
    expect(text).toMatchSnapshot()
  })

  it('shows a round of image GC: amount, images, certainty and end', () => {
    const deletion = {
      image: 'sha256:1',
      names: ['registry/a:1'],
      sizeBytes: 2 ** 20,
      rank: 0,
      reason: 'space',
      certainty: 'certain',
    }
    const text = onOneLine(
      story({
        imageGC: imageGC({
          triggered: true,
          usagePercent: 91,
          bytesToFree: 2 ** 30,
          freedBytes: 2 ** 20,
          reachesLow: false,
          shortfallBytes: 2 ** 30 - 2 ** 20,
          error: 'not enough',
          deletions: [deletion, { ...deletion, names: [], certainty: 'possible', reason: 'age' }],
        }),
      }),
    )
    expect(text).toMatchSnapshot()
  })

  it('says that image GC is switched off', () => {
    expect(
      onOneLine(story({ imageGC: imageGC({ enabled: false, highThresholdPercent: 100 }) })),
    ).toMatchSnapshot()
  })

  it('shows an eviction: thresholds met, conditions, garbage collection and pods in order', () => {
    const pods = ['a', 'b'].map((name, rank) => ({
      namespace: 'x',
      name,
      rank,
      qos: '',
      priority: 0,
      usage: 1,
      request: 0,
      reason: `why ${name}`,
    }))
    const text = onOneLine(
      story({
        eviction: eviction({
          thresholds: [hard('nodefs.available', 10, 9), soft('memory.available', 1, 90_000)],
          conditions: ['DiskPressure'],
          actsOn: ['nodefs.available'],
          nodeReclaim: ['containers', 'images'],
          victims: [
            { namespace: 'x', name: 'a', certainty: 'certain' },
            { namespace: 'x', name: 'b', certainty: 'possible' },
          ],
          rankings: [{ signal: 'nodefs.available', pods }],
        }),
        unknowns: [
          { what: 'eviction.nodeReclaim', part: 'victims', effect: 'may be enough' },
          { what: 'pods', effect: 'not read' },
        ],
      }),
    )
    for (const sentence of [
      'MET nodefs.available < 10Gi: 9.0 GiB left',
      'calm memory.available < 1Gi for 1 min 30 s: 60.0 GiB left',
      'reports DiskPressure: the node is tainted, new pods that are not critical are refused',
      'acts on nodefs.available',
      'first collects dead containers, then every unused image',
      'evicts x/a and may evict x/b eviction.nodeReclaim: may be enough',
      'Unknown pods: not read',
      'its order under nodefs.available: 1. x/a (why a) 2. x/b (why b)',
    ])
      expect(text).toContain(sentence)
  })

  it('shows the origin of each threshold and of each lost default', () => {
    const by = { source: 'drop-in', certainty: 'certain', path: '/etc/d/90-x.conf' }
    const text = onOneLine(
      story({
        eviction: eviction({
          thresholds: [{ ...hard('nodefs.available', 10), origin: by }],
          lost: [
            { signal: 'memory.available', value: '100Mi', by },
            { signal: 'nodefs.inodesFree', value: '5%', by },
            { signal: 'imagefs.available', value: '15%', by },
          ],
        }),
      }),
    )
    expect(text).toMatchSnapshot()
    expect(text).toContain(
      'none memory.available (default 100Mi), nodefs.inodesFree (default 5%): lost by the drop-in /etc/d/90-x.conf; nothing watches in its place ' +
        'none imagefs.available (default 15%): lost by the drop-in /etc/d/90-x.conf; another threshold watches in its place',
    )
  })

  it('shows only what another configuration changes', () => {
    const before = buildNode().prediction
    expect(
      onOneLine(story({ imageGC: imageGC({ triggered: true, bytesToFree: 2 ** 30 }) }, before)),
    ).toMatchSnapshot()
    expect(onOneLine(story({}, before))).toMatchSnapshot()
    expect(onOneLine(story({ refusals: ['no such kubelet'] }, before))).toMatchSnapshot()
  })

  it('shows a timeline with clock times', () => {
    const frees = { least: 1024, likely: 2048, most: 3072 }
    const at = (atMs: number, detail: TimelineDetail): TimelineEvent => ({
      atMs,
      earliestMs: atMs,
      latestMs: atMs + 12_000,
      certainty: atMs < 10_000 ? 'certain' : 'possible',
      ...detail,
    })
    const timeline: TimelineEvent[] = [
      at(0, {
        event: 'imageGC',
        detail: { images: ['i'], bytesToFree: 2048, freedBytes: 1024, frees, error: 'not enough' },
      }),
      at(10_000, { event: 'condition', detail: { condition: 'DiskPressure', status: true } }),
      at(10_000, { event: 'condition', detail: { condition: 'MemoryPressure', status: true } }),
      at(10_000, {
        event: 'reclaim',
        detail: { signal: 'nodefs.available', containers: 2, images: ['i'], frees, isEnough: true },
      }),
      at(3_661_000, {
        event: 'evict',
        detail: {
          namespace: 'x',
          name: 'a',
          signal: 'nodefs.available',
          freedBytes: 1,
          freedInodes: 0,
          freedMemoryBytes: 0,
          freedProcesses: 0,
        },
      }),
      at(3_662_000, { event: 'recovered', detail: { availableBytes: 1 } }),
      at(3_663_000, { event: 'condition', detail: { condition: 'DiskPressure', status: false } }),
      at(36_000_000, { event: 'full', detail: { filesystem: 'nodefs' } }),
    ]
    const text = onOneLine(story({ timeline }))
    for (const sentence of [
      'Then +00:00:00 image GC deletes 1 image, counts 1.0 KiB of 2.0 KiB, frees 1.0–3.0 KiB: not enough (+00:00:00 to +00:00:12)',
      '+00:00:10 DiskPressure: tainted, new pods that are not critical are refused (possibly, +00:00:10 to +00:00:22)',
      '+00:00:10 MemoryPressure: tainted, new BestEffort pods are refused',
      '+00:00:10 for nodefs.available collects 2 dead containers and 1 unused image, frees 1.0–3.0 KiB, and that is enough',
      '+01:01:01 evicts x/a for nodefs.available',
      '+01:01:02 no threshold is met any more',
      '+01:01:03 DiskPressure ends',
      '+10:00:00 nodefs is full',
    ])
      expect(text).toContain(sentence)
    expect(onOneLine(story({ timeline: [] }))).toMatchSnapshot()
  })

  it('shows limits, dead containers and a node with other allocatable', () => {
    const text = onOneLine(
      story({
        localStorageEvictions: [
          {
            namespace: 'x',
            name: 'a',
            limit: 'emptyDir',
            what: 'tmp',
            usedBytes: 2048,
            limitBytes: 1024,
          },
        ],
        containerGC: {
          removals: [{ kind: 'container', id: '1', namespace: 'x', pod: 'a', container: 'c' }],
        },
        allocatable: { memory: '1Gi', matchesNode: false },
      }),
    )
    expect(text).toMatchSnapshot()
  })

  it('is bounded, whatever a node holds', () => {
    const deletion = {
      image: 'i'.repeat(500),
      names: [],
      sizeBytes: 1,
      rank: 0,
      reason: 'space',
      certainty: 'certain',
    }
    const lines = story({
      imageGC: imageGC({ triggered: true, deletions: Array.from({ length: 500 }, () => deletion) }),
      unknowns: Array.from({ length: 500 }, () => ({
        what: 'w'.repeat(5000),
        effect: 'e'.repeat(5000),
      })),
    }).split('\n')
    expect(lines.length).toBeLessThan(100)
    expect(lines.join('\n')).toContain('… and 492 more')
    expect(lines.join('\n')).toContain('… and 488 more')
  })
})
