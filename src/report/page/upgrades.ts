/** What the upgrade to the minor of their control plane changes on nodes that are behind. */
import { byText } from '#base/text/text-order.ts'
import { plainClusterName } from '#model/input/cluster-name.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { subjectText } from '#report/parts/findings.ts'
import { nameLimit } from '#report/parts/node.ts'
import { nodeUpgradeText } from '#report/terminal/upgrade-text.ts'

const shownGroups = 20
const shownLines = 8

/** Nodes of one group with the same changes are one row; those that would not start come first. Null: no node is behind. */
export function upgradesView(nodes: readonly AuditedNode[], language: Language) {
  const { words, line } = language
  const behind = nodes.flatMap(({ cluster, identity, upgrade }) =>
    upgrade === undefined ? [] : [{ cluster, identity, upgrade }],
  )
  if (behind.length === 0) return null
  const alike = Map.groupBy(behind, ({ cluster, identity: { group }, upgrade }) =>
    JSON.stringify([cluster, group, upgrade]),
  )
  const rows = [...alike]
    .toSorted(
      ([a, [first]], [b, [second]]) =>
        Number(second!.upgrade.errors.length > 0) - Number(first!.upgrade.errors.length > 0) ||
        byText(a, b),
    )
    .map(([, members]) => {
      const { cluster, identity, upgrade } = members[0]!
      return {
        where: words.list([line(cluster, nameLimit), subjectText(identity.group, language)]),
        nodes: words.nodeCount(members.length),
        versions: `${line(upgrade.from ?? words.unknown, nameLimit)} → ${upgrade.to}`,
        isRefused: upgrade.errors.length > 0,
        lines: nodeUpgradeText(upgrade).slice(0, shownLines),
      }
    })
  const commands = behind.map(
    ({ cluster, upgrade: { to } }) =>
      `highwater upgrade --to ${to.slice(1, -2)} --cluster ${line(plainClusterName(cluster), nameLimit)}`,
  )
  return {
    commands: [...new Set(commands)].slice(0, shownGroups),
    rows: rows.slice(0, shownGroups),
    leftOut: rows.length > shownGroups ? words.upgrades.leftOut(rows.length - shownGroups) : null,
  }
}
