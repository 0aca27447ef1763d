/**
 * Cuts a value to a shape: fields that the shape does not name, or that have another type than in the API, are dropped. All later
 * code trusts the types.
 */
import { listLimits } from '#base/limits.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import {
  isIdentifier,
  isNamedTexts,
  type RedactionBudget,
  redact,
  redactTexts,
  wholeWords,
} from '#base/redaction/redact.ts'
import { replaceFields } from '#base/redaction/replaced.ts'
import { type Leaf, List, type Shape, TextShape } from '#model/input/shape.ts'

/** What stands behind a secret can show that it is one: `… | docker login --password-stdin`. */
const furtherLength = 512
/** Of a container that ended. Upstream: pkg/kubelet/container/runtime.go MaxContainerTerminationMessageLength */
const longestMessage = 4096

/** Shortens a text. It is redacted first, because half a secret is not recognised; redaction can shorten it, too. */
const shorten = (value: string, maxLength: number, clean: (text: string) => string) =>
  clean(wholeWords(value, maxLength + furtherLength)).slice(0, maxLength)

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

const leaves: Readonly<Record<Leaf, (value: unknown) => unknown>> = {
  text: value => (isText(value) ? value : undefined),
  'text?': value => (isText(value) || value === null ? value : undefined),
  number: value => (isNumber(value) ? value : undefined),
  integer: value => (Number.isSafeInteger(value) ? value : undefined),
  statistic: value => (isNumber(value) || (value ?? null) === null ? (value ?? undefined) : -1),
  boolean: value => (typeof value === 'boolean' ? value : undefined),
  amount: value => (isText(value) || isNumber(value) ? value : undefined),
  quantity: quantityText,
  quantities: value => mapOf(value, quantityText),
  texts: value => mapOf(value, leaf => (isText(leaf) ? leaf : undefined)),
  map: value => (isRawObject(value) ? value : undefined),
}

function quantityText(value: unknown) {
  if (isNumber(value)) return String(value)
  return isText(value) ? value : undefined
}

function mapOf(value: unknown, textOf: (value: unknown) => string | undefined) {
  if (!isRawObject(value) || Object.keys(value).length > listLimits.mapEntries) return undefined
  return replaceFields(value, textOf) as RawObject
}

/** @param budget of texts that are redacted */
type Keeper = (value: unknown, budget?: RedactionBudget) => unknown
type RedactingKeeper = (value: unknown, budget: RedactionBudget) => unknown

/** Undefined if the value does not have the shape. */
export const keep = (value: unknown, shape: Shape): unknown => keeperOf(shape)(value)

/** The same as `keep`, for many values of one shape. */
export const keeperOf = (shape: Shape): Keeper => keeperFor(shape, null) as Keeper

/** Does the same as `redactTexts(keep(value, shape), field)`, in one pass. */
export const redactingKeeperOf = (shape: Shape, field: string): RedactingKeeper =>
  keeperFor(shape, field)

/** @param field name of the field whose texts are redacted; null: texts are not redacted */
function keeperFor(shape: Shape, field: string | null): RedactingKeeper {
  if (field !== null && isIdentifier(field)) return keeperFor(shape, null)
  if (shape instanceof List) return listKeeper(keeperFor(shape.item, field), shape.isKept)
  if (typeof shape === 'object' && !(shape instanceof TextShape) && !isNamedTexts(field))
    return objectKeeper(shape, field)
  const kept = leafKeeper(shape)
  if (field === null || textless.has(shape) || shape instanceof TextShape) return kept
  if (shape === 'text')
    return (value, budget) => (isText(value) ? budget.redactOnce(value) : undefined)
  return (value, budget) => redactTexts(kept(value, budget), field, budget.redactOnce)
}

/** Leaves that keep no text. */
const textless: ReadonlySet<Shape> = new Set(['number', 'integer', 'statistic', 'boolean'])

function leafKeeper(shape: Exclude<Shape, List>): RedactingKeeper {
  if (shape === true) return value => value
  if (typeof shape === 'string') return leaves[shape]
  if (!(shape instanceof TextShape)) return objectKeeper(shape, null)
  const { maxLength, isKept } = shape
  return (value, budget) => {
    if (!isText(value)) return undefined
    const clean = budget?.redact ?? redact
    if (!isKept) return shorten(value, maxLength, clean)
    // The name of a secret can stand on a line that is not kept.
    const lines = shorten(value, longestMessage, clean).split('\n').filter(isKept)
    return lines.length === 0 ? undefined : lines.join('\n').slice(0, maxLength)
  }
}

function listKeeper(item: RedactingKeeper, isKept: List['isKept']): RedactingKeeper {
  return (value, budget) => {
    if (!Array.isArray(value)) return undefined
    const items: unknown[] = []
    for (const entry of value) {
      const kept = isKept(entry) ? item(entry, budget) : undefined
      if (kept !== undefined) items.push(kept)
    }
    return items
  }
}

function objectKeeper(
  shape: { readonly [field: string]: Shape },
  field: string | null,
): RedactingKeeper {
  const names = Object.keys(shape)
  const keepers = Object.entries(shape).map(([name, inner]) =>
    keeperFor(inner, field === null ? null : name),
  )
  return (value, budget) => {
    if (!isRawObject(value)) return undefined
    const kept: RawObject = {}
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string
      const entry = value[name]
      const inner =
        entry === undefined ? undefined : (keepers[at] as RedactingKeeper)(entry, budget)
      if (inner !== undefined) kept[name] = inner
    }
    return kept
  }
}
