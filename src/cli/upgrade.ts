/** `highwater upgrade`: what a newer kubelet minor changes in each group of nodes. */

import { Command } from 'commander'
import { firstNames, pageOf, shellWord, utcMinute } from '#base/text.ts'
import { plainClusterName } from '#model/input/record.ts'
import { parseKubeletVersion } from '#model/plan.ts'
import type {
  ClusterInsights,
  PlannedUpgrade,
  UpgradeDocument,
  UpgradeStep,
} from '#model/upgrade.ts'
import { plannedUpgrades } from '#pipeline/audit/fleet-upgrade.ts'
import { insightText, minorUpgradeText, nodeUpgradeText } from '#report/terminal/upgrade-text.ts'
import { plural } from '#report/text.ts'
import {
  addFleetOptions,
  addFormatOption,
  exitAction,
  type ReadingOptions,
  snapshotOption,
} from './options.ts'
import { openReading } from './source.ts'
import {
  clean,
  exitCode,
  nodeNames,
  printDocument,
  type Screen,
  type Sheet,
  sheetOf,
} from './terminal.ts'

interface UpgradeOptions extends ReadingOptions {
  to: string
}

export function upgradeCommand() {
  const command = new Command('upgrade')
    .requiredOption('--to <version>', 'the kubelet minor, for example 1.36', parseKubeletVersion)
    .addOption(snapshotOption())
  return addFormatOption(addFleetOptions(command))
    .addHelpText(
      'after',
      `
Nodes read with --mode ssm or both are checked by their files and flags, the
others by their running configuration.

Examples:
  highwater upgrade --to 1.36 --snapshot snapshot.ndjson.gz
  highwater upgrade --to 1.36 --cluster prod --mode both
  highwater upgrade --to 1.36 --snapshot snapshot.ndjson.gz --nodegroup general

Exit codes: 0 every kubelet would start; 1 a kubelet would not start; 2 bad
usage, or no node was read; 3 a kubelet could not be checked, or a part of the
input could not be read; 4 failed.`,
    )
    .action(exitAction(runUpgrade))
}

async function runUpgrade(options: UpgradeOptions): Promise<number> {
  const reading = openReading(options)
  try {
    const document = await plannedUpgrades(reading.records(), options.to, reading.nodeRead)
    printDocument(options.format, document, screen => upgradesText(document, screen))
    const { upgrades, upToDate, leftOut, inputErrors } = document
    if (upgrades.length + upToDate + leftOut === 0) {
      process.stderr.write('There is no node in what was read\n')
      return exitCode.badInput
    }
    if (upgrades.some(({ errors }) => errors.length > 0)) return exitCode.findings
    const isChecked = upgrades.every(({ basis }) => basis !== null)
    return isChecked && inputErrors.length === 0 ? exitCode.ok : exitCode.unread
  } finally {
    reading.end()
  }
}

/** What a kubelet minor changes in each group, and the steps to it, for a terminal. */
const widest = 120
const lineLimit = 500
const insightLimit = 1_000

/** The text ends with a newline. */
function upgradesText(document: UpgradeDocument, screen: Screen) {
  const sheet = sheetOf(screen, widest)
  const { upgrades, inputErrors } = document
  return pageOf(
    summaryLines(document, sheet),
    inputErrors.map(error => sheet.wrap(clean(error, lineLimit), '! ', '  ')),
    [...Map.groupBy(upgrades, ({ cluster }) => cluster).values()].map(ofCluster => [
      clusterLines(ofCluster, sheet),
      ofCluster.map(upgrade => groupLines(upgrade, commonStepText(ofCluster), sheet)),
    ]),
    minorLines(upgrades, sheet),
    insightsLines(document.insights, sheet),
  )
}

function summaryLines(document: UpgradeDocument, { bold, wrap }: Sheet) {
  const { takenAt, to, upgrades, upToDate, leftOut } = document
  const nodeCountIn = (list: readonly PlannedUpgrade[]) =>
    list.reduce((sum, { nodes }) => sum + nodes.count, 0)
  const refused = nodeCountIn(upgrades.filter(({ errors }) => errors.length > 0))
  const changed = nodeCountIn(
    upgrades.filter(
      one =>
        one.errors.length === 0 &&
        one.changedSettings.length + (one.changedOrders ?? []).length > 0,
    ),
  )
  const unchecked = nodeCountIn(
    upgrades.filter(one => one.errors.length === 0 && one.basis === null),
  )
  const minute = utcMinute(takenAt)
  const time = minute === null ? '' : `, read at ${minute}`
  return [
    wrap(
      `Kubelet ${to} on ${plural(nodeCountIn(upgrades), 'node')}: ${refused} would not start, ${changed} would start with other settings or another order of eviction${unchecked === 0 ? '' : `, ${unchecked} could not be checked`}`,
    ).map(bold),
    wrap(
      `${upToDate} already run this minor or a newer one${leftOut === 0 ? '' : `, ${leftOut} are upgraded by AWS, report no version or run an unsupported minor`}${time}`,
    ),
  ]
}

/** The control plane comes first: a kubelet must not be newer. */
function clusterLines(all: readonly PlannedUpgrade[], { bold, indented }: Sheet) {
  const [first] = all
  if (!first) return null
  const common = commonStepText(all)
  const { cluster, controlPlane, steps, to } = first
  const version = controlPlane === null ? 'version not read' : clean(controlPlane)
  const command = `aws eks update-cluster-version --name ${clusterOf(first)} --kubernetes-version ${minorAfter(controlPlane ?? to, 1)}`
  return [
    '',
    bold(`${clean(cluster)}, control plane ${version}`),
    steps.includes('control-plane') &&
      indented(`First, minor by minor to ${minorOf(to)}: ${command}`),
    common !== null && indented(common),
  ]
}

/** The step between, if every group of the cluster has it, is said once. */
const commonStepText = (all: readonly PlannedUpgrade[]) => {
  const [first, ...others] = all.map(upgrade =>
    upgrade.steps.includes('in-between') ? stepTexts['in-between'](upgrade) : null,
  )
  return others.length > 0 && others.every(text => text === first) ? (first ?? null) : null
}

function groupLines(upgrade: PlannedUpgrade, common: string | null, sheet: Sheet) {
  const { paint, wrap, indented } = sheet
  const { group, from, nodes, errors, steps } = upgrade
  const title = `${group.kind.toLowerCase()} ${clean(group.name)} from ${clean(from ?? 'unknown')} (${nodeNames(nodes)})`
  return [
    wrap(title, '  ', '    ').map(line => (errors.length > 0 ? paint('red', line) : line)),
    nodeUpgradeText(upgrade).map(line => indented(clean(line, lineLimit), 4)),
    steps
      .filter(step => step !== 'control-plane')
      .map(step => stepTexts[step](upgrade))
      .filter(text => text !== common)
      .map(text => wrap(text, '    → ', '      ')),
  ]
}

const stepTexts: Record<
  Exclude<UpgradeStep, 'control-plane'>,
  (upgrade: PlannedUpgrade) => string
> = {
  'in-between': ({ to, allowedBehind }) => {
    const behind = allowedBehind ?? 0
    return `Before the control plane is ${minorOf(to)}, upgrade the nodes to ${minorAfter(to, -behind)} or a later minor: a kubelet may be ${plural(behind, 'minor')} older at most`
  },
  'other-ami': ({ to }) =>
    `Move the pods to a group of Amazon Linux 2023 or Bottlerocket: EKS publishes no AMI of Amazon Linux 2 for ${minorOf(to)}. Declare the kubelet settings there again`,
  settings: () =>
    'Take away what the kubelet refuses, where it is declared: launch template, NodeConfig, EC2NodeClass or Bottlerocket settings',
  replace: replaceText,
}

function replaceText({ owner, group, to, ...upgrade }: PlannedUpgrade) {
  if (owner === 'managed-nodegroup')
    return `aws eks update-nodegroup-version --cluster-name ${clusterOf(upgrade)} --nodegroup-name ${shellWord(clean(group.name))} --kubernetes-version ${minorOf(to)}`
  // Source: EKS user guide, Upgrade hybrid nodes
  if (owner === 'hybrid')
    return `Drain each machine, and upgrade it there: nodeadm upgrade ${minorOf(to)} -c file://nodeConfig.yaml`
  return owner === 'karpenter'
    ? `Let the EC2NodeClass select the AMI of ${minorOf(to)}; Karpenter then replaces the nodes`
    : `Start nodes with the AMI of ${minorOf(to)}, and drain the old ones`
}

const clusterOf = ({ cluster }: Pick<PlannedUpgrade, 'cluster'>) =>
  shellWord(clean(plainClusterName(cluster)))
const minorOf = (version: string) => clean(version).replace(/^v?(1\.\d+).*/, '$1')
const minorAfter = (version: string, minors: number) =>
  `1.${Number(minorOf(version).slice(2)) + minors}`

/** Once for all groups that come from the same minor. */
function minorLines(upgrades: readonly PlannedUpgrade[], { bold, indented }: Sheet) {
  const texts = upgrades.map(upgrade =>
    JSON.stringify([
      `${minorOf(upgrade.from ?? 'unknown')} → ${minorOf(upgrade.to)}`,
      ...minorUpgradeText(upgrade),
    ]),
  )
  return [...new Set(texts)].toSorted().map(text => {
    const [title, ...lines]: string[] = JSON.parse(text)
    return [
      '',
      bold(`Changes with ${title} on each of these nodes`),
      lines.map(line => indented(line)),
    ]
  })
}

/** What EKS itself warns of before an upgrade of each cluster. */
function insightsLines(all: readonly ClusterInsights[], sheet: Sheet) {
  const isPassing = ({ insights, unread }: ClusterInsights) =>
    insights.length === 0 && unread === null
  const passing = all.filter(isPassing).map(({ cluster }) => clean(cluster))
  return [
    all.filter(one => !isPassing(one)).map(one => insightLines(one, sheet)),
    passing.length > 0 && [
      '',
      sheet.wrap(`Every upgrade insight of EKS passes in ${firstNames(passing, shownPassing)}`),
    ],
  ]
}

const shownPassing = 10

function insightLines({ cluster, insights, unread }: ClusterInsights, { bold, indented }: Sheet) {
  const title = insights.length === 0 ? 'not read' : `${insights.length} not passing`
  return [
    '',
    bold(`EKS upgrade insights of ${clean(cluster)}: ${title}`),
    unread !== null && indented(`! Not all were read: ${clean(unread, lineLimit)}`),
    insights.map(insight => {
      const [what, ...more] = insightText(insight)
      return [indented(clean(what)), more.map(text => indented(clean(text, insightLimit), 4))]
    }),
  ]
}
