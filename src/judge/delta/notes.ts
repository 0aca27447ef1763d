import type { ComparedRun } from '#model/delta.ts'
import { byText } from '#model/text-order.ts'
import type { Knowledge } from './run-knowledge.ts'

const withoutNodes = {
  OLD: 'new nodes cannot be distinguished from nodes that existed before',
  NEW: 'deleted nodes cannot be distinguished from fixed nodes',
}

export function notesOn(old: ComparedRun, now: ComparedRun): string[] {
  const notes: string[] = []
  const [before, after] = [old.document, now.document]
  if (Date.parse(before.run.takenAt) > Date.parse(after.run.takenAt))
    notes.push(
      `OLD was taken after NEW (${before.run.takenAt}, ${after.run.takenAt}): were they given the wrong way round?`,
    )
  const known = new Set(before.clusters.map(({ name }) => name))
  if (
    before.clusters.length > 0 &&
    after.clusters.length > 0 &&
    !after.clusters.some(({ name }) => known.has(name))
  )
    notes.push('OLD and NEW have no cluster in common')
  for (const [name, { document, nodes }] of [['OLD', old] as const, ['NEW', now] as const]) {
    if (nodes === null)
      notes.push(
        `${name} is a findings.json: ${withoutNodes[name]}; its severities and waivers are those of its day`,
      )
    const others = (name === 'OLD' ? after : before).run.rules.filter(
      rule => !document.run.rules.includes(rule),
    )
    if (others.length > 0)
      notes.push(`${name} was not judged by the rules ${others.toSorted(byText).join(', ')}`)
  }
  return notes
}

export const partialNotes = (
  name: string,
  { document, nodes }: ComparedRun,
  known: Knowledge,
): string[] =>
  document.clusters
    .filter(({ name: cluster }) => nodes !== null && known.isPartial(cluster))
    .map(
      ({ name: cluster }) =>
        `${name} may not list every node of ${cluster}: none of them is taken for ${name === 'OLD' ? 'come' : 'gone'}`,
    )
