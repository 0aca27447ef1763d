/** What a kubelet upgrade changes, as lines for a terminal. */
import type { Insight } from '#model/input/record.ts'
import type { ChangedSetting, KubeletUpgrade } from '#model/prediction.ts'
import type { NextUpgrade } from '#model/upgrade.ts'
import { foldedLine } from '#report/text.ts'

const errorLimit = 400
const valueLimit = 80

/** Gates on disks, images, eviction and reading the node. */
const shownGates = new Set([
  'AllowOverwriteTerminationGracePeriodSeconds',
  'ImageMaximumGCAge',
  'ImageVolume',
  'InPlacePodVerticalScaling',
  'KubeletEnsureSecretPulledImages',
  'KubeletFineGrainedAuthz',
  'KubeletPSI',
  'KubeletSeparateDiskGC',
  'LocalStorageCapacityIsolation',
  'MemoryQoS',
  'NodeSwap',
  'PodDisruptionConditions',
  'PodLevelResources',
  'SidecarContainers',
])

export const upgradeText = (upgrade: KubeletUpgrade) => [
  ...nodeUpgradeText(upgrade),
  ...minorUpgradeText(upgrade),
]

/** What the upgrade changes on this node: whether its kubelet starts, its settings, its order of eviction. */
export function nodeUpgradeText(upgrade: NextUpgrade) {
  const { to, errors, basis, changedSettings, changedOrders } = upgrade
  const kubelet = `kubelet ${foldedLine(to, valueLimit)}`
  return [
    ...(errors.length === 0
      ? [`${kubelet} ${startTexts[basis ?? 'unread']}`]
      : errors.map(text => `${kubelet} would not start: ${foldedLine(text, errorLimit)}`)),
    ...changedSettings.map(
      setting => `${settingText(setting)}${basis === 'files' ? '' : ' unless a file sets it'}`,
    ),
    ...orderText(changedOrders),
  ]
}

const startTexts = {
  files: 'starts with the files on the disk',
  configz: 'starts with the running configuration; its files and flags were not read',
  unread: 'was not checked: neither files nor running configuration were read',
}

/** What the new minor does differently on every node with the same feature gates. */
export function minorUpgradeText({ changedBehaviors, changedGates }: KubeletUpgrade) {
  const gates = changedGates
    .filter(({ field }) => shownGates.has(field))
    .map(({ field, after }) => `${field} ${after === true ? 'on' : 'off'}`)
  const others = changedGates.length - gates.length
  return [
    ...changedBehaviors.map(({ minor, what }) => `since 1.${minor}: ${what}`),
    ...(changedGates.length === 0
      ? []
      : [`feature gates: ${[...gates, `${others} others (in the JSON)`].join(', ')}`]),
  ]
}

const settingText = ({ field, before, after }: ChangedSetting) =>
  `${field}: ${valueText(before)} → ${valueText(after)}`

const valueText = (value: unknown) =>
  value === null ? 'not set' : foldedLine(JSON.stringify(value), valueLimit)

function orderText(signals: KubeletUpgrade['changedOrders']) {
  if (!signals)
    return ['the order of eviction is unknown: configuration, pods or statistics were not read']
  return signals.length === 0 ? [] : [`another order of eviction under ${signals.join(', ')}`]
}

const adviceLimit = 800

/** An upgrade insight of EKS: what does not pass, why, and what EKS recommends. */
export function insightText({
  name = 'unnamed',
  kubernetesVersion,
  insightStatus: { status = 'UNKNOWN', reason } = {},
  recommendation,
}: Insight): [what: string, ...more: string[]] {
  const version = kubernetesVersion === undefined ? '' : ` for Kubernetes ${kubernetesVersion}`
  return [
    foldedLine(`${status}${version}: ${name}`, errorLimit),
    ...[reason, recommendation].flatMap(text => (text ? [foldedLine(text, adviceLimit)] : [])),
  ]
}
