/** Settings as causes. Fields that are set together are one setting, so that their findings have one cause. */

import type { SettingCause, SettingLayer } from '#model/finding/cause.ts'

export const settingIn = (layer: SettingLayer, ...fields: string[]): SettingCause => ({
  kind: 'setting',
  layer,
  fields,
  isDefault: false,
})

export const kubeletSetting = (...fields: string[]): SettingCause => settingIn('kubelet', ...fields)

export const imageGcThresholds = kubeletSetting(
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
)
export const hardThresholds = kubeletSetting('evictionHard')
export const reservations = kubeletSetting(
  'kubeReserved',
  'systemReserved',
  'enforceNodeAllocatable',
)
export const logRotation = kubeletSetting('containerLogMaxSize', 'containerLogMaxFiles')
