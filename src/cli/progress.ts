/** Progress of a live run: on a terminal one rewritten line; elsewhere a line for each cluster, and one line a minute. */
import { clean } from './terminal.ts'
import { verbosity } from './verbosity.ts'

const quietEveryMs = 60_000
const redrawEveryMs = 120

export interface Progress {
  /** Called when the number of nodes of a cluster is known. */
  expect(cluster: string, nodes: number): void
  nodeRead(): void
  /** Called before nodes, or none, are read again after that time; null: no time is left for it. */
  wait(nodes: number, waitMs: number | null): void
  end(): void
}

/** @param stream standard error, so that standard output contains only the report */
export function openProgress(
  stream: NodeJS.WriteStream,
  now: () => number = () => performance.now(),
): Progress {
  if (verbosity.isQuiet) return { expect() {}, nodeRead() {}, wait() {}, end() {} }
  const startMs = now()
  const expected = new Map<string, number>()
  let read = 0
  let drawnMs = stream.isTTY ? Number.NEGATIVE_INFINITY : startMs
  const draw = () => {
    drawnMs = now()
    const line = progressLine(read, sum(expected.values()), expected.size, drawnMs - startMs)
    stream.write(
      stream.isTTY ? `\r\u001b[2K${line.slice(0, (stream.columns ?? 80) - 1)}` : `${line}\n`,
    )
  }
  const maybeDraw = () => {
    if (now() - drawnMs >= (stream.isTTY ? redrawEveryMs : quietEveryMs)) draw()
  }
  return {
    expect(cluster, nodes) {
      expected.set(cluster, nodes)
      if (stream.isTTY) maybeDraw()
      else stream.write(`reading ${count(nodes)} nodes of cluster ${clean(cluster)}\n`)
    },
    nodeRead() {
      read += 1
      maybeDraw()
    },
    wait(nodes, waitMs) {
      if (stream.isTTY) stream.write('\r\u001b[2K')
      if (nodes === 0) {
        stream.write('no node with little headroom and unknown growth: nothing is read again\n')
        return
      }
      const again = `${count(nodes)} node${nodes === 1 ? '' : 's'} again`
      stream.write(
        waitMs === null
          ? `no time is left to read ${again}: growth stays unknown (--deadline)\n`
          : `reading ${again} in ${timeLeft(waitMs / 1000)}, for the rate of growth\n`,
      )
    },
    end() {
      if (stream.isTTY) stream.write('\r\u001b[2K')
    },
  }
}

/** `reading 1,200 of 5,000 nodes in 3 clusters · 48/s · 1 min 19 s left` */
export function progressLine(
  read: number,
  expected: number,
  clusters: number,
  elapsedMs: number,
): string {
  const perSecond = elapsedMs > 0 ? (read * 1000) / elapsedMs : 0
  const parts = [
    `reading ${count(read)} of ${count(Math.max(read, expected))} nodes in ${clusters} cluster${clusters === 1 ? '' : 's'}`,
  ]
  if (perSecond > 0)
    parts.push(`${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`)
  if (perSecond > 0 && expected > read)
    parts.push(`${timeLeft((expected - read) / perSecond)} left`)
  return parts.join(' · ')
}

function timeLeft(seconds: number): string {
  const rounded = Math.ceil(seconds)
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`
}

const count = (value: number) => value.toLocaleString('en-US')
const sum = (values: Iterable<number>) =>
  Array.from(values).reduce((total, value) => total + value, 0)
