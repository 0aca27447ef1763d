/** The largest consumers of local disk: five owners and five pods of each nodegroup and of each namespace. */
import type { GroupDiskUse, PodDiskUse } from '#model/disk-ledger.ts'
import type { AuditedNode } from '#model/report.ts'
import { byText } from '#model/text-order.ts'
import type { Language } from '#report/languages/language.ts'

const shownPlaces = 10
const shownOfPlace = 5
const nameLimit = 80

interface Place {
  place: string
  /** Null: the place is a nodegroup or nodepool. */
  namespace: string | null
  bytes: number
  owners: Map<string, GroupDiskUse>
  pods: PodDiskUse[]
}

/** Largest places first. Sums are lower bounds: ledgers keep only the largest owners and namespaces. */
export function consumerRows(nodes: readonly AuditedNode[], language: Language) {
  const places = [...placesOf(nodes).values()].toSorted(
    (a, b) => b.bytes - a.bytes || byText(a.place, b.place),
  )
  return [true, false].flatMap(areGroups =>
    places
      .filter(({ namespace }) => (namespace === null) === areGroups)
      .slice(0, shownPlaces)
      .flatMap(place => rowsOf(place, language)),
  )
}

function placesOf(nodes: readonly AuditedNode[]): Map<string, Place> {
  const places = new Map<string, Place>()
  const placeOf = (place: string, namespace: string | null): Place => {
    const key = JSON.stringify([place, namespace])
    const known = places.get(key) ?? { place, namespace, bytes: 0, owners: new Map(), pods: [] }
    places.set(key, known)
    return known
  }
  for (const { cluster, identity, ledger } of nodes) {
    if (ledger === undefined) continue
    const group = `${cluster} / ${identity.group.name}`
    for (const use of ledger.owners) {
      const ofGroup = placeOf(group, null)
      ofGroup.bytes += use.bytes
      addOwner(ofGroup, use)
      addOwner(placeOf(cluster, use.namespace), use)
    }
    for (const pod of ledger.pods) {
      placeOf(group, null).pods.push(pod)
      placeOf(cluster, pod.namespace).pods.push(pod)
    }
    for (const { namespace, bytes } of ledger.namespaces) placeOf(cluster, namespace).bytes += bytes
  }
  return places
}

function addOwner({ owners }: Place, use: GroupDiskUse): void {
  const key = JSON.stringify([use.namespace, use.owner])
  const known = owners.get(key)
  owners.set(key, {
    ...use,
    bytes: (known?.bytes ?? 0) + use.bytes,
    pods: (known?.pods ?? 0) + use.pods,
  })
}

function rowsOf({ place, namespace, bytes, owners, pods }: Place, language: Language) {
  const { words, line } = language
  const row = (consumer: string, amount: string) => ({
    place: line(place, nameLimit),
    consumer,
    bytes: amount,
  })
  const atLeast = (amount: number) => words.ledger.atLeast(language.bytes(amount))
  const name = namespace === null ? null : line(words.ledger.namespace(namespace), nameLimit)
  const most = <Use extends { bytes: number }>(uses: Iterable<Use>, nameOf: (use: Use) => string) =>
    [...uses]
      .toSorted((a, b) => b.bytes - a.bytes || byText(nameOf(a), nameOf(b)))
      .slice(0, shownOfPlace)
  return [
    ...(name === null ? [] : [row(name, atLeast(bytes))]),
    ...most(owners.values(), use => groupName(use, language)).map(use =>
      row(groupName(use, language), atLeast(use.bytes)),
    ),
    ...most(pods, pod => pod.name).map(pod =>
      row(podText(pod, language), language.bytes(pod.bytes)),
    ),
  ]
}

/** Text of a pod: its owner, its disk uses, its request and its limit. */
export function podText(pod: PodDiskUse, language: Language): string {
  const { ledger: words } = language.words
  const { bytes, line } = language
  const uses = [
    [pod.layerBytes, words.uses.layer] as const,
    [pod.logBytes, words.uses.log] as const,
    [pod.volumeBytes, words.uses.volume] as const,
  ]
  const known = (amount: number | null) => (amount === null ? null : bytes(amount))
  return words.pod(
    line(`${pod.namespace}/${pod.name}`, nameLimit),
    pod.owner === null ? null : line(pod.owner, nameLimit),
    bytes(pod.bytes),
    uses.filter(([amount]) => amount > 0).map(([amount, text]) => text(bytes(amount))),
    words.asks(known(pod.requestBytes), known(pod.limitBytes)),
  )
}

/** `Deployment shop/web`. */
export function groupName({ namespace, owner }: GroupDiskUse, { line }: Language): string {
  const [kind = '', ...rest] = (owner ?? '').split(' ')
  return line(owner === null ? namespace : `${kind} ${namespace}/${rest.join(' ')}`, nameLimit)
}
