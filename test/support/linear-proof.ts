/**
 * A cheap proof that a regular expression takes time linear in its input. It counts the ways in which a match may fail from one start, or shows that few starts
 * enter each loop at one place. False: no proof, which says nothing about the expression.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** Of all ways to match from one start. */
interface Cost {
  /** Without what a loop adds. */
  ways: number
  /** Unbounded repeats of one character on one way, behind which the match may still fail. */
  loops: number
}

const single: Cost = { ways: 1, loops: 0 }
const unproved: Cost = { ways: Number.POSITIVE_INFINITY, loops: 0 }

/** One start: even many ways are a constant. */
const mostWaysFromOneStart = 100_000
const mostWays = 2000

export function isPlainlyLinear(source: string, flags: string): boolean {
  if (flags.includes('v')) return false
  const { alternatives } = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
  })
  return (
    alternatives.every(alternative => {
      const { ways, loops } = sequence(alternative, true)
      const [first, second] = alternative.elements
      const hasOneStart =
        first?.type === 'Assertion' && first.kind === 'start' && !flags.includes('m')
      if (loops === 0) return ways <= (hasOneStart ? mostWaysFromOneStart : mostWays)
      return (hasOneStart || isGuarded(first, second)) && loops === 1 && ways <= mostWays
    }) || hasLocalLoops(alternatives, flags)
  )
}

/** `(?<!X)X+`: there is one start in each run of X, so all runs together are no longer than the input. */
const isGuarded = (first?: AST.Element, second?: AST.Element): boolean =>
  first?.type === 'Assertion' &&
  second?.type === 'Quantifier' &&
  second.max === Number.POSITIVE_INFINITY &&
  first.raw === `(?<!${second.element.raw})`

/** @param isTail whether the match is complete behind it */
function sequence({ elements }: AST.Alternative, isTail: boolean): Cost {
  const costs = elements.map((element, index) =>
    costOf(element, isTail && index === elements.length - 1),
  )
  return {
    ways: costs.reduce((product, { ways }) => product * ways, 1),
    loops: costs.reduce((sum, { loops }) => sum + loops, 0),
  }
}

function choice(alternatives: readonly AST.Alternative[], isTail: boolean): Cost {
  const costs = alternatives.map(alternative => sequence(alternative, isTail))
  return {
    ways: costs.reduce((sum, { ways }) => sum + ways, 0),
    loops: Math.max(...costs.map(({ loops }) => loops)),
  }
}

function costOf(element: AST.Element, isTail: boolean): Cost {
  switch (element.type) {
    case 'Character':
    case 'CharacterClass':
    case 'CharacterSet':
      return single
    case 'CapturingGroup':
    case 'Group':
      return choice(element.alternatives, isTail)
    case 'Assertion':
      return 'alternatives' in element ? choice(element.alternatives, false) : single
    case 'Quantifier':
      return repeated(element, isTail)
    default:
      return unproved
  }
}

function repeated({ element, min, max }: AST.Quantifier, isTail: boolean): Cost {
  const { ways, loops } = costOf(element, false)
  if (max === Number.POSITIVE_INFINITY) {
    if (!element.type.startsWith('Character')) return unproved
    // At the end it takes what there is, and nothing behind it fails.
    return isTail ? single : { ways: 1, loops: 1 }
  }
  return loops > 0 ? unproved : { ways: ways ** max * (max - min + 1), loops: 0 }
}

/** A loop of one character, or what a match passes in a bounded number of steps. */
type Item = { loop: AST.Element } | { unit: AST.Element }

/** No proof: a loop of groups, a reference, too many forms. */
class Unproved extends Error {}

const mostForms = 500

/**
 * Whether each loop is entered a bounded number of times at each place of a text. What stands before the loop has a character that the loop does not take,
 * so all entries into one run of the loop's characters are near its begin. Or there is one entry in all: one start, and each loop before ends at one place.
 */
function hasLocalLoops(alternatives: readonly AST.Alternative[], flags: string): boolean {
  if (flags.includes('u')) return false
  try {
    const forms = alternatives.flatMap(({ elements }) => formsOf(elements, true))
    return forms.length <= mostForms && forms.every(form => isLocal(form, flags))
  } catch (error) {
    if (error instanceof Unproved) return false
    throw error
  }
}

/** The pattern without choices between loops: each combination of them, and of each loop in a lookahead. */
function formsOf(elements: readonly AST.Element[], isTail: boolean): Item[][] {
  let forms: Item[][] = [[]]
  const ended: Item[][] = []
  for (const [index, element] of elements.entries()) {
    const isLast = isTail && index === elements.length - 1
    if (element.type === 'Assertion' && hasLoop(element)) {
      if (element.kind !== 'lookahead') throw new Unproved()
      const inner = element.alternatives.flatMap(({ elements }) => formsOf(elements, false))
      ended.push(...forms.flatMap(form => inner.map(items => [...form, ...items])))
      continue
    }
    const next = partsOf(element, isLast)
    forms = forms.flatMap(form => next.map(items => [...form, ...items]))
    if (forms.length + ended.length > mostForms) throw new Unproved()
  }
  return [...forms, ...ended]
}

function partsOf(element: AST.Element, isTail: boolean): Item[][] {
  if (element.type === 'Backreference') throw new Unproved()
  if (!hasLoop(element)) return [[{ unit: element }]]
  if (element.type === 'Group' || element.type === 'CapturingGroup')
    return element.alternatives.flatMap(({ elements }) => formsOf(elements, isTail))
  if (element.type !== 'Quantifier') throw new Unproved()
  const { element: inner, min, max } = element
  if (max === Number.POSITIVE_INFINITY) {
    if (!inner.type.startsWith('Character') || inner.type === 'CapturingGroup') throw new Unproved()
    const first: Item[] = min > 0 ? [{ unit: inner }] : []
    // At the end it takes what there is, and nothing behind it fails.
    return [isTail ? first : [...first, { loop: inner }]]
  }
  if (max > 1) throw new Unproved()
  return [...(min === 0 ? [[]] : []), ...partsOf(inner, isTail)]
}

const hasLoop = (element: AST.Element): boolean => {
  if (element.type === 'Quantifier')
    return element.max === Number.POSITIVE_INFINITY || hasLoop(element.element)
  return 'alternatives' in element
    ? element.alternatives.some(({ elements }) => elements.some(hasLoop))
    : false
}

function isLocal(form: readonly Item[], flags: string): boolean {
  const ways = form.reduce(
    (all, item) => all * ('unit' in item ? costOf(item.unit, false).ways : 1),
    1,
  )
  if (ways > mostWays) return false
  let isOneEntry = false
  for (const [index, item] of form.entries()) {
    if ('unit' in item) {
      isOneEntry ||= index === 0 && isStartOfText(item.unit, flags)
      continue
    }
    if (!isOneEntry && !isBroken(form.slice(0, index), item.loop, flags)) return false
    isOneEntry &&= endsAtOnePlace(item.loop, form.slice(index + 1), flags)
  }
  return true
}

/** Whether a character that the loop does not take stands before it. Loops between them take none of its characters. */
function isBroken(before: readonly Item[], loop: AST.Element, flags: string): boolean {
  for (const item of before.toReversed()) {
    if ('unit' in item) {
      if (hasOther(item.unit, loop, flags)) return true
    } else if (!areApart(item.loop, loop, flags)) return false
  }
  return false
}

const isStartOfText = (element: AST.Element, flags: string) =>
  element.type === 'Assertion' && element.kind === 'start' && !flags.includes('m')

/** Whether each match of the element has a character that the loop does not take, or stands behind one. */
function hasOther(element: AST.Element, loop: AST.Element, flags: string): boolean {
  if (element.type.startsWith('Character')) return areApart(element, loop, flags)
  if (element.type === 'Quantifier')
    return element.min > 0 && hasOther(element.element, loop, flags)
  if (element.type === 'Group' || element.type === 'CapturingGroup')
    return element.alternatives.every(({ elements }) =>
      elements.some(inner => hasOther(inner, loop, flags)),
    )
  if (element.type !== 'Assertion') return false
  if (element.kind === 'start') return !flags.includes('m') || !lineEnds.some(takes(loop, flags))
  if (element.kind !== 'lookbehind') return false
  if (!element.negate)
    return element.alternatives.every(({ elements }) =>
      elements.some(inner => hasOther(inner, loop, flags)),
    )
  return element.alternatives.some(({ elements: [only, ...others] }) =>
    only?.type.startsWith('Character') && others.length === 0 ? isWithin(loop, only, flags) : false,
  )
}

/** Whether at most one of the loop's ends can be followed by what is next. */
function endsAtOnePlace(loop: AST.Element, next: readonly Item[], flags: string): boolean {
  for (const item of next) {
    const element = 'loop' in item ? item.loop : item.unit
    if (element.type === 'Assertion') {
      if (element.kind === 'end' && !flags.includes('m')) return true
      continue
    }
    const single = element.type === 'Quantifier' ? element.element : element
    if (!single.type.startsWith('Character') || !areApart(single, loop, flags)) return false
    const isOptional = 'loop' in item || (element.type === 'Quantifier' && element.min === 0)
    if (!isOptional) return true
  }
  return true
}

const lineEnds = [10, 13, 0x2028, 0x2029]
const unitCount = 0x10000
const taken = new Map<string, Uint8Array>()

/** For each UTF-16 code unit, whether the element takes it. */
function unitsOf({ raw }: AST.Element, flags: string): Uint8Array {
  const key = `${flags.replace(/[gmy]/g, '')} ${raw}`
  let units = taken.get(key)
  if (units === undefined) {
    const one = new RegExp(`^(?:${raw})$`, flags.replace(/[gmy]/g, ''))
    units = Uint8Array.from({ length: unitCount }, (_, unit) =>
      one.test(String.fromCharCode(unit)) ? 1 : 0,
    )
    taken.set(key, units)
  }
  return units
}
const takes = (element: AST.Element, flags: string) => (unit: number) =>
  unitsOf(element, flags)[unit] === 1
const areApart = (one: AST.Element, other: AST.Element, flags: string) =>
  unitsOf(one, flags).every((isTaken, unit) => isTaken === 0 || !takes(other, flags)(unit))
const isWithin = (inner: AST.Element, outer: AST.Element, flags: string) =>
  unitsOf(inner, flags).every((isTaken, unit) => isTaken === 0 || takes(outer, flags)(unit))
