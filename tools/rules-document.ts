/** `docs/rules.md`: what every rule says about itself, and how outcomes become findings and grades. */

import { byText } from '#base/text.ts'
import type { Rule } from '#judge/rule.ts'
import { mostSubjects } from '#judge/run/cluster-rules.ts'
import { needsInWords } from '#judge/run/explanation.ts'
import { mostLooseNodes } from '#judge/run/tally.ts'
import { families, gradeBySeverity, severities, smallShare } from '#model/finding.ts'
import { promisedSources, readModes } from '#model/input/record.ts'
import { symptoms } from './symptoms.ts'

const kindMeans: Record<Rule['kind'], string> = {
  node: '',
  cohort: '; compares the nodes of a nodegroup or nodepool',
  context: '; reads what the cluster says of its nodes, too',
  cluster: "; reads the cluster's own objects",
}

export function rulesDocument(rules: readonly Rule[]): string {
  const shelves = families.map(family => ({
    family,
    shelf: rules.filter(rule => rule.family === family).toSorted((a, b) => byText(a.id, b.id)),
  }))
  return [
    '# Which rules are there?',
    '',
    '`npm run docs` writes this page from the rules themselves (`src/judge/rules/`).',
    '',
    '## Index by symptom',
    '',
    '| you see | rules |',
    '| --- | --- |',
    ...Object.entries(symptoms).map(
      ([symptom, ids]) => `| ${symptom} | ${ids.map(id => `[${id}](#${id})`).join(', ')} |`,
    ),
    '',
    '## Outcomes, coverage, grades',
    '',
    'On every node each rule has one outcome: *pass*, *fail*, *unknown*, *not applicable* or *error*. If a rule lacks data, its outcome is unknown, never a pass, and the report lists the reason. For a kubelet of an unsupported minor nothing is predicted. If several nodes of a nodegroup or nodepool fail a rule in the same way, that is one finding on the group.',
    '',
    `Nodes without a group are judged one by one, or together with their cluster if there are more than ${mostLooseNodes}.`,
    '',
    `A node is *read* if every source of its mode was read (${readModes.map(mode => `\`${mode}\`: ${promisedSources[mode].map(source => `\`${source}\``).join(', ')}`).join('; ')}). It is *partly read* if \`node\` and at least one more source were read, else *not read*. An error beside an answer is listed with the node; the answer still counts. A Fargate node has only its object and its pods: it is listed as not audited, and no rule applies.`,
    '',
    'If `configz` was not read but the files of the node were, the configuration is computed from files, drop-ins and flags. A restart of the kubelet since then is unknown, so findings based on it are at most *likely*, and their evidence contains `on disk`. Without `stats/summary` the node itself reports only its disks: usage of memory, processes and pods is unknown.',
    '',
    `Rules on cluster objects are judged once per cluster, if the whole cluster was read (policy \`clusterGarbage\`). The outcome is *unknown* if a required list was refused, and *not applicable* if it was not requested. There is one finding per namespace, or one per cluster if there are more than ${mostSubjects} namespaces. Objects that finished less than \`clusterGarbage.minAgeHours\` ago are not garbage.`,
    '',
    `A cluster's grade is that of its worst open finding: ${severities.map(severity => `${severity} ${gradeBySeverity[severity]}`).join(', ')}; A without findings. If all open findings of a severity and above concern less than ${smallShare * 100} % of the cluster's nodes, that severity costs one step less, but at least a B above info. Waived findings do not count. There is no grade if nothing was read. The grade is D or worse if fewer than a third of the outcomes could be decided, or if the list of nodes broke off. Coverage is shown beside every grade.`,
    '',
    ...shelves
      .filter(({ shelf }) => shelf.length > 0)
      .flatMap(({ family, shelf }) => [`## ${family}`, '', ...shelf.flatMap(ruleLines)]),
  ].join('\n')
}

function ruleLines(rule: Rule): string[] {
  const { id, kind, severity, docs } = rule
  const needs = needsInWords(rule)
  const sources = docs.sources.map(source => `  - \`${source}\``)
  return [
    `### ${id}`,
    '',
    `**${docs.title}** (${severity}${kindMeans[kind]})`,
    '',
    docs.why,
    '',
    `- Fix: ${docs.fix}`,
    `- Needs: ${needs.length === 0 ? 'no source in particular: it judges by what was read' : needs.join(', ')}`,
    '- Sources:',
    ...sources,
    '',
  ]
}
