/** A prediction in little memory: its objects take 2.6 KB of a node, and most of them differ from those of other nodes by numbers alone. */
import type { AuditedPrediction } from '#model/report.ts'

/** An object with numbers. Nodes share the values in it that have none. */
interface Shape<Value> {
  first: Value
  /** Keys of numbers, and their places among all numbers of the prediction. */
  numbers: [key: keyof Value, at: number][]
  parts: [key: keyof Value, shape: Shape<Value[keyof Value]>][]
}

/** Then most nodes have texts of their own, as in errors. */
const mostShapes = 1024

/** For the nodes of one audit. */
export function openKeptPredictions(): (prediction: AuditedPrediction) => AuditedPrediction {
  const shapes = new Map<string, Shape<AuditedPrediction>>()
  return prediction => {
    const numbers: number[] = []
    const key = JSON.stringify(prediction, (_key, value) =>
      typeof value === 'number' ? numbers.push(value) : value,
    )
    const shape = shapes.get(key) ?? shapeOf(prediction, { count: 0 })
    if (shapes.size < mostShapes) shapes.set(key, shape)
    return new KeptPrediction(shape, numbers.slice())
  }
}

class KeptPrediction implements AuditedPrediction {
  readonly #shape: Shape<AuditedPrediction>
  readonly #numbers: readonly number[]

  constructor(shape: Shape<AuditedPrediction>, numbers: readonly number[]) {
    this.#shape = shape
    this.#numbers = numbers
  }

  get filesystems() {
    return this.#part('filesystems')
  }

  get imageGC() {
    return this.#part('imageGC')
  }

  get eviction() {
    return this.#part('eviction')
  }

  get settings() {
    return this.#part('settings')
  }

  #part<Key extends keyof AuditedPrediction>(key: Key): AuditedPrediction[Key] {
    const { first, parts } = this.#shape
    const [, part] = parts.find(([of]) => of === key) ?? []
    if (!part) return first[key]
    return withNumbers(part, this.#numbers) as AuditedPrediction[Key]
  }
}

/** The prediction as a plain object, for a file: JSON does not write what a kept one computes. */
export const plainPrediction = ({
  filesystems,
  imageGC,
  eviction,
  settings,
}: AuditedPrediction): AuditedPrediction => ({ filesystems, imageGC, eviction, settings })

/** In the order in which JSON writes the numbers. */
function shapeOf<Value>(first: Value, before: { count: number }): Shape<Value> {
  const shape: Shape<Value> = { first, numbers: [], parts: [] }
  for (const key in first) {
    const value = first[key]
    if (typeof value === 'number') shape.numbers.push([key, before.count++])
    if (typeof value !== 'object' || value === null) continue
    const part = shapeOf(value, before) as Shape<Value[keyof Value]>
    if (part.numbers.length + part.parts.length > 0) shape.parts.push([key, part])
  }
  return shape
}

function withNumbers<Value>({ first, numbers, parts }: Shape<Value>, all: readonly number[]) {
  const copy = (Array.isArray(first) ? [...first] : { ...first }) as Record<keyof Value, unknown>
  for (const [key, at] of numbers) copy[key] = all[at]
  for (const [key, part] of parts) copy[key] = withNumbers(part, all)
  return copy as Value
}
