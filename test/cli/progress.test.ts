import { describe, expect, it } from 'vitest'
import { openProgress, progressLine } from '#cli/source.ts'

describe('progressLine', () => {
  it.each([
    [0, 0, 1, 0, 'reading 0 of 0 nodes in 1 cluster'],
    [10, 5000, 3, 1000, 'reading 10 of 5,000 nodes in 3 clusters · 10/s · 8 min 19 s left'],
    [3, 4, 1, 2000, 'reading 3 of 4 nodes in 1 cluster · 1.5/s · 1 s left'],
    [7, 4, 1, 1000, 'reading 7 of 7 nodes in 1 cluster · 7.0/s'],
  ])('%i of %i: %s', (read, expected, clusters, elapsedMs, line) => {
    expect(progressLine(read, expected, clusters, elapsedMs)).toBe(line)
  })
})

describe('openProgress', () => {
  function run(isTTY: boolean): string[] {
    const written: string[] = []
    const stream = {
      isTTY,
      columns: 40,
      write: (text: string) => written.push(text),
    } as unknown as NodeJS.WriteStream
    let nowMs = 0
    const progress = openProgress(stream, false, () => nowMs)
    progress.expect('prod', 300)
    for (let node = 0; node < 300; node += 1) {
      nowMs += 500
      progress.nodeRead()
    }
    progress.end()
    return written
  }

  it('rewrites one line on a terminal, never longer than it, and removes it at the end', () => {
    const written = run(true)
    expect(
      written.every(text => !text.includes('\n') && text.replace('\r\u001b[2K', '').length < 40),
    ).toBe(true)
    expect(written.at(-1)).toBe('\r\u001b[2K')
  })

  it('writes a line for each cluster and one a minute without a terminal', () => {
    expect(run(false)).toMatchSnapshot()
  })
})
