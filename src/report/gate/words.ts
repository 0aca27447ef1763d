/** Words that the formats of a gate share. */
import type { GateDocument, GateProblem, GateProblemKind, GateVerdict } from '#model/gate.ts'
import { counted } from '#report/numbers.ts'
import { lineText, nameText, nodesText } from '#report/statements.ts'

export const verdicts: Record<GateVerdict, string> = {
  ok: 'no node gets worse',
  worse: 'do not merge: nodes get worse',
  refused: 'do not merge: a kubelet would not start, or the file is refused',
}

export const kinds: Record<GateProblemKind, string> = {
  unparsed: 'cannot be parsed',
  refused: 'refused',
  'no-effect': 'takes no effect',
  'threshold-lost': 'threshold lost',
  eviction: 'evicts at once',
  worse: 'worse',
  'image-gc': 'image GC at once',
  better: 'better',
  note: 'note',
}

export const labelOf = ({ kind, severity }: GateProblem): string =>
  severity === null ? kinds[kind] : `${kinds[kind]}, ${severity}`

export const placeOf = ({ file, line }: GateProblem): string => `${nameText(file)}:${line}`

/** `prod/general, 3 nodes: a, b, c`; null: the problem is the file's own. */
export function whereOf({ cluster, group, nodes }: GateProblem, names: number): string | null {
  if (cluster === null || group === null) return null
  const on = nodesText(nodes, names)
  return [`${nameText(cluster)}/${nameText(group.name)}`, ...(on === null ? [] : [on])].join(', ')
}

export const sentenceOf = ({ text }: GateProblem): string => lineText(text)

/** What was judged: `2 files, 12 nodes in 3 groups, compared with what runs now`. */
export function scopeOf({ files, groups, comparedWith }: GateDocument): string {
  const judged = files.filter(({ kinds: own }) => own.length > 0).length
  const nodes = groups.reduce((sum, group) => sum + group.nodes, 0)
  const against = comparedWith === 'base' ? 'the files before the change' : 'what runs now'
  return `${counted(judged, 'file')}, ${counted(nodes, 'node')} in ${counted(groups.length, 'group')}, compared with ${against}`
}
