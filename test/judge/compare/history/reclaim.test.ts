import { describe, expect, it } from 'vitest'
import {
  imagesOf,
  mergedRounds,
  reportedRounds,
  withImages,
} from '#judge/compare/history/happenings.ts'
import type { NodeEvent } from '#judge/subject/node-subject.ts'
import type { NodeFacts, RememberedImage } from '#model/history.ts'
import { auditedNode, sharedDisk } from '#test/report-builder.ts'

const failed = (minute: number, wanted: number, counted: number, more = {}): NodeEvent => ({
  ...{ reason: 'FreeDiskSpaceFailed', pod: null, count: 1, firstTime: null },
  message: `Attempted to free ${wanted} bytes, but only found ${counted} bytes eligible to free.`,
  lastTime: `2026-11-21T00:${String(minute).padStart(2, '0')}:00Z`,
  ...more,
})
const amounts = (events: NodeEvent[]) =>
  reportedRounds(events, []).map(({ wantedBytes, countedBytes, freedBytes }) => [
    wantedBytes,
    countedBytes,
    freedBytes,
  ])

describe('rounds of image GC', () => {
  it('freed what the next round no longer wants', () =>
    expect(amounts([failed(10, 700, 50), failed(0, 1000, 400), failed(5, 900, 100)])).toEqual([
      [1000, 400, 100],
      [900, 100, 200],
      [700, 50, null],
    ]))

  it('freed an unknown amount where the next round is far, or the disk filled', () =>
    expect(amounts([failed(0, 1000, 400), failed(5, 1200, 0), failed(30, 100, 0)])).toEqual([
      [1000, 400, 0],
      [1200, 0, null],
      [100, 0, null],
    ]))

  it('are two where an event was counted twice', () => {
    const firstTime = '2026-11-21T00:00:00Z'
    expect(amounts([failed(5, 1000, 400, { count: 2, firstTime })])).toEqual([
      [1000, 400, 0],
      [1000, 400, null],
    ])
  })

  it('are those of the log where there is one', () => {
    const at = (minute: string) => `2026-11-21T00:${minute}:00+0100 n kubelet[9]: I1 x.go:1] `
    const trigger = (minute: string, wanted: number) =>
      `${at(minute)}"Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold" usage=91 highThreshold=85 amountToFree=${wanted} lowThreshold=80`
    const removal = `${at('00')}"Removing image to free bytes" imageID="sha256:a" size=70 runtimeHandler=""`
    const lines = [trigger('00', 500), removal, removal, trigger('05', 450), 'other']
    expect(reportedRounds([failed(0, 9, 9)], lines)).toEqual([
      {
        ...{ at: '2026-11-20T23:00:00.000Z', wantedBytes: 500, countedBytes: 140 },
        ...{ freedBytes: 50, predictedBytes: null },
      },
      {
        ...{ at: '2026-11-20T23:05:00.000Z', wantedBytes: 450, countedBytes: 0 },
        ...{ freedBytes: null, predictedBytes: null },
      },
    ])
  })

  it('are none that a pod has written into the log, in the output of a probe', () => {
    const full =
      'Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold'
    const said = [
      `${full} amountToFree=9`,
      `\\"${full}\\" usage=91 amountToFree=9`,
      'Removing image to free bytes\\" imageID=\\"sha256:a\\" size=70',
    ]
    const lines = said.map(
      output =>
        `2026-11-21T00:00:00+0100 n kubelet[9]: I1 prober.go:107] "Probe failed" output="${output}"`,
    )
    expect(reportedRounds([], lines)).toEqual([])
  })

  it('count once if two runs read them', () => {
    const [round] = reportedRounds([failed(0, 9, 9)], [])
    expect(mergedRounds([round!], [round!])).toHaveLength(1)
  })
})

describe('images between two readings', () => {
  const GiB = 1024 ** 3
  const earlier = (images: RememberedImage[], usedBytes: number) =>
    ({
      at: '2026-11-20T00:00:00Z',
      imagesSince: '2026-11-10',
      images,
      imageGC: { predictedBytes: 5 * GiB },
      fill: { readings: [{ at: '', nodefsUsedBytes: usedBytes, imagefsUsedBytes: null }] },
    }) as unknown as NodeFacts
  const read = (images: RememberedImage[]) => ({
    ...auditedNode('n', sharedDisk(60)),
    at: '2026-11-21T00:00:00Z',
    images,
  })

  it('went if they are larger than the smallest that is listed', () => {
    const first = read([['kept', 2 * GiB, null]])
    const { capacityBytes, availableBytes } = first.prediction.filesystems.nodefs!
    const usedBytes = capacityBytes! - availableBytes!
    const images: RememberedImage[] = [
      ['gone', 4 * GiB, null],
      ['kept', 2 * GiB, null],
      ['perhaps', GiB, null],
    ]
    const node = withImages(first, earlier(images, usedBytes + 3 * GiB))
    expect(node.rounds).toEqual([
      {
        ...{ at: first.at, wantedBytes: null, countedBytes: 4 * GiB },
        ...{ freedBytes: 3 * GiB, predictedBytes: 5 * GiB },
      },
    ])
    expect(node.happened?.map(({ what, subject }) => [what, subject])).toEqual([
      ['image-deleted', 'gone'],
    ])
  })

  it('are remembered as releases while another one of their image is there', () => {
    const v3: RememberedImage[] = [
      ['web:v3', 3 * GiB, null],
      ['least', GiB, null],
    ]
    const v2: RememberedImage[] = [
      ['web:v2', 2.5 * GiB, null],
      ['cache:v1', 2 * GiB, null],
      ['least', GiB, null],
    ]
    const before = { ...earlier(v2, 0), pastReleases: [['web:v1', 2 * GiB] as [string, number]] }
    const node = withImages(read(v3), before)
    expect(node.pastReleases).toEqual([
      ['web:v1', 2 * GiB],
      ['web:v2', 2.5 * GiB],
    ])
    expect(withImages(read([]), before).pastReleases).toEqual(before.pastReleases)
    const back = withImages(read([['web:v1', 2 * GiB, null]]), before)
    expect(back.pastReleases).toEqual([['web:v2', 2.5 * GiB]])
    const other = withImages(read([['shop:v1', GiB, null]]), before)
    expect(other.pastReleases).toBeUndefined()
  })

  it('are unused since the first day on which they were', () => {
    const first = read([
      ['a', 3 * GiB, '2026-11-21'],
      ['b', 2 * GiB, '2026-11-21'],
      ['c', GiB, null],
    ])
    const images: RememberedImage[] = [
      ['a', 3 * GiB, '2026-11-15'],
      ['b', 2 * GiB, null],
      ['c', GiB, '2026-11-15'],
    ]
    const node = withImages(first, earlier(images, 0))
    expect(node.images?.map(([, , since]) => since)).toEqual(['2026-11-15', '2026-11-21', null])
    expect(node.imagesSince).toBe('2026-11-10')
  })

  it('begin anew with another size, and stay unknown until a reading shows their use', () => {
    const first = read([
      ['latest', 3 * GiB, '2026-11-21'],
      ['unread', 2 * GiB],
    ])
    const node = withImages(first, earlier([['latest', 4 * GiB, '2026-11-15']], 0))
    expect(node.images).toEqual([
      ['latest', 3 * GiB, '2026-11-21'],
      ['unread', 2 * GiB],
    ])
  })

  it('are not deleted by a new tag, and keep their days', () => {
    const first = read([
      ['web:v2', 3 * GiB, '2026-11-21'],
      ['least', GiB, null],
    ])
    const node = withImages(
      first,
      earlier(
        [
          ['web:v1', 3 * GiB, '2026-11-15'],
          ['least', GiB, null],
        ],
        0,
      ),
    )
    expect(node.images?.[0]).toEqual(['web:v2', 3 * GiB, '2026-11-15'])
    expect([node.happened, node.rounds]).toEqual([undefined, undefined])
  })

  it('keep their days while the node is not read', () => {
    const first = read([])
    const node = withImages(first, earlier([['a', 3 * GiB, '2026-11-15']], 0))
    expect(node.images).toEqual([['a', 3 * GiB, '2026-11-15']])
    expect(node.rounds).toBeUndefined()
  })

  it('have the end of their tag, and no user by the runtime alone', () => {
    const kept = [
      { image: 'sha256:a', reason: 'in-use' },
      { image: 'sha256:b', reason: 'not-needed' },
    ]
    const imageGC = { deletions: [{ image: 'sha256:d', certainty: 'possible' }], kept } as never
    const runtime = {
      images: [
        { id: 'sha256:a', repoTags: ['registry.example.com/shop/web:v1'], size: '7' },
        { id: 'sha256:b', size: 9 },
        { id: 'sha256:c', size: 'x' },
        { id: 'sha256:d', size: 3 },
      ],
    }
    const at = '2026-11-21T00:00:00Z'
    expect(imagesOf({ node: {}, runtime, at }, { imageGC, at })).toEqual([
      ['b', 9, '2026-11-21'],
      ['registry.example.com/shop/web:v1', 7, null],
      // Whether a container uses this image is unknown.
      ['d', 3],
    ])
  })
})
