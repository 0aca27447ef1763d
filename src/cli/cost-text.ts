/** An estimate as a terminal tells it. */
import type { Bounds, CostEstimate, CostLine } from '#model/cost.ts'
import { fanOutSentences, lineText, runSentences, usdText } from '#pipeline/cost/cost-words.ts'
import { painter, type Screen, wrap } from './terminal.ts'

export function costText(estimate: CostEstimate, { hasColour, columns }: Screen): string {
  const paint = painter(hasColour)
  const { question, fanOut, prices, notCounted } = estimate
  const count = (value: number, noun: string) =>
    `${value.toLocaleString('en-US')} ${noun}${value === 1 ? '' : 's'}`
  const asked = `${count(question.nodes, 'node')} in ${count(question.clusters, 'cluster')} and ${count(question.accounts, 'account')}, read ${count(question.runsPerDay, 'time')} a day by mode ${question.mode}`
  const part = (sentences: string[], { run, lines, totalUsd }: Part) => [
    ...wrap(sentences.join(' '), columns, ''),
    ...run.remarks.flatMap(remark => wrap(remark, columns, '! ', '  ')),
    '',
    ...table(lines, totalUsd, { paint, columns }),
    '',
  ]
  return [
    ...wrap(asked, columns, ''),
    '',
    ...part(runSentences(estimate), estimate),
    ...(fanOut === null ? [] : part(fanOutSentences(estimate, fanOut), fanOut)),
    ...wrap(
      `List prices of ${prices.region} as of ${prices.asOf}, from docs/cost.md. Not counted:`,
      columns,
      '',
    ),
    ...notCounted.flatMap(text => wrap(text, columns, '- ', '  ')),
    '',
  ].join('\n')
}

type Part = Pick<CostEstimate, 'run' | 'lines' | 'totalUsd'>

function table(
  lines: readonly CostLine[],
  total: Bounds,
  { paint, columns }: { paint: ReturnType<typeof painter>; columns: number },
): string[] {
  const rows = lines.map(line => ({
    ...lineText(line),
    usd: usdText(line.usd),
    service: line.service,
  }))
  const services = Math.max(...rows.map(({ service }) => service.length))
  const usds = Math.max(...rows.map(({ usd }) => usd.length), usdText(total).length)
  return [
    `  ${'US$ a month'.padEnd(services)}`.trimEnd(),
    ...rows.flatMap(({ service, what, amount, usd }) => {
      const head = `  ${service.padEnd(services)}  ${usd.padStart(usds)}  `
      return wrap(`${what} (${amount})`, columns, head, ' '.repeat(head.length))
    }),
    paint('bold', `  ${'Total'.padEnd(services)}  ${usdText(total).padStart(usds)}`),
  ]
}
