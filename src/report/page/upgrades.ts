/** What the upgrade to the minor of their control plane changes on nodes that are behind, and nodegroups whose AMI release is behind. */
import { byText } from '#base/text/text-order.ts'
import { plainClusterName } from '#model/input/cluster-name.ts'
import type { AuditedNode } from '#model/report.ts'
import type { Language } from '#report/languages/language.ts'
import { subjectText } from '#report/parts/findings.ts'
import { nameLimit, regionOf } from '#report/parts/node.ts'
import { nodeUpgradeText } from '#report/terminal/upgrade-text.ts'

const shownGroups = 20
const shownLines = 8

/** Nodes of one group with the same changes are one row; those that would not start come first, releases last. Null: no node is behind. */
export function upgradesView(
  nodes: readonly AuditedNode[],
  region: string | null,
  language: Language,
) {
  const { words } = language
  const [kubelets, releases] = [kubeletRows(nodes, language), releaseRows(nodes, region, language)]
  const rows = [...kubelets, ...releases]
  if (rows.length === 0) return null
  return {
    commands: [...new Set(rows.flatMap(({ command }) => command ?? []))].slice(0, shownGroups),
    rows: rows.slice(0, shownGroups),
    leftOut: rows.length > shownGroups ? words.upgrades.leftOut(rows.length - shownGroups) : null,
  }
}

const placeOf = ({ cluster, identity }: AuditedNode, language: Language) =>
  language.words.list([language.line(cluster, nameLimit), subjectText(identity.group, language)])

function kubeletRows(nodes: readonly AuditedNode[], language: Language) {
  const { words, line } = language
  const behind = nodes.flatMap(node => (node.upgrade === undefined ? [] : [node]))
  const alike = Map.groupBy(behind, ({ cluster, identity: { group }, upgrade }) =>
    JSON.stringify([cluster, group, upgrade]),
  )
  return [...alike]
    .toSorted(
      ([a, [first]], [b, [second]]) =>
        Number(second!.upgrade!.errors.length > 0) - Number(first!.upgrade!.errors.length > 0) ||
        byText(a, b),
    )
    .map(([, members]) => {
      const [node] = members
      const { cluster, upgrade } = node!
      const { from, to, errors } = upgrade!
      return {
        where: placeOf(node!, language),
        nodes: words.nodeCount(members.length),
        versions: `${line(from ?? words.unknown, nameLimit)} → ${to}`,
        isRefused: errors.length > 0,
        lines: nodeUpgradeText(upgrade!).slice(0, shownLines),
        note: null,
        command: `highwater upgrade --to ${to.slice(1, -2)} --cluster ${line(plainClusterName(cluster), nameLimit)}`,
      }
    })
}

/** Nodegroups with an older release than another one of their image and minor. */
function releaseRows(nodes: readonly AuditedNode[], region: string | null, language: Language) {
  const { words, line } = language
  const ofGroups = nodes.filter(
    ({ release, upgrade }) => release !== undefined && upgrade === undefined,
  )
  const byImage = Map.groupBy(ofGroups, ({ identity: { amiFamily, kubeletVersion } }) =>
    JSON.stringify([amiFamily, kubeletVersion?.split('.', 2)]),
  )
  return [...byImage.values()].flatMap(alike => {
    const [newest] = alike.toSorted((a, b) => byRelease(b.release!, a.release!))
    const groups = Map.groupBy(
      alike.filter(({ release }) => byRelease(release!, newest!.release!) < 0),
      node => placeOf(node, language),
    )
    return [...groups].map(([where, members]) => {
      const { cluster, identity, release } = members[0]!
      const options = [
        ['region', regionOf(cluster, region)],
        ['cluster-name', plainClusterName(cluster)],
        ['nodegroup-name', identity.group.name],
        ['release-version', newest!.release!],
      ] as const
      return {
        where,
        nodes: words.nodeCount(members.length),
        versions: words.steps.labelled(
          `${line(release!, nameLimit)} → ${line(newest!.release!, nameLimit)}`,
          words.steps.effect('replaces', members.length),
        ),
        isRefused: false,
        lines: [],
        note: words.upgrades.newer(placeOf(newest!, language)),
        // A shell reads any other character.
        command: options.every(([, value]) => /^[\w.-]{1,255}$/.test(value ?? ''))
          ? `aws eks update-nodegroup-version ${options.map(([name, value]) => `--${name} ${value}`).join(' ')}`
          : null,
      }
    })
  })
}

/** Below 0: `a` is older. `1.34.2-20251120`, of Bottlerocket `1.51.0-a1b2c3d4`. */
function byRelease(a: string, b: string) {
  const [numbers, others] = [a, b].map(release =>
    (/^[\d.]{1,40}(?:-20\d{6}$)?/.exec(release)?.[0] ?? '').split(/[.-]/).map(Number),
  )
  return numbers?.map((number, index) => number - (others?.[index] ?? 0)).find(Boolean) ?? 0
}
