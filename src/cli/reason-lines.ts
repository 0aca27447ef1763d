/** Nodes grouped by reason, the most common reason first. */
import { clean, firstLines, indented, type Paint } from './terminal.ts'

const shownReasons = 10
export const shownNodes = 5

export const nodesOf = (count: number): string => `${count} node${count === 1 ? '' : 's'}`

/** Empty if there are no nodes. @param rest where the reasons that are not shown can be found */
export function reasonLines(
  title: string,
  nodes: readonly { cluster: string; node: string; why: string }[],
  { paint, width, rest }: { paint: Paint; width: number; rest: string },
): string[] {
  if (nodes.length === 0) return []
  const reasons = [...Map.groupBy(nodes, ({ why }) => why)].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  const linesOf = ([why, some]: (typeof reasons)[number]) => {
    const names = some.slice(0, shownNodes).map(({ cluster, node }) => `${cluster}/${node}`)
    const more = some.length > shownNodes ? ` and ${some.length - shownNodes} more` : ''
    return indented(
      `${nodesOf(some.length)}: ${clean(why, 1000)} (${clean(names.join(', '), 600)}${more})`,
      width,
    )
  }
  const more = (hidden: number) => `  and ${hidden} more reasons, all ${rest}`
  return ['', paint('bold', title), ...firstLines(reasons, shownReasons, linesOf, more)]
}
