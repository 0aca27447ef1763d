import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { TimelineEvent } from '#model/prediction.ts'
import { type ComparedEvent, compare } from '#test/real-kubelet/comparison.ts'
import type { Recording } from '#test/real-kubelet/recording.ts'

const folder = new URL('../fixtures/recordings/', import.meta.url)
const recordings = readdirSync(folder).map(
  file => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recording,
)

const MiB = 2 ** 20
const mebibytes = (bytes: number) => Math.round(bytes / MiB)
const seconds = (ms: number) => Math.round(ms / 1000)

describe('a timeline beside a recorded kubelet', () => {
  it.each(recordings)('$name: $course', recording => {
    const { events, missing } = compare(recording)
    expect(events.length).toBeGreaterThan(0)
    expect(events.filter(({ isWithin }) => !isWithin)).toEqual([])
    expect(missing).toEqual([])
  })

  it.each(recordings)('$name: rounds of image GC within 30 s, freed bytes within bounds', one => {
    for (const { observed, predicted } of compare(one).events) {
      if (predicted?.event !== 'imageGC' || observed.freedBytes === undefined) continue
      expect(predicted.latestMs - predicted.earliestMs).toBeLessThanOrEqual(30_000)
      expect(observed.freedBytes).toBeGreaterThanOrEqual(predicted.detail.frees.least)
      expect(observed.freedBytes).toBeLessThanOrEqual(predicted.detail.frees.most)
    }
  })

  it('docs/predicted-and-observed.md has the figures', async () => {
    const page = [head, ...recordings.map(section)].join('\n\n')
    await expect(`${page}\n`).toMatchFileSnapshot('../../docs/predicted-and-observed.md')
  })
})

const compared = recordings.flatMap(recording => compare(recording).events)
const certainEvents = compared.filter(({ predicted }) => predicted?.certainty === 'certain')

const head = `# How close is a timeline to a real kubelet?

${recordings.length} fills of nodes with an unmodified kubelet 1.34 and containerd 2.1. Each node was read once, before the fill began. The
table compares \`highwater predict --fill\` from that reading with what the kubelet logged. Times are seconds since the
reading. \`test/replay/recordings.test.ts\` writes this page, \`test/e2e/real-kubelet.test.ts\` makes new recordings.

A certain event happens whatever is unknown of the node: the startup of the kubelet within 20 s, the phase of eviction,
the size of unpacked layers. Certain or possible, an event lies within its interval. Of all ${compared.length} events ${certainEvents.length} were
certain.

A deletion frees layers that no other image has, and the node does not tell which layers images share. The lower bound is
what containerd's own list of snapshots gives: the layers that no container uses, less what the images that stay can hold.
It is 0 where few of the unused images go, where a course deletes none, or where the list was not read.`

function section(recording: Recording): string {
  const { events } = compare(recording)
  const certain = events.filter(({ predicted }) => predicted?.certainty === 'certain').length
  return [
    `## ${recording.name}`,
    `${sentence(recording.course)} \`--fill ${recording.fills.join(' --fill ')}\`. Certain: ${certain} of ${events.length} events.`,
    [
      '| event | predicted | interval | observed | certainty |',
      '| --- | --: | --- | --: | --- |',
      ...events.map(row),
    ].join('\n'),
  ].join('\n\n')
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

function row({ observed, predicted }: ComparedEvent): string {
  const { atMs, freedBytes, event, subject = '', images } = observed
  const name = [event, subject, images ? `${images.length} images` : '']
    .filter(text => text !== '')
    .join(' ')
  const freed = freedBytes === undefined ? '' : `, freed ${mebibytes(freedBytes)} MiB`
  if (predicted === null) return `| ${name} | | | ${seconds(atMs)}${freed} | |`
  const interval = `${seconds(predicted.earliestMs)} to ${seconds(predicted.latestMs)}`
  return `| ${name} | ${seconds(predicted.atMs)} | ${interval}${freesOf(predicted)} | ${seconds(atMs)}${freed} | ${predicted.certainty} |`
}

function freesOf({ event, detail }: TimelineEvent): string {
  if (event !== 'imageGC' && event !== 'reclaim') return ''
  const { least, most } = detail.frees
  const counts = event === 'imageGC' ? `, counts ${mebibytes(detail.freedBytes)} MiB` : ''
  return `${counts}, frees ${mebibytes(least)} to ${mebibytes(most)} MiB`
}
