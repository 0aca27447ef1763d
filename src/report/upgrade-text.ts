/** What a kubelet upgrade changes, as lines for a terminal. */
import type { ChangedSetting, KubeletUpgrade } from '#model/prediction.ts'
import { foldedLine } from './text.ts'

const errorLimit = 400
const valueLimit = 80

export function upgradeText(upgrade: KubeletUpgrade): string[] {
  const { to, errors, isFromFiles, changedSettings, changedGates, changedOrders } = upgrade
  const kubelet = `kubelet ${foldedLine(to, valueLimit)}`
  const gates = changedGates.map(({ field, after }) => `${field} ${after === true ? 'on' : 'off'}`)
  const starts = isFromFiles
    ? `${kubelet} starts with the files on the disk`
    : `${kubelet} starts with the running configuration; its files were not read, so new defaults are unknown`
  return [
    ...(errors.length === 0
      ? [starts]
      : errors.map(text => `${kubelet} would not start: ${foldedLine(text, errorLimit)}`)),
    ...changedSettings.map(settingText),
    ...(gates.length === 0 ? [] : [`feature gates: ${gates.join(', ')}`]),
    ...orderText(changedOrders),
  ]
}

const settingText = ({ field, before, after }: ChangedSetting): string =>
  `${field}: ${valueText(before)} → ${valueText(after)}`

const valueText = (value: unknown): string =>
  value === null ? 'not set' : foldedLine(JSON.stringify(value), valueLimit)

function orderText(signals: KubeletUpgrade['changedOrders']): string[] {
  if (signals === null) return ['the order of eviction is unknown: pods were not read']
  return signals.length === 0 ? [] : [`another order of eviction under ${signals.join(', ')}`]
}
