/**
 * Settings of Bottlerocket, as TOML in user data.
 * Source: bottlerocket-core-kit packages/kubernetes-*, kubelet-config; terraform-aws-eks modules/_user_data
 */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import {
  bottlerocketKeys,
  bottlerocketSettingOf,
  bottlerocketSince,
  bottlerocketTexts,
} from '#facts/eks/ami-defaults.ts'
import {
  comments,
  type DurableRequest,
  type DurableTarget,
  isEmpty,
  settableFields,
} from './durable.ts'

export const bottlerocket: DurableTarget = {
  target: 'bottlerocket',
  isFor: ({ amiFamily }) => amiFamily === 'Bottlerocket',

  snippet(request) {
    const { settings, notes } = bottlerocketTerms(request)
    if (isEmpty(settings)) return comments(['Bottlerocket takes no part of this fix.', ...notes])
    return `${comments([...inUserData, ...notes])}${bottlerocketToml(settings)}`
  },
}

const inUserData = [
  'User data of the launch template; a table that is there already takes these keys. Nodes have it when they are replaced.',
  'With terraform-aws-modules/eks it belongs into bootstrap_extra_args.',
]

export function bottlerocketTerms(request: DurableRequest) {
  const { config, leftOut } = settableFields(request, {
    refusal: field => (bottlerocketSettingOf.has(field) ? null : 'not settable on Bottlerocket'),
    keys: field => bottlerocketKeys[bottlerocketSettingOf.get(field) ?? ''],
  })
  const settings = Object.fromEntries(
    Object.entries(config).map(([field, value]) =>
      bottlerocketEntry(bottlerocketSettingOf.get(field) ?? field, value),
    ),
  )
  const young = Object.keys(settings).filter(setting => Object.hasOwn(bottlerocketSince, setting))
  return {
    settings,
    notes: [
      ...('eviction-hard' in settings
        ? ['eviction-hard replaces every default: a signal that it does not name is off.']
        : []),
      ...young.map(
        setting => `${setting} needs Bottlerocket ${bottlerocketSince[setting]} or later.`,
      ),
      ...leftOut,
    ],
  }
}

const bottlerocketEntry = (setting: string, value: unknown): [string, unknown] => [
  setting,
  bottlerocketTexts.has(setting) ? String(value) : value,
]

/** Maps become tables, which must be last in TOML. */
export function bottlerocketToml(settings: RawObject) {
  const entries = Object.entries(settings)
  const plain = entries.filter(([, value]) => !isRawObject(value))
  const tables = entries.flatMap(([setting, value]) =>
    isRawObject(value) ? [{ setting, value }] : [],
  )
  return [
    ...(plain.length > 0 ? [table('settings.kubernetes', plain)] : []),
    ...tables.map(({ setting, value }) =>
      table(`settings.kubernetes.${setting}`, Object.entries(value)),
    ),
  ].join('\n')
}

/** TOML writes all values that `settable` accepts in the same form as JSON. */
const table = (name: string, entries: readonly [string, unknown][]) =>
  `[${name}]\n${entries.map(([key, value]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${JSON.stringify(value)}\n`).join('')}`
