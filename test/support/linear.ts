/** Measures whether a reader takes linear time: by CPU time of two texts, one twice as long as the other. */

/** CPU time of this process, also if the text is refused. A busy machine changes it less than the clock. */
function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage()
  try {
    run()
  } catch {
    // A refusal costs time, too.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const attempts = 12

/** Below this time the noise of a busy machine counts more than the text. */
const noiseMs = 60

/** Whether twice the text takes at most three times the time. */
export function isLinear(read: (length: number) => unknown, length: number): boolean {
  let once = Number.POSITIVE_INFINITY
  let twice = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts; attempt++) {
    twice = Math.min(
      twice,
      cpuMs(() => read(2 * length)),
    )
    if (twice < noiseMs) return true
    once = Math.min(
      once,
      cpuMs(() => read(length)),
    )
    if (twice <= 3 * once) return true
  }
  return false
}

export const repeated = (piece: string) => (length: number) =>
  piece.repeat(Math.floor(length / piece.length))
/** About `length` characters of pieces that differ. */
export const numbered = (length: number, piece: (index: number) => string) =>
  Array.from({ length: Math.floor(length / piece(10_000).length) }, (_, index) =>
    piece(index),
  ).join('')
