/** `docs/cost.md`, from the constants that `highwater cost` reckons with. */
import { prices, pricesAsOf, pricesRegion } from '#facts/aws/prices.ts'
import { type CostEstimate, type CostQuestion, networks } from '#model/cost.ts'
import { defaultPolicy } from '#model/policy.ts'
import { readModes } from '#model/read-mode.ts'
import { lineText, runSentences, secondsText, usdText } from './cost-words.ts'
import { estimateCost } from './estimate.ts'

/** What is assumed where nobody says otherwise. */
export const usualFleet: Omit<CostQuestion, 'nodes' | 'clusters'> = {
  ...{ accounts: 1, runsPerDay: 1, podsPerNode: 30, mode: 'proxy', network: 'public', recipients: 2 },
  // The stack's own defaults.
  ...{ retentionDays: 400, memoryMiB: 1024 },
}

const fleets = [
  { nodes: 50, clusters: 1 },
  { nodes: 500, clusters: 5 },
  { nodes: 2_000, clusters: 10 },
  { nodes: 5_000, clusters: 20 },
]
const shown = { nodes: 2_000, clusters: 10 }

const estimateOf = (question: Partial<CostQuestion> & Pick<CostQuestion, 'nodes' | 'clusters'>): CostEstimate =>
  estimateCost({ ...usualFleet, ...question }, defaultPolicy)

export function costDocument(): string {
  const whole = estimateOf(shown)
  return [
    '# What it costs',
    '',
    'Written by a test from the prices in `src/facts/aws/prices.ts` and what was measured in `src/facts/measured.ts`: `vitest run test/pipeline/cost.test.ts -u` writes it anew. `highwater cost --nodes N --clusters M` reckons with the same for your fleet, and asks nobody.',
    '',
    `US dollars a month, list prices of ${pricesRegion} as of ${pricesAsOf}, without free tiers. Where two numbers stand, the truth lies between them. A daily run by mode \`proxy\`, ${usualFleet.podsPerNode} pods a node, reports kept for ${usualFleet.retentionDays} days, a function of ${usualFleet.memoryMiB} MiB without a VPC:`,
    '',
    '| nodes | clusters | a run takes | US$ a month |',
    '| ---: | ---: | ---: | ---: |',
    ...fleets.map(fleet => {
      const { question, run, totalUsd } = estimateOf(fleet)
      return `| ${question.nodes.toLocaleString('en-US')} | ${question.clusters} | ${secondsText(run.seconds)} | ${usdText(totalUsd)} |`
    }),
    '',
    `## Line by line: ${shown.nodes.toLocaleString('en-US')} nodes in ${shown.clusters} clusters`,
    '',
    runSentences(whole).join(' '),
    '',
    '| service | what | in a month | US$ |',
    '| --- | --- | --- | ---: |',
    ...whole.lines.map(line => `| ${line.service} | ${lineText(line).what} | ${lineText(line).amount} | ${usdText(line.usd)} |`),
    `| | **together** | | **${usdText(whole.totalUsd)}** |`,
    '',
    'Not counted:',
    '',
    ...whole.notCounted.map(text => `- ${text}`),
    '',
    '## The ways to read, and to get there',
    '',
    'The same fleet by other modes and networks. `nat`: through a NAT gateway that is there anyway. `endpoints`: a VPC without a way out, with interface endpoints of its own ([air-gapped.md](air-gapped.md)).',
    '',
    `| mode | a run takes | ${networks.map(network => `US$, ${network}`).join(' | ')} |`,
    `| --- | ---: | ${networks.map(() => '---:').join(' | ')} |`,
    ...readModes.map(mode => {
      const totals = networks.map(network => usdText(estimateOf({ ...shown, mode, network }).totalUsd))
      return `| ${mode} | ${secondsText(estimateOf({ ...shown, mode }).run.seconds)} | ${totals.join(' | ')} |`
    }),
    '',
    '## Prices',
    '',
    `| service | US$ | for | source, ${pricesAsOf} |`,
    '| --- | ---: | --- | --- |',
    ...Object.values(prices).map(({ service, usd, per, source }) => `| ${service} | ${decimal(usd)} | ${per} | ${source} |`),
    '',
    'They were not read by a machine, and change now and then. In other regions they are the same up to half as much again.',
    '',
  ].join('\n')
}

const decimal = (usd: number) => usd.toFixed(10).replace(/0+$/, '').replace(/\.$/, '')
