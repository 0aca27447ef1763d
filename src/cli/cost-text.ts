/** An estimate as a terminal tells it. */
import type { CostEstimate } from '#model/cost.ts'
import { lineText, runSentences, usdText } from '#pipeline/cost/cost-words.ts'
import { painter, type Screen, wrap } from './terminal.ts'

export function costText(estimate: CostEstimate, { hasColour, columns }: Screen): string {
  const paint = painter(hasColour)
  const { question, run, lines, totalUsd, prices, notCounted } = estimate
  const count = (value: number, noun: string) => `${value.toLocaleString('en-US')} ${noun}${value === 1 ? '' : 's'}`
  const asked = `${count(question.nodes, 'node')} in ${count(question.clusters, 'cluster')} and ${count(question.accounts, 'account')}, read ${count(question.runsPerDay, 'time')} a day by mode ${question.mode}`
  const rows = lines.map(line => ({ ...lineText(line), usd: usdText(line.usd), service: line.service }))
  const width = (of: (row: (typeof rows)[number]) => string) => Math.max(...rows.map(row => of(row).length))
  const [services, usds] = [
    width(({ service }) => service),
    Math.max(
      width(({ usd }) => usd),
      usdText(totalUsd).length,
    ),
  ]
  const table = rows.map(
    ({ service, what, amount, usd }) => `  ${service.padEnd(services)}  ${usd.padStart(usds)}  ${what} ${paint('dim', `(${amount})`)}`,
  )
  return [
    ...wrap(asked, columns, ''),
    '',
    ...wrap(runSentences(estimate).join(' '), columns, ''),
    ...run.remarks.flatMap(remark => wrap(remark, columns, '! ', '  ')),
    '',
    `  ${'US$ a month'.padEnd(services)}  ${''.padStart(usds)}`.trimEnd(),
    ...table,
    paint('bold', `  ${'Total'.padEnd(services)}  ${usdText(totalUsd).padStart(usds)}`),
    '',
    ...wrap(`List prices of ${prices.region} as of ${prices.asOf}, from docs/cost.md. Not counted:`, columns, ''),
    ...notCounted.flatMap(text => wrap(text, columns, '- ', '  ')),
    '',
  ].join('\n')
}
