/**
 * Lists in pages, as an API server serves them: `limit` and `continue`, tokens that expire, `resourceVersion=0` from the watch cache.
 * Upstream: apiserver/pkg/storage/etcd3/store.go GetList, apiserver/pkg/storage/continue.go.
 */
import { type LabRequest, Refusal, type Reply } from '#lab/api.ts'
import type { WorldCluster } from '#lab/world.ts'
import { objectReply } from './objects.ts'
import { badRequest, expired } from './status.ts'

export const listParameters = ['limit', 'continue', 'resourceVersion', 'timeoutSeconds']

export interface Listing {
  kind: string
  /** Default `v1`. */
  apiVersion?: string
  count: number
  item(index: number): object
  /** A selector leaves the API server without a count of what remains. */
  selected: boolean
}

/** Where a page begins. `revision` −1: an inconsistent continuation, from whatever is there now. */
interface Position {
  revision: number
  start: number
  /** Pages served since the list's first. */
  pages: number
}

export function listReply(
  request: LabRequest,
  cluster: WorldCluster,
  listing: Listing,
): Promise<Reply> {
  const limit = limitOf(request)
  const position = positionOf(request, cluster)
  const end = limit === 0 ? listing.count : Math.min(listing.count, position.start + limit)
  const left = listing.count - end
  const isMetadataOnly = wantsMetadataOnly(request)
  const item = (index: number) =>
    isMetadataOnly ? metadataOf(listing.item(index)) : listing.item(index)
  const items = Array.from({ length: Math.max(0, end - position.start) }, (_, index) =>
    item(position.start + index),
  )
  return objectReply(request, {
    ...(isMetadataOnly
      ? metadataList
      : { kind: listing.kind, apiVersion: listing.apiVersion ?? 'v1' }),
    metadata: {
      resourceVersion: String(position.revision),
      ...(left > 0 && {
        continue: encode({ revision: position.revision, start: end, pages: position.pages + 1 }),
      }),
      ...(left > 0 && !listing.selected && { remainingItemCount: left }),
    },
    // A real one has null there, where it has cut the objects down and there are none.
    items: isMetadataOnly && items.length === 0 ? null : items,
  })
}

const metadataList = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
/** The first form that the server knows counts. Upstream: apiserver/pkg/endpoints/handlers/negotiation. */
const wantsMetadataOnly = ({ headers }: LabRequest): boolean =>
  /^application\/json;as=PartialObjectMetadataList;g=meta\.k8s\.io;v=v1(,|$)/.test(
    headers.accept ?? '',
  )
const metadataOf = (item: object): object => ({ metadata: 'metadata' in item ? item.metadata : {} })

/** Items in a page; 0 for all of them. */
function limitOf({ query }: LabRequest): number {
  const limit = Number(query.get('limit') ?? 0)
  if (!Number.isInteger(limit)) throw badRequest(`limit: Invalid value: "${query.get('limit')}"`)
  return query.get('resourceVersion') === '0' && !query.get('continue') ? 0 : Math.max(0, limit)
}

function positionOf({ query }: LabRequest, cluster: WorldCluster): Position {
  const token = query.get('continue')
  const version = query.get('resourceVersion') ?? ''
  if (!token) {
    if (version !== '' && version !== '0') {
      throw new Refusal(
        501,
        'NotImplemented',
        `the lab keeps no history: resourceVersion ${version} cannot be listed`,
      )
    }
    return { revision: cluster.revision, start: 0, pages: 0 }
  }
  if (version !== '' && version !== '0')
    throw badRequest('specifying resource version is not allowed when using continue')
  const position = decode(token)
  if (!position) throw badRequest('continue key is not valid')
  if (position.revision === -1)
    return { revision: cluster.revision, start: position.start, pages: 0 }
  const afterPages = cluster.scenario.faults?.continueExpiresAfterPages ?? Number.POSITIVE_INFINITY
  if (position.revision < cluster.compactedRevision || position.pages >= afterPages) {
    throw expired(encode({ revision: -1, start: position.start, pages: 0 }))
  }
  return position
}

const encode = ({ revision, start, pages }: Position) =>
  Buffer.from(JSON.stringify({ v: 'lab/v1', rv: revision, start, pages })).toString('base64url')

function decode(token: string): Position | null {
  try {
    const { rv, start, pages } = JSON.parse(Buffer.from(token, 'base64url').toString())
    const isPosition = [rv, start, pages].every(Number.isInteger) && start >= 0
    return isPosition ? { revision: rv, start, pages } : null
  } catch {
    return null // no token of ours
  }
}
