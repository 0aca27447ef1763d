/** The largest consumers of local disk over the fleet: per nodegroup and per namespace. */
import type { GroupDiskUse } from '#model/disk-ledger.ts'
import type { AuditedNode } from '#model/report.ts'
import { byText } from '#model/text-order.ts'
import type { Language } from '#report/languages/language.ts'

const shownRows = 10
const nameLimit = 80

interface Sum {
  place: string
  consumer: string
  bytes: number
}

/**
 * A node's ledger keeps its largest owners and namespaces only, so sums are lower bounds.
 * Largest first: the largest owner of each nodegroup, then each namespace.
 */
export function consumerRows(nodes: readonly AuditedNode[], language: Language) {
  const { words, line } = language
  const uses = nodes.flatMap(node =>
    (node.ledger?.owners ?? []).map(use => ({
      place: `${node.cluster} / ${node.identity.group.name}`,
      consumer: ownerName(use),
      bytes: use.bytes,
    })),
  )
  const spaces = nodes.flatMap(node =>
    (node.ledger?.namespaces ?? []).map(({ namespace, bytes }) => ({
      place: node.cluster,
      consumer: namespace,
      bytes,
    })),
  )
  const ofGroups = [...Map.groupBy(sums(uses), ({ place }) => place).values()].map(
    ([most]) => most!,
  )
  const row = ({ place, consumer, bytes }: Sum) => ({
    place: line(place, nameLimit),
    consumer: line(consumer, nameLimit),
    bytes: words.ledger.atLeast(language.bytes(bytes)),
  })
  return [
    ...ofGroups.slice(0, shownRows).map(row),
    ...sums(spaces)
      .slice(0, shownRows)
      .map(sum => row({ ...sum, consumer: words.ledger.namespace(sum.consumer) })),
  ]
}

function sums(uses: readonly Sum[]): Sum[] {
  const groups = Map.groupBy(uses, ({ place, consumer }) => JSON.stringify([place, consumer]))
  return [...groups.values()]
    .map(group => ({ ...group[0]!, bytes: group.reduce((sum, { bytes }) => sum + bytes, 0) }))
    .toSorted(
      (a, b) => b.bytes - a.bytes || byText(a.place, b.place) || byText(a.consumer, b.consumer),
    )
}

/** `Deployment shop/web`. */
function ownerName({ namespace, owner }: GroupDiskUse): string {
  const [kind = '', ...rest] = (owner ?? '').split(' ')
  return owner === null ? namespace : `${kind} ${namespace}/${rest.join(' ')}`
}
