/** `highwater explain`: what a rule means, why it matters, and how to fix its findings. */

import { Command } from 'commander'
import { didYouMean } from '#model/nearest.ts'
import { OperatorError } from '#model/operator-error.ts'
import { explainedRules, ruleNames } from '#pipeline/shelves.ts'
import { explanationText, rulesTable } from './explain-text.ts'
import { addFormatOption, jsonText } from './options.ts'
import { screenOf } from './terminal.ts'

interface ExplainOptions {
  format: 'text' | 'json'
}

export function explainCommand(): Command {
  const command = new Command('explain').argument(
    '[rule]',
    'its id, as a finding names it, or a family; without it, a table of all rules',
  )
  return addFormatOption(command)
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
      const asked = explainedRules(name)
      if (name !== undefined && asked.length === 0) throw noSuchRule(name)
      const screen = screenOf(process.stdout)
      const only = asked.find(({ id }) => id === name)
      if (format === 'json')
        process.stdout.write(jsonText({ schema: 'highwater.rules/1', rules: asked }))
      else
        process.stdout.write(
          only === undefined ? rulesTable(asked, screen) : explanationText(only, screen),
        )
    })
}

function noSuchRule(name: string): OperatorError {
  const shown = JSON.stringify(name.slice(0, 80))
  return new OperatorError(
    `No rule is called ${shown}.${didYouMean(name, ruleNames)} highwater explain lists them all.`,
  )
}
