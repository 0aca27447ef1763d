/** `docs/rules.md`: what every rule says about itself, and how outcomes become findings and grades. */

import { mostSubjects } from '#judge/cluster-rules.ts'
import { needsOf } from '#judge/explanation.ts'
import { mostLooseNodes } from '#judge/loose-nodes.ts'
import type { Rule } from '#judge/rule.ts'
import { families, severities } from '#model/finding.ts'
import { gradeBySeverity, smallShare } from '#model/grade.ts'
import { promisedSources, readModes } from '#model/read-mode.ts'
import { byText } from '#model/text-order.ts'
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
    '# Rules',
    '',
    'Written by a test from the rules themselves (`src/judge/rules/`): `vitest run test/judge -u` writes it anew.',
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
    `On every node each rule comes to one outcome: *pass*, *fail*, *unknown*, *not applicable* or *error*. What a rule could not see is unknown, never a pass, and stands in the report with its reason. On a kubelet outside 1.24 to 1.37 the facts of the nearest minor stand in, and no finding that rests on them is more than *likely*. The same failing on the nodes of one nodegroup or nodepool is one finding on it; nodes of none are their own subject, or, where they are more than ${mostLooseNodes}, their cluster's.`,
    '',
    `A node is *read* when everything was read that its mode promises (${readModes.map(mode => `\`${mode}\`: ${promisedSources[mode].map(source => `\`${source}\``).join(', ')}`).join('; ')}), *partly read* with \`node\` and at least one more, promised or not, else *not read*. A source counts by what is there: an error beside an answer is listed with the node and takes nothing away. Of a Fargate node nothing but its object and its pods can be read: it is listed as not audited, and no rule applies to it.`,
    '',
    "If `configz` was not read but the node's own files were, the configuration is computed from files, drop-ins and flags. Whether the kubelet was restarted since is unknown, so findings based on it are at most *likely*, and their evidence says `on disk`. Instead of `stats/summary` the node itself reports only its disks: the usage of memory, processes and pods stays unknown.",
    '',
    `What the control plane should have collected of a cluster's own objects is judged once for each cluster, when it has been read whole (\`clusterGarbage\` in the policy says what is looked through). A rule comes to one outcome on the cluster: *unknown* where a list that it needs was refused, *not applicable* if it was not requested; what is found is one finding for each namespace, or, where these are more than ${mostSubjects}, one for the cluster. What finished less than \`clusterGarbage.minAgeHours\` ago is not called garbage.`,
    '',
    `A cluster's grade is that of its worst open finding: ${severities.map(severity => `${severity} ${gradeBySeverity[severity]}`).join(', ')}; A where there is none. Where all open findings of a severity and of worse ones together concern less than ${smallShare * 100} % of the cluster's nodes, that severity costs one step less, but at least a B above info. Waived findings do not count. There is no grade where nothing was read, and none better than D where less than a third of what the rules asked could be decided or the list of nodes broke off; coverage stands beside every grade.`,
    '',
    ...shelves
      .filter(({ shelf }) => shelf.length > 0)
      .flatMap(({ family, shelf }) => [`## ${family}`, '', ...shelf.flatMap(ruleLines)]),
  ].join('\n')
}

function ruleLines(rule: Rule): string[] {
  const { id, kind, severity, docs } = rule
  const needs = needsOf(rule)
  const sources = docs.sources.map(source => `  - \`${source}\``)
  return [
    `### ${id}`,
    '',
    `**${docs.title}** (${severity}${kindMeans[kind]})`,
    '',
    docs.why,
    '',
    `- Fix: ${docs.fix}`,
    `- Needs: ${needs.length === 0 ? 'nothing' : needs.join(', ')}`,
    '- Sources:',
    ...sources,
    '',
  ]
}
