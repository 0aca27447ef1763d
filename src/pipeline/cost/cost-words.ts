/** An estimate in words and numbers, for the terminal and for `docs/cost.md`. */
import type { Bounds, CostEstimate, CostLine, FanOutEstimate, RunEstimate } from '#model/cost.ts'

/** `0.41`, or `0.41 – 0.82`; what is less than a cent is `< 0.01`. */
export function usdText({ least, most }: Bounds): string {
  const [from, to] = [least, most].map(usd =>
    usd > 0 && usd < 0.01
      ? '< 0.01'
      : usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
  )
  return from === to ? `${from}` : `${from?.replace('< 0.01', '0.00')} – ${to}`
}

/** `5,000`, `1.52`, `0.000031`, or both bounds. */
export function quantityText({ least, most }: Bounds): string {
  const text = (value: number) =>
    value.toLocaleString(
      'en-US',
      value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 },
    )
  const [from, to] = [text(least), text(most)]
  return from === to ? from : `${from} – ${to}`
}

/** `45 s`, `5 to 7 min` */
export function secondsText({ least, most }: Bounds): string {
  const isLong = most >= 120
  const [from, to] = [least, most].map(seconds =>
    isLong ? Math.round(seconds / 6) / 10 : Math.round(seconds),
  )
  return `${from === to ? from : `${from} to ${to}`} ${isLong ? 'min' : 's'}`
}

/** What is paid for, and how much of the bill's unit that is. */
export const lineText = ({ what, quantity, unit }: CostLine) => ({
  what,
  amount: `${quantityText(quantity)} × ${unit}`,
})

/** What the run is, in two sentences. */
export const runSentences = ({ question, run }: CostEstimate): string[] => [
  `${lengthOf(run)}, and about ${run.peakMiB} MiB of the function's ${question.memoryMiB}.`,
  askedSentence(run),
]

/** And what it is by many functions. */
export const fanOutSentences = (
  { question }: CostEstimate,
  { run, invocations, functionSeconds, stateTransitions }: FanOutEstimate,
): string[] => [
  `With fanOut=on many functions read this fleet. ${lengthOf(run)}; ${quantityText(invocations)} invocations of together ${secondsText(functionSeconds)} share it, and about ${run.peakMiB} MiB of ${question.memoryMiB} are the most that one of them takes.`,
  `The state machine goes through ${quantityText(stateTransitions)} states. Clusters are asked for the same as by one function.`,
]

const lengthOf = (run: RunEstimate) =>
  `A run takes ${secondsText(run.seconds)}, as fast as ${run.boundBy} allows`

function askedSentence(run: RunEstimate): string {
  const { least, most } = run.bytes
  const short = (value: number) => value.toLocaleString('en-US', { maximumSignificantDigits: 2 })
  const bytes = (value: number) =>
    value >= 1e9 ? `${short(value / 1e9)} GB` : `${short(value / 1e6)} MB`
  return `It asks API servers ${run.kubernetesRequests.toLocaleString('en-US')} times${run.ssmCalls.most > 0 ? ` and SSM ${quantityText(run.ssmCalls)} times` : ''}, and reads ${bytes(least)} to ${bytes(most)}.`
}
