/** Derived from the table of KubeletConfiguration fields (`model/kubelet/fields.ts`): defaults, flags, plannable fields. */
import type { KubeletConfiguration } from '#model/kubelet/configuration.ts'
import {
  type Comparison,
  configurationFields,
  configurationStructs,
  type KubeletField,
} from '#model/kubelet/fields.ts'
import type { Gate } from './feature-gates.ts'
import type { KubeletFeatures } from './features.ts'

/** A field of the table. Its gate is one that the kubelet knows. */
export interface FieldFacts extends KubeletField {
  gate?: Gate
}

export const isKnownField = (
  { since = 0 }: FieldFacts,
  { rulesOfMinor }: KubeletFeatures,
): boolean => since <= rulesOfMinor

export function fieldDefault(
  { default: single, defaults }: FieldFacts,
  { rulesOfMinor }: KubeletFeatures,
): unknown {
  const byMinor = Object.entries(defaults ?? {}).findLast(
    ([minor], index) => index === 0 || Number(minor) <= rulesOfMinor,
  )?.[1]
  return byMinor === undefined ? single : byMinor
}

/** Go's zero values of types that are no pointers. `configz` shows no empty lists and maps. */
const zeros: Readonly<Record<string, unknown>> = {
  bool: false,
  int32: 0,
  int64: 0,
  string: '',
  Duration: '0s',
}

type AlwaysDefaulted = Pick<
  KubeletConfiguration,
  | 'imageGCHighThresholdPercent'
  | 'imageGCLowThresholdPercent'
  | 'evictionPressureTransitionPeriod'
  | 'evictionMaxPodGracePeriod'
>

const comparedFields = Object.entries(configurationFields).flatMap(([name, field]) =>
  field.compare === undefined ? [] : [{ ...field, name, compare: field.compare }],
)

/**
 * Values that `configz` shows for unset fields that are compared; the same in all supported minors that know the field. Defaults of eviction maps
 * depend on the version and are in eviction-defaults.ts.
 */
export const configurationDefaults: KubeletConfiguration & Required<AlwaysDefaulted> =
  Object.fromEntries(
    comparedFields
      .map(field => [field.name, field.default ?? zeros[field.type]] as const)
      .filter(([, value]) => value !== undefined),
  ) as KubeletConfiguration & Required<AlwaysDefaulted>

export interface FieldComparison {
  kind: Comparison
  dependsOnSize: boolean
}

/** The fields that control GC, eviction, logs, reservations and pulls, and how their values are compared. */
export const fieldComparisons: ReadonlyMap<keyof KubeletConfiguration, FieldComparison> = new Map(
  comparedFields.map(field => [
    field.name as keyof KubeletConfiguration,
    { kind: field.compare, dependsOnSize: field.dependsOnSize === true },
  ]),
)

export interface FlagFacts {
  field: string
  form?: KubeletField['flagForm']
}

/** `cpuCFSQuota` becomes `cpu-cfs-quota`. */
const kebabCase = (name: string) =>
  name.replace(/([A-Z])(?=[A-Z][a-z])|([a-z0-9])(?=[A-Z])/g, '$1$2-').toLowerCase()

/** Kubelet flags that set a field. Left out: manifest-url-header, register-with-taints, reserved-memory, vmodule. */
export const configurationFlags: Readonly<Record<string, FlagFacts>> = Object.fromEntries(
  flagsBelow(configurationFields, ''),
)

function flagsBelow(
  fields: Readonly<Record<string, KubeletField>>,
  parent: string,
): [flag: string, FlagFacts][] {
  const structs: Readonly<Record<string, Readonly<Record<string, KubeletField>>>> =
    configurationStructs
  return Object.entries(fields).flatMap(([name, { type, flag, flagForm }]) => {
    const path = `${parent}${name}`
    const flagName = flag === true ? kebabCase(name) : flag
    const own: [string, FlagFacts][] =
      flagName === undefined
        ? []
        : [[flagName, { field: path, ...(flagForm && { form: flagForm }) }]]
    const struct = Object.hasOwn(structs, type) ? structs[type] : undefined
    return struct === undefined ? own : [...own, ...flagsBelow(struct, `${path}.`)]
  })
}

/** Why the fields of a group can be changed while pods run. */
const planReasons = {
  imageGC: 'decides when unused images go; no running container loses anything',
  eviction: 'decides when pods are evicted; replayed on what is there before it is written',
  logs: 'the kubelet rotates by it from its next look at the files',
  reservations:
    'moves what pods may use; pods are admitted anew by it at the restart, which is checked before',
} as const

/**
 * KubeletConfiguration fields that a plan may change, with the reason. A plan writes no other field. Left out on purpose:
 * enforceNodeAllocatable and the reserved cgroups (a wrong name keeps the kubelet from starting, a right one may kill daemons),
 * reservedSystemCPUs and the managers' policies (their state files stop the next start), maxPods, gates, paths, and all security settings.
 */
export const plannableFields: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(configurationFields).flatMap(([name, { plannable }]) =>
    plannable === undefined ? [] : [[name, planReasons[plannable]]],
  ),
)

export const isPlannable = (field: string): boolean => Object.hasOwn(plannableFields, field)

/** Fields that change node allocatable. Upstream: pkg/kubelet/cm/node_container_manager_linux.go getNodeAllocatableAbsolute, hardEvictionReservation */
export const allocatableFields: ReadonlySet<string> = new Set([
  'evictionHard',
  'kubeReserved',
  'systemReserved',
  'mergeDefaultEvictionSettings',
])
