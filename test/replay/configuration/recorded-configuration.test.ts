import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { mapOf, type RawObject } from '#base/raw-object.ts'
import { featuresOf } from '#facts/kubelet/features.ts'
import { flagSettings } from '#facts/kubelet/flag-settings.ts'
import {
  configzOf,
  featureGateError,
  flagsOnlyConfiguration,
  LoadError,
  loadConfigFile,
} from '#replay/configuration/configuration-file.ts'
import { withFlags } from '#replay/configuration/next-start.ts'
import { mergeKubeletConfigurations } from '#replay/configuration/start-settings.ts'
import { isEndpointChecked } from '#replay/configuration/validation/components.ts'
import { validationErrors } from '#test/verdict.ts'

/** What is put to the kubelet; without a main file it has none. Files have their kind, but raw ones. */
interface Case {
  main?: RawObject
  rawMain?: RawObject
  dropIns?: RawObject[]
  rawDropIn?: RawObject
  flags?: string[]
}

/** `configz` beside that of an empty file, and what the kubelet would say. */
interface Answer {
  changed?: RawObject
  absent?: string[]
  error?: string
  gateError?: string
  errors?: string[]
}

interface Recording {
  defaults: RawObject
  /** Null: this minor has no drop-ins. */
  answers: (Answer | null)[]
}

const read = <Content>(name: string) =>
  JSON.parse(
    readFileSync(
      new URL(`../../fixtures/kubelet-configuration/${name}.json`, import.meta.url),
      'utf8',
    ),
  ) as Content

const cases = read<Case[]>('cases')
const minors = [29, 30, 31, 32, 33, 34, 35, 36, 37]
const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }

function answer(
  { main, rawMain, dropIns, rawDropIn, flags }: Case,
  kubeletVersion: string,
  defaults: RawObject,
): Answer {
  const options = { kubeletVersion, operatingSystem: 'linux' } as const
  const features = featuresOf(kubeletVersion)
  try {
    const file = main ? { ...kind, ...main } : rawMain
    const loaded = file ? loadConfigFile(file, options) : flagsOnlyConfiguration(kubeletVersion)
    const contents = rawDropIn
      ? [rawDropIn]
      : (dropIns?.map(content => ({ ...kind, ...content })) ?? null)
    const merged =
      contents === null
        ? loaded
        : mergeKubeletConfigurations(loaded, contents.map(inFolder), kubeletVersion)
    const configuration = withFlags(merged, flagSettings(flags ?? []), features)
    const gateError = featureGateError(configuration.featureGates, features)
    const errors =
      gateError === null
        ? validationErrors(configuration, kubeletVersion, {
            operatingSystem: 'linux',
            cgroupVersion: null,
          })
        : []
    return {
      ...differences(configzOf(configuration, features), defaults),
      ...(gateError === null ? {} : { gateError }),
      ...(errors.length === 0 ? {} : { errors }),
    }
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    return { error: error.message }
  }
}

/** The replay says itself that it does not check such an endpoint; a refusal of any other one has to agree. */
function isUncheckedEndpoint({ main }: Case, { errors = [] }: Answer): boolean {
  const endpoint = mapOf(main?.tracing).endpoint
  return typeof endpoint === 'string' && errors.length > 0 && !isEndpointChecked(endpoint)
}

const inFolder = (content: RawObject, index: number) => ({ path: `/d/0${index}.conf`, content })

function differences(configz: RawObject, defaults: RawObject): Answer {
  const plain = JSON.parse(JSON.stringify(configz)) as RawObject
  const isChanged = ([field, value]: [string, unknown]) =>
    !isDeepStrictEqual(value, defaults[field])
  const changed = Object.fromEntries(Object.entries(plain).filter(isChanged))
  const absent = Object.keys(defaults)
    .filter(field => plain[field] === undefined)
    .sort()
  return {
    ...(Object.keys(changed).length > 0 ? { changed } : {}),
    ...(absent.length > 0 ? { absent } : {}),
  }
}

/** Answers of upstream's own code at the last patch of each minor, to files, drop-ins and flags at the boundaries of what it takes. */
describe.each(minors)('a kubelet of 1.%i', minor => {
  const version = `v1.${minor}.0`
  const { defaults, answers } = read<Recording>(`v1.${minor}`)

  it('shows its defaults', () => {
    const configuration = loadConfigFile({}, { kubeletVersion: version, operatingSystem: 'linux' })
    expect(configzOf(configuration, featuresOf(version))).toEqual(defaults)
  })

  it.each([
    ['files', ({ dropIns, rawDropIn, flags }: Case) => !dropIns && !rawDropIn && !flags],
    [
      'drop-ins',
      ({ dropIns, rawDropIn }: Case) => dropIns !== undefined || rawDropIn !== undefined,
    ],
    ['flags', ({ flags }: Case) => flags !== undefined],
  ])('answers to %s as upstream does', (_, isMeant) => {
    const differing = cases.flatMap((one, index) => {
      const expected = answers[index] ?? null
      if (expected === null || !isMeant(one)) return []
      const ours = answer(one, version, defaults)
      if (isUncheckedEndpoint(one, expected)) return []
      return isDeepStrictEqual(ours, expected) ? [] : [{ case: one, ours, expected }]
    })
    expect(differing).toEqual([])
  })
})
