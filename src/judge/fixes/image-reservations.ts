import { meaningOf } from '#facts/kubelet/setting-meaning.ts'
import type { Declaration } from '#judge/drift/declared-source.ts'
import { isEksReservation } from '#judge/reservations.ts'
import { bounded, counted } from '#judge/text.ts'
import { mapOf } from '#model/config-value.ts'
import type { AmiFamily } from '#model/node-identity.ts'
import type { RawObject } from '#model/record.ts'
import type { Wish } from './agreement.ts'

interface Reserving {
  config: RawObject
  notes: string[]
}

const computing: Partial<Record<AmiFamily, string>> = {
  AL2023: 'nodeadm',
  AL2: 'bootstrap.sh',
  Bottlerocket: 'Bottlerocket',
}
const computed = ['cpu', 'memory', 'ephemeral-storage']

/**
 * Removes reservations that would pin or override the values that the image computes.
 * @param isDeclared the operator has chosen these values @param sizes the group's instance types
 */
export function durableReservations(
  { config, origin, fact, declaration }: Wish,
  isDeclared: boolean,
  sizes: readonly string[],
): Reserving {
  const notes: string[] = []
  const image = origin.owner === 'hybrid' ? undefined : computing[origin.amiFamily]
  const running = mapOf(fact?.running?.kubeReserved)
  const wanted = mapOf(config.kubeReserved)
  let kube = wanted
  if (image !== undefined) {
    const changed = Object.entries(wanted).filter(
      ([key, value]) =>
        meaningOf('kubeReserved', running[key]) !== meaningOf('kubeReserved', value),
    )
    const overridden = isDeclared
      ? []
      : changed.filter(([key]) => isOverride(key, running)).map(([key]) => key)
    const kept = changed.filter(([key]) => !overridden.includes(key))
    if (overridden.length > 0) notes.push(takeAway(overridden, image, declaration))
    // On AL2 the flag replaces the whole map, including the values that bootstrap.sh computed.
    const isWhole = origin.amiFamily === 'AL2' && origin.owner !== 'karpenter' && kept.length > 0
    if (isWhole && sizes.length > 1) {
      notes.push(
        `Left out: on AL2 kubeReserved goes by flag, which would fix for all sizes what ${image} computes for each.`,
      )
      kube = {}
    } else kube = isWhole ? wanted : Object.fromEntries(kept)
  }
  const system = mapOf(config.systemReserved)
  if (
    sizes.length > 1 &&
    !isDeclared &&
    Object.keys(kube).length + Object.keys(system).length > 0
  ) {
    const names = [
      ...(Object.keys(kube).length > 0 ? ['kubeReserved'] : []),
      ...(Object.keys(system).length > 0 ? ['systemReserved'] : []),
    ]
    notes.push(
      `Left out ${names.join(' and ')}: the group has nodes of ${counted(sizes.length, 'size')} (${bounded(sizes.join(', '), 100)}), and one value does not suit them all. Make it groups of one size${names.includes('kubeReserved') ? ', or lower maxPods' : ''}.`,
    )
    return { config: without(config, ['kubeReserved', 'systemReserved']), notes }
  }
  if (config.kubeReserved === undefined) return { config, notes }
  return {
    config:
      Object.keys(kube).length === 0
        ? without(config, ['kubeReserved'])
        : { ...config, kubeReserved: kube },
    notes,
  }
}

/** Whether a changed key overrides the image's computed value. Memory does not if it fits the formula for some number of pods. */
function isOverride(key: string, running: RawObject): boolean {
  if (!computed.includes(key)) return false
  return key !== 'memory' || !isEksReservation('memory', String(running.memory), null)
}

function takeAway(keys: readonly string[], image: string, declaration: Declaration | null): string {
  const by = declaration?.settings.find(
    ({ path, value }) => value !== undefined && keys.some(key => path === `kubeReserved.${key}`),
  )
  return `Take kubeReserved ${keys.join(' and ')} away from ${by === undefined ? 'whatever sets it' : bounded(by.where, 150)}: ${image} computes it for each instance, and a value written here would hold for all of them.`
}

const without = (config: RawObject, fields: readonly string[]): RawObject =>
  Object.fromEntries(Object.entries(config).filter(([field]) => !fields.includes(field)))
