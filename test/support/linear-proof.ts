/**
 * A cheap proof that a regular expression takes time linear in its input. It counts the ways in which a match may fail from one start. False: no proof, which says
 * nothing about the expression.
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
  return alternatives.every(alternative => {
    const { ways, loops } = sequence(alternative, true)
    const [first, second] = alternative.elements
    const hasOneStart =
      first?.type === 'Assertion' && first.kind === 'start' && !flags.includes('m')
    if (loops === 0) return ways <= (hasOneStart ? mostWaysFromOneStart : mostWays)
    return (hasOneStart || isGuarded(first, second)) && loops === 1 && ways <= mostWays
  })
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
