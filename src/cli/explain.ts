/** `highwater explain`: what a rule means, why it matters, and how to end what it found. */

import { Command, Option } from 'commander'
import type { RuleExplanation } from '#judge/explanation.ts'
import { OperatorError } from '#model/operator-error.ts'
import { explainedRules } from '#pipeline/shelves.ts'
import { explanationText, rulesTable } from './explain-text.ts'
import { screenOf } from './terminal.ts'

interface ExplainOptions {
  format: 'text' | 'json'
}

export function explainCommand(): Command {
  return new Command('explain')
    .description(
      'tell what a rule means: why it matters, how to end it, what it needs, on what it relies',
    )
    .argument(
      '[rule]',
      'its id, as a finding names it, or a family; without it, a table of all rules',
    )
    .addOption(
      new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'),
    )
    .addHelpText(
      'after',
      `
Examples:
  highwater explain                              every rule, by family
  highwater explain eviction-before-image-gc
  highwater explain image-gc                     the rules of one family
  highwater explain --format json                {"schema":"highwater.rules/1","rules":[…]}

Exit codes: 0 the rule is explained; 2 there is no such rule, or bad usage.`,
    )
    .action((name: string | undefined, { format }: ExplainOptions) => {
      const all = explainedRules()
      const asked = name === undefined ? all : rulesNamed(name, all)
      const screen = screenOf(process.stdout)
      const only = asked.find(({ id }) => id === name)
      if (format === 'json')
        process.stdout.write(
          `${JSON.stringify({ schema: 'highwater.rules/1', rules: asked }, null, 2)}\n`,
        )
      else
        process.stdout.write(
          only === undefined ? rulesTable(asked, screen) : explanationText(only, screen),
        )
    })
}

/** The rule of that id, else the family's. @throws OperatorError with the nearest names */
function rulesNamed(name: string, all: RuleExplanation[]): RuleExplanation[] {
  const found = all.filter(({ id }) => id === name)
  const asked = found.length > 0 ? found : all.filter(({ family }) => family === name)
  if (asked.length > 0) return asked
  const near = nearest(name, [...new Set(all.flatMap(({ id, family }) => [id, family]))])
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
  throw new OperatorError(
    `No rule is called ${JSON.stringify(name.slice(0, 80))}.${hint} highwater explain lists them all.`,
  )
}

const mostNames = 3
/** A name that shares less than this with what was written is another name. */
const leastShared = 0.5

/** Names within this distance of the best match are listed with it. */
const muchAlike = 0.1

/** The names that are most alike, best first; part of a name counts as much as a slip in it. */
export function nearest(written: string, names: string[]): string[] {
  const sought = written.toLowerCase().slice(0, 80)
  const scored = names.map(name => ({ name, shared: sharedPart(sought, name) }))
  const best = Math.max(leastShared, ...scored.map(({ shared }) => shared - muchAlike))
  return scored
    .filter(({ shared }) => shared >= best)
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, mostNames)
    .map(({ name }) => name)
}

function sharedPart(written: string, name: string): number {
  if (written.length > 3 && name.includes(written)) return 0.9
  return 1 - editDistance(written, name) / Math.max(written.length, name.length)
}

/** Levenshtein: how many characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, character] of [...from].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...to].entries())
      next.push(
        Math.min(
          row[index + 1]! + 1,
          next[index]! + 1,
          row[index]! + (character === other ? 0 : 1),
        ),
      )
    row = next
  }
  return row.at(-1)!
}
