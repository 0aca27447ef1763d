/** The answer of a gate as SARIF 2.1.0: each result has the file and line of its setting. */
import { hash } from 'node:crypto'
import type { GateDocument, GateProblem } from '#model/gate.ts'
import { resultsPerRun, sarifLevels, sarifRun, sarifText } from '#report/formats/sarif.ts'
import { nameText } from '#report/parts/findings.ts'
import { kinds, placesOf, sentenceOf } from './words.ts'

export function gateSarif({ version, problems }: GateDocument) {
  const results = problems.filter(({ kind }) => kind !== 'better').slice(0, resultsPerRun)
  const ids = [...new Set(results.map(ruleId))]
  const rules = ids.map(id => ({ id }))
  const found = results.map(problem => resultOf(problem, ids.indexOf(ruleId(problem))))
  return sarifText([sarifRun('highwater-gate/1', version, rules, found)])
}

const ruleId = ({ rule, kind }: GateProblem) => rule ?? `gate-${kind}`

function resultOf(problem: GateProblem, ruleIndex: number): object {
  const { file, line, field, cluster, group, severity, stops, kind, nodes } = problem
  const where = placesOf([problem], 5)
  return {
    ruleId: ruleId(problem),
    ruleIndex,
    kind: 'fail',
    level: levelOf(problem),
    message: {
      text: where === null ? sentenceOf([problem]) : `${sentenceOf([problem])} (${where})`,
    },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
          region: { startLine: line },
        },
      },
    ],
    partialFingerprints: { 'highwater-gate/1': fingerprint(problem) },
    properties: {
      effect: kinds[kind],
      stops,
      severity,
      field,
      cluster,
      group: group?.name ?? null,
      nodes: nodes.count,
      sample: nodes.sample.map(nameText),
    },
  }
}

function levelOf({ severity, stops }: GateProblem) {
  if (severity !== null) return sarifLevels[severity]
  return stops ? 'error' : 'note'
}

/** The same for the same setting, though its line moves. */
function fingerprint(problem: GateProblem) {
  const { file, field, cluster, group } = problem
  const key = JSON.stringify([ruleId(problem), file, field, cluster, group])
  return hash('sha256', key).slice(0, 32)
}
