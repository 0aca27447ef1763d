/**
 * What a kubelet comes to run with: its main file, the drop-ins over it, its flags over those, and defaults for the rest.
 *
 * Upstream  cmd/kubelet/app/server.go loadConfigFile, mergeKubeletConfigurations, kubeletConfigFlagPrecedence (≥ 1.30); v1beta1 defaults.go
 * Left out  fields in another case, which merged drop-ins take; YAML anchors
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { formatDuration, parseDuration } from '#base/go/duration.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { featuresOf, type KubeletFeatures } from '#facts/kubelet/features.ts'
import { elementOf, fieldsOf, isKnownField, isStruct } from '#facts/kubelet/fields.ts'
import { flagSettings, flagValue } from '#facts/kubelet/flag-settings.ts'
import type { InstalledKubelet } from '#lab/machines/start.ts'
import type { StructName } from '#model/kubelet/fields.ts'

/** @param root of the host @throws Error in the words of a kubelet that exits */
export function readConfiguration(
  root: string,
  commandLine: readonly string[],
  { defaults, version }: InstalledKubelet,
): RawObject {
  const main = flagValue(commandLine, 'config')
  let said = main === null ? {} : fileAt(root, main)
  const folder = flagValue(commandLine, 'config-dir')
  for (const path of folder === null ? [] : dropInsIn(root, folder))
    said = patched(said, fileAt(root, path))
  const { fields, error } = flagSettings(commandLine)
  if (error !== null) throw new Error(error)
  for (const [path, value] of fields) set(said, path.split('.'), value)
  return withDefaults('KubeletConfiguration', said, defaults, featuresOf(`v${version}`))
}

function dropInsIn(root: string, folder: string): string[] {
  const place = join(root, folder)
  if (!existsSync(place))
    throw new Error(
      `failed to load kubelet config drop-in dir: lstat ${folder}: no such file or directory`,
    )
  return readdirSync(place)
    .filter(name => name.endsWith('.conf'))
    .toSorted()
    .map(name => join(folder, name))
}

function fileAt(root: string, path: string): RawObject {
  const failed = (why: string) =>
    new Error(`failed to load kubelet config file, path: ${path}, error: ${why}`)
  let read: unknown
  try {
    const text = readFileSync(join(root, path), 'utf8')
    read = text.trimStart().startsWith('{') ? JSON.parse(text) : parse(text)
  } catch (error) {
    throw failed(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
  }
  if (!isRawObject(read)) throw failed('it holds no object')
  const { kind, apiVersion, ...fields } = read
  if (kind !== 'KubeletConfiguration' || apiVersion !== 'kubelet.config.k8s.io/v1beta1')
    throw failed(`no kind "${String(kind)}" is registered for version "${String(apiVersion)}"`)
  return fields
}

/** RFC 7386. */
export function patched(onto: RawObject, patch: RawObject): RawObject {
  const entries = new Map(Object.entries(onto))
  for (const [key, value] of Object.entries(patch)) {
    const before = entries.get(key)
    if (value === null) entries.delete(key)
    else
      entries.set(
        key,
        isRawObject(value) ? patched(isRawObject(before) ? before : {}, value) : value,
      )
  }
  return Object.fromEntries(entries)
}

function set(onto: RawObject, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    onto[name] = isRawObject(value)
      ? { ...(isRawObject(onto[name]) ? onto[name] : {}), ...value }
      : value
    return
  }
  const inner = isRawObject(onto[name]) ? { ...onto[name] } : {}
  onto[name] = inner
  set(inner, rest, value)
}

/** A map or a list that is given is all there is of it; of a struct each field is looked at for itself. */
function withDefaults(
  struct: StructName,
  given: RawObject,
  defaults: RawObject,
  features: KubeletFeatures,
): RawObject {
  const known = fieldsOf(struct)
  const fields = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const facts = known[name]
    // A kubelet drops in silence what it does not know.
    if (facts === undefined || !isKnownField(facts, features)) return []
    const type = elementOf(facts.type, '*') ?? facts.type
    if (isStruct(type)) {
      if (!isRawObject(value))
        throw new Error(
          `json: cannot unmarshal into Go struct field KubeletConfiguration.${name} of type ${type}`,
        )
      const inner = defaults[name]
      return [[name, withDefaults(type, value, isRawObject(inner) ? inner : {}, features)]]
    }
    const read = decoded(name, type, value)
    const isUnset = value === null || (type === facts.type && isZero(read) && name in defaults)
    return isUnset ? [] : [[name, read]]
  })
  return { ...defaults, ...Object.fromEntries(fields) }
}

const isZero = (value: unknown) =>
  value === '' ||
  value === 0 ||
  value === '0s' ||
  value === false ||
  (Array.isArray(value) && value.length === 0)

/** @throws Error where Go could not read the value as the field's type */
function decoded(name: string, type: string, value: unknown): unknown {
  if (value === null) return null
  const wrong = () =>
    new Error(
      `json: cannot unmarshal ${kindOf(value)} into Go struct field KubeletConfiguration.${name} of type ${type}`,
    )
  if (type === 'Duration') {
    if (typeof value !== 'string') throw wrong()
    return formatDuration(parseDuration(value))
  }
  const ofList = elementOf(type, '[]')
  if (ofList !== null) {
    if (!Array.isArray(value)) throw wrong()
    return value.map(entry => (isStruct(ofList) ? entry : decoded(name, ofList, entry)))
  }
  const ofMap = elementOf(type, 'map[string]')
  if (ofMap !== null) {
    if (!isRawObject(value)) throw wrong()
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, decoded(name, ofMap, entry)]),
    )
  }
  if (scalars[type.replace(/\d+$/, '')]?.(value) === false) throw wrong()
  return value
}

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  bool: value => typeof value === 'boolean',
  int: Number.isSafeInteger,
  float: value => typeof value === 'number',
  string: value => typeof value === 'string',
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return isRawObject(value) ? 'object' : typeof value
}
