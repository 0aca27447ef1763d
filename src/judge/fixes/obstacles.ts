/** What stops a fix from its file: a flag or later file overrides it, or the file is not read. */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { al2BootstrapFields } from '#facts/eks/ami-defaults.ts'
import { fieldOf, meaningOf } from '#facts/kubelet/fields.ts'
import { type Declaration, shownSetting, writtenSettings } from '#judge/drift/drift.ts'
import type { Origin } from '#judge/durable/durable.ts'
import { shorten } from '#judge/text.ts'
import type { Wish } from './agreement.ts'
import { companions } from './completion.ts'
import type { FixFact } from './fix-facts.ts'

interface Obstacle {
  path: string
  value: unknown
  isFlag: boolean
  who: string
}

export function actingPart({ config, origin, fact, declaration }: Wish) {
  const isConfiguration = (field: string) => writesConfiguration(origin, field)
  if (
    fact &&
    fact.unread !== null &&
    origin.amiFamily === 'AL2023' &&
    Object.keys(config).some(isConfiguration)
  ) {
    return {
      config: {},
      notes: [
        `What a NodeConfig says does not reach this kubelet: ${fact.unread}. Start it as the image does first.`,
      ],
    }
  }
  const blocking = obstaclesOf(origin, fact, declaration).filter(
    obstacle => isConfiguration(fieldOf(obstacle.path)) && blocks(obstacle, config),
  )
  if (blocking.length === 0) return { config, notes: [] }
  const acting = withoutBlocked(config, blocking)
  const lost = Object.entries(writtenSettings(config)).filter(
    ([path]) => !Object.hasOwn(writtenSettings(acting), path),
  )
  const missing = lost
    .filter(([path, value]) => !isDeclared(declaration, path, value))
    .map(([path, value]) => `${path} ${shownSetting(value)}`)
  const removals = [...Map.groupBy(blocking, ({ who }) => who)].map(
    ([who, of]) =>
      `Take ${shorten(of.map(({ path, value }) => `${path} ${shownSetting(value)}`).join(', '), 200)} away from ${shorten(who, 150)}: what stands there wins over what is written here.`,
  )
  return {
    config: acting,
    notes: [
      ...removals,
      ...(missing.length > 0
        ? [`Set here at the same time: ${shorten(missing.join(', '), 300)}.`]
        : []),
    ],
  }
}

/** Whether the target writes the field into the kubelet's configuration file. Any flag overrides that file. */
function writesConfiguration({ amiFamily, owner }: Origin, field: string) {
  if (amiFamily === 'Bottlerocket' || amiFamily === 'Windows') return false
  return (
    amiFamily !== 'AL2' ||
    owner === 'eksctl' ||
    owner === 'karpenter' ||
    !al2BootstrapFields.has(field)
  )
}

function obstaclesOf(
  { amiFamily }: Origin,
  fact: FixFact | null,
  declaration: Declaration | null,
): Obstacle[] {
  const onNode = (fact?.later ?? [])
    .filter(({ by }) => by === 'flag' || amiFamily === 'AL2023')
    .map(({ path, value, by, where }) => ({
      path,
      value,
      isFlag: by === 'flag',
      who: by === 'flag' ? `the flag ${where}` : where,
    }))
  const declared = (declaration?.settings ?? [])
    .filter(({ by, lostBy, value }) => by === 'flag' && lostBy === null && value !== undefined)
    .map(({ path, value, where }) => ({ path, value, isFlag: true, who: where }))
  // A flag must be removed where it is declared.
  return [
    ...declared,
    ...onNode.filter(({ path, isFlag }) => !isFlag || !declared.some(other => other.path === path)),
  ]
}

/** A flag replaces a whole map; a file replaces only the keys that it contains. */
function blocks({ path, value, isFlag }: Obstacle, config: RawObject) {
  const field = fieldOf(path)
  const set = config[field]
  if (set === undefined) return false
  if (!isRawObject(set)) return meaningOf(path, set) !== meaningOf(path, value)
  const key = path.slice(field.length + 1)
  return isFlag && field !== 'featureGates'
    ? true
    : Object.hasOwn(set, key) && meaningOf(path, set[key]) !== meaningOf(path, value)
}

function withoutBlocked(config: RawObject, blocking: readonly Obstacle[]): RawObject {
  const whole = new Set(
    blocking
      .filter(
        ({ path, isFlag }) => !path.includes('.') || (isFlag && fieldOf(path) !== 'featureGates'),
      )
      .map(({ path }) => fieldOf(path)),
  )
  for (const fields of companions)
    if (fields.some(field => whole.has(field))) for (const field of fields) whole.add(field)
  const paths = new Set(blocking.map(({ path }) => path))
  return Object.fromEntries(
    Object.entries(config).flatMap(([field, value]): [string, unknown][] => {
      if (whole.has(field)) return []
      if (!isRawObject(value)) return [[field, value]]
      const rest = Object.entries(value).filter(([key]) => !paths.has(`${field}.${key}`))
      return rest.length === 0 ? [] : [[field, Object.fromEntries(rest)]]
    }),
  )
}

const isDeclared = (declaration: Declaration | null, path: string, value: unknown) =>
  (declaration?.settings ?? []).some(
    setting =>
      setting.by === 'config' &&
      setting.path === path &&
      meaningOf(path, setting.value) === meaningOf(path, value),
  )
