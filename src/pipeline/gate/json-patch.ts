/** JSON patches, as kustomize takes them. */
import { isRawObject, mapOf, type RawObject } from '#base/raw-object.ts'
import type { YamlPlace } from '#base/yaml-place.ts'

interface Operation {
  at: YamlPlace
  path: string[]
  value: unknown
}

/** The parts of an object that the operations set; null: one of them removes it. Source: RFC 6902, RFC 6901 */
export function patchedObject(list: YamlPlace): YamlPlace {
  const operations = (Array.isArray(list.value) ? list.value : []).flatMap((written, index) => {
    const { op, path, value } = mapOf(written)
    const isRemoved = op === 'remove'
    if (typeof path !== 'string' || (op !== 'add' && op !== 'replace' && !isRemoved)) return []
    const at = list.at(index)
    return [{ at, path: segments(path), value: isRemoved ? null : value }]
  })
  const object: RawObject = {}
  for (const { path, value } of operations) set(object, path, value)
  return placeIn(object, path => placeOf(list, operations, path))
}

const deepest = 20
const segments = (pointer: string) =>
  pointer
    .split('/')
    .slice(1, deepest)
    .map(segment => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

function set(target: RawObject, [name = '', ...deeper]: string[], value: unknown): void {
  if (name === '__proto__') return
  if (deeper.length === 0) {
    target[name] = value
    return
  }
  const before = Object.hasOwn(target, name) ? target[name] : undefined
  const inner: RawObject = isRawObject(before) ? before : {}
  target[name] = inner
  set(inner, deeper, value)
}

type Path = (string | number)[]

const isPrefix = (path: readonly unknown[], of: readonly unknown[]) =>
  path.length <= of.length && path.every((segment, index) => segment === of[index])

/** The last operation that sets the path, or a part of it. */
function placeOf(list: YamlPlace, operations: readonly Operation[], path: Path): YamlPlace {
  const setter = operations.findLast(({ path: own }) => isPrefix(own, path))
  if (setter === undefined)
    return operations.findLast(({ path: own }) => isPrefix(path, own))?.at ?? list
  const rest = path.slice(setter.path.length)
  const place = setter.at.at('value', ...rest)
  return rest.length > 0 ? place : { ...place, lineOf: () => setter.at.lineOf('path') }
}

const placeIn = (value: unknown, placeAt: (path: Path) => YamlPlace): YamlPlace => ({
  value,
  lineOf: (...path) => placeAt(path).lineOf(),
  tag: () => placeAt([]).tag(),
  textAt: (...path) => placeAt(path).textAt(),
  at: (...path) =>
    placeIn(
      path.reduce<unknown>((inner, segment) => mapOf(inner)[segment], value),
      deeper => placeAt([...path, ...deeper]),
    ),
})
