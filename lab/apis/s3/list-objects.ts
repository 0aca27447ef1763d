/** ListObjectsV2: keys in the order of their bytes, in pages, folded at a delimiter. */
import type { Reply } from '#lab/api.ts'
import type { Elements } from '#lab/xml.ts'
import { invalidArgument } from './refusals.ts'
import type { S3Request } from './request.ts'
import { xmlReply } from './xml-reply.ts'

export const listParameters = [
  'list-type',
  'prefix',
  'delimiter',
  'max-keys',
  'continuation-token',
  'start-after',
  'encoding-type',
  'x-id',
]

export const versionParameters = ['versions', 'prefix', 'max-keys', 'encoding-type', 'x-id']

const maxPageKeys = 1000

/** A key, or a common prefix that stands for all keys under it. */
interface Entry {
  name: string
  isPrefix: boolean
}

export function listObjects({ world, bucket, query }: S3Request): Reply {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const encoding = query.get('encoding-type')
  if (encoding !== null && encoding !== 'url')
    throw invalidArgument('Invalid Encoding Method specified in Request')
  const encode = encoding === 'url' ? urlEncode : (name: string) => name
  const maxKeys = pageSizeOf(query)
  const token = query.get('continuation-token')
  const after = token === null ? (query.get('start-after') ?? '') : keyOf(token)

  const objects = world.s3.objects
  const entries = folded(
    objects
      .keys(bucket)
      .filter(key => key.startsWith(prefix))
      .sort(byBytes),
    prefix,
    delimiter,
  )
  const left = entries.filter(({ name }) => after === '' || byBytes(name, after) > 0)
  const page = left.slice(0, maxKeys)
  const isTruncated = left.length > page.length && maxKeys > 0
  return xmlReply('ListBucketResult', {
    Name: bucket,
    Prefix: encode(prefix),
    ...(delimiter && { Delimiter: encode(delimiter) }),
    MaxKeys: String(maxKeys),
    KeyCount: String(page.length),
    IsTruncated: String(isTruncated),
    ...(encoding && { EncodingType: encoding }),
    ...(token !== null && { ContinuationToken: token }),
    ...(query.get('start-after') && { StartAfter: encode(after) }),
    ...(isTruncated && { NextContinuationToken: tokenOf(page.at(-1)!.name) }),
    Contents: page.filter(({ isPrefix }) => !isPrefix).map(({ name }) => contents(name)),
    CommonPrefixes: page
      .filter(({ isPrefix }) => isPrefix)
      .map(({ name }) => ({ Prefix: encode(name) })),
  })

  function contents(key: string): Elements {
    const object = objects.get(bucket, key)
    return {
      Key: encode(key),
      ...(object && {
        LastModified: new Date(object.lastModifiedMs).toISOString(),
        ETag: `"${object.etag}"`,
        Size: String(object.body.length),
      }),
      StorageClass: 'STANDARD',
    }
  }
}

/** The last version of each object, and the delete markers of what was deleted: older versions are not kept. */
export function listObjectVersions({ world, bucket, query }: S3Request): Reply {
  const prefix = query.get('prefix') ?? ''
  const { objects, deleted } = world.s3
  const marked = [...deleted]
    .filter(name => name.startsWith(`${bucket}/`))
    .map(name => name.slice(bucket.length + 1))
  const isMeant = (key: string) => key.startsWith(prefix)
  const version = (key: string): Elements => ({ Key: key, VersionId: 'null', IsLatest: 'true' })
  const present = objects.keys(bucket).filter(isMeant).sort(byBytes)
  return xmlReply('ListVersionsResult', {
    Name: bucket,
    Prefix: prefix,
    MaxKeys: String(pageSizeOf(query)),
    IsTruncated: 'false',
    Version: present.slice(0, pageSizeOf(query)).map(version),
    DeleteMarker: marked.filter(key => isMeant(key) && !present.includes(key)).map(version),
  })
}

function folded(keys: string[], prefix: string, delimiter: string): Entry[] {
  const entries = new Map<string, Entry>()
  for (const key of keys) {
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1
    const name = end < 0 ? key : key.slice(0, end + delimiter.length)
    entries.set(name, { name, isPrefix: end >= 0 })
  }
  return [...entries.values()]
}

function pageSizeOf(query: URLSearchParams): number {
  const asked = query.get('max-keys') ?? String(maxPageKeys)
  if (!/^\d{1,10}$/.test(asked))
    throw invalidArgument('Provided max-keys not an integer or within integer range')
  return Math.min(Number(asked), maxPageKeys)
}

const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

const tokenMark = 'after:'
const tokenOf = (key: string) => Buffer.from(tokenMark + key).toString('base64')

function keyOf(token: string): string {
  const decoded = Buffer.from(token, 'base64').toString()
  if (!decoded.startsWith(tokenMark))
    throw invalidArgument('The continuation token provided is incorrect')
  return decoded.slice(tokenMark.length)
}

/** As S3 does it: a space is a plus, slashes stay. */
const urlEncode = (name: string) =>
  encodeURIComponent(name)
    .replace(/[!'()~]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
    .replaceAll('%2F', '/')
