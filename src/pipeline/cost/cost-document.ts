/** `docs/cost.md`, from the constants that `highwater cost` reckons with. */
import { lambdaMemoryMaxMiB } from '#facts/aws/limits.ts'
import { prices, pricesAsOf, pricesRegion } from '#facts/aws/prices.ts'
import { type CostEstimate, type CostQuestion, networks } from '#model/cost.ts'
import { defaultPolicy } from '#model/policy.ts'
import { readModes } from '#model/read-mode.ts'
import { fanOutSentences, lineText, runSentences, secondsText, usdText } from './cost-words.ts'
import { estimateCost } from './estimate.ts'

/** What is assumed where nobody says otherwise. */
export const usualFleet: Omit<CostQuestion, 'nodes' | 'clusters'> = {
  ...{
    accounts: 1,
    runsPerDay: 1,
    podsPerNode: 30,
    mode: 'proxy',
    network: 'public',
    recipients: 2,
  },
  // The stack's own defaults.
  ...{ retentionDays: 400, memoryMiB: 1024 },
}

/** That a function can be asked to have. */
export const mostMemoryMiB = lambdaMemoryMaxMiB

const fleets = [
  { nodes: 50, clusters: 1 },
  { nodes: 500, clusters: 5 },
  { nodes: 2_000, clusters: 10 },
  { nodes: 5_000, clusters: 20 },
  { nodes: 20_000, clusters: 40 },
]
const shown = { nodes: 2_000, clusters: 10 }
const large = { nodes: 20_000, clusters: 40 }

const estimateOf = (
  question: Partial<CostQuestion> & Pick<CostQuestion, 'nodes' | 'clusters'>,
): CostEstimate => estimateCost({ ...usualFleet, ...question }, defaultPolicy)

export function costDocument(): string {
  const whole = estimateOf(shown)
  const byMany = estimateOf(large)
  const { fanOut } = byMany
  const { aboveNodes } = defaultPolicy.fanOut
  if (fanOut === null || aboveNodes === null)
    throw new Error('the default policy hands no fleet over')
  return [
    '# What it costs',
    '',
    'Written by a test from the prices in `src/facts/aws/prices.ts` and what was measured in `src/facts/measured.ts`: `vitest run test/pipeline/cost.test.ts -u` writes it anew. `highwater cost --nodes N --clusters M` reckons with the same for your fleet, and asks nobody.',
    '',
    `US dollars a month, list prices of ${pricesRegion} as of ${pricesAsOf}, without free tiers. Where two numbers stand, the truth lies between them. A daily run by mode \`proxy\`, ${usualFleet.podsPerNode} pods a node, reports kept for ${usualFleet.retentionDays} days, a function of ${usualFleet.memoryMiB} MiB without a VPC:`,
    '',
    '| nodes | clusters | a run takes | US$ a month | by many functions | US$ a month |',
    '| ---: | ---: | ---: | ---: | ---: | ---: |',
    ...fleets.map(fleet => {
      const { question, run, totalUsd, fanOut: many } = estimateOf(fleet)
      const alone = `${secondsText(run.seconds)}${run.remarks.length === 0 ? '' : ' ¹'} | ${usdText(totalUsd)}`
      const shared =
        many === null ? '– | –' : `${secondsText(many.run.seconds)} | ${usdText(many.totalUsd)}`
      return `| ${question.nodes.toLocaleString('en-US')} | ${question.clusters} | ${alone} | ${shared} |`
    }),
    '',
    `Many functions ([deploy.md](deploy.md#beyond-one-function)) read fleets of more than ${aboveNodes.toLocaleString('en-US')} nodes, or of several accounts, where the stack has \`fanOut=on\`. ¹ More than a function of that memory and 15 minutes can do: \`highwater cost\` says what.`,
    '',
    `## Line by line: ${shown.nodes.toLocaleString('en-US')} nodes in ${shown.clusters} clusters`,
    '',
    runSentences(whole).join(' '),
    '',
    '| service | what | in a month | US$ |',
    '| --- | --- | --- | ---: |',
    ...tableRows(whole),
    '',
    `## By many functions: ${large.nodes.toLocaleString('en-US')} nodes in ${large.clusters} clusters`,
    '',
    fanOutSentences(byMany, fanOut).join(' '),
    '',
    '| service | what | in a month | US$ |',
    '| --- | --- | --- | ---: |',
    ...tableRows(fanOut),
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
      const totals = networks.map(network =>
        usdText(estimateOf({ ...shown, mode, network }).totalUsd),
      )
      return `| ${mode} | ${secondsText(estimateOf({ ...shown, mode }).run.seconds)} | ${totals.join(' | ')} |`
    }),
    '',
    '## Prices',
    '',
    `| service | US$ | for | source, ${pricesAsOf} |`,
    '| --- | ---: | --- | --- |',
    ...Object.values(prices).map(
      ({ service, usd, per, source }) => `| ${service} | ${decimal(usd)} | ${per} | ${source} |`,
    ),
    '',
    'They were not read by a machine, and change now and then. In other regions they are the same up to half as much again.',
    '',
  ].join('\n')
}

const tableRows = ({ lines, totalUsd }: Pick<CostEstimate, 'lines' | 'totalUsd'>): string[] => [
  ...lines.map(
    line =>
      `| ${line.service} | ${lineText(line).what} | ${lineText(line).amount} | ${usdText(line.usd)} |`,
  ),
  `| | **together** | | **${usdText(totalUsd)}** |`,
]

const decimal = (usd: number) => usd.toFixed(10).replace(/0+$/, '').replace(/\.$/, '')
