/** A store in an S3 bucket. All objects are encrypted at rest, and no cache keeps them. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { storedLimitOf } from '#base/limits.ts'
import { mapOf } from '#base/raw-object.ts'
import {
  type AwsError,
  awsCall,
  awsError,
  awsPages,
  connectionTimeout,
  countingSlowDowns,
  isThrottling,
} from '#clients/aws/aws-failure.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import { presignedUrl } from '#clients/aws/presign.ts'
import { RequestFailure } from '#clients/failure.ts'
import { retry, sleep } from '#clients/pace.ts'
import { s3PutObjectMaxBytes } from '#facts/aws/limits.ts'
import { checkKey, type Store, tooLong } from './store.ts'

/** Actions to read: GetObject on the prefix, ListBucket on the bucket (without ListBucket a missing key looks forbidden). */
export const s3ReadPermissions = ['s3:GetObject', 's3:ListBucket']
/** All actions of this file except ListBucketVersions, for the function's role. */
export const s3Permissions = [...s3ReadPermissions, 's3:PutObject']
/** For `wasWritten`, which only a remediation calls. */
export const s3VersionsPermissions = ['s3:ListBucketVersions']
/** For objects encrypted by a KMS key: S3 calls KMS on behalf of the reader. */
export const s3KmsReadPermissions = ['kms:Decrypt']
/** For S3 to call KMS on our behalf, if the bucket or the policy names a KMS key. Source: S3 user guide, Using server-side encryption with KMS keys. */
export const s3KmsPermissions = [...s3KmsReadPermissions, 'kms:GenerateDataKey']

export interface S3StoreOptions {
  bucket: string
  /** Empty, or ends in `/`. */
  prefix: string
  region: string
  /** Absent: the SDK's own credential chain. */
  credentials?: CredentialSource
  /** Id or ARN of a KMS key. Null or absent: S3's own key (AES256). */
  kmsKeyId?: string | null
  /** Aborts running requests. */
  signal?: AbortSignal
  /** How long a connection may stay silent, in milliseconds; default 20 s. */
  idleTimeoutMs?: number
  /** Longest object that is read, in bytes; default: `storedLimitOf` its key. */
  readMaxBytes?: number
  /** First wait before a retry that the SDK does not make; it grows each time. Default 200 ms. */
  backoffMs?: number
}

const defaultIdleTimeoutMs = 20_000
const tries = 3
const defaultBackoffMs = 200

// Errors are thrown, so the logger drops the SDK's warning that a stream cannot be retried.
const noop = () => undefined
const silent = { debug: noop, info: noop, warn: noop, error: noop }

type Write = Pick<
  PutObjectCommandInput,
  'Body' | 'ContentType' | 'ContentLength' | 'ChecksumSHA256' | 'IfNoneMatch' | 'IfMatch'
>

/** All methods throw RequestFailure with a message for people, or the signal's reason. */
export function s3Store(options: S3StoreOptions): Store {
  const bucket = new Bucket(options)
  const { prefix } = options
  const fullKey = (key: string) => prefix + checkKey(key)
  return {
    location: `s3://${options.bucket}/${prefix}`.replace(/\/$/, ''),
    read: async key => bucket.read(fullKey(key), options.readMaxBytes ?? storedLimitOf(key)),
    async write(key, Body, ContentType) {
      await bucket.put(fullKey(key), { Body, ContentType })
    },
    create: async (key, Body, ContentType) =>
      bucket.putIf(fullKey(key), { Body, ContentType, IfNoneMatch: '*' }),
    replace: async (key, Body, IfMatch, ContentType) =>
      bucket.putIf(fullKey(key), { Body, ContentType, IfMatch }),
    writeFile: async (key, path, contentType) => bucket.putFile(fullKey(key), path, contentType),
    wasWritten: async key => bucket.hasVersions(fullKey(key)),
    async *list(keyPrefix) {
      for await (const at of bucket.keys(prefix + keyPrefix)) yield at.slice(prefix.length)
    },
  }
}

/** A bucket. Its methods take whole keys, which begin with the prefix of the store. */
class Bucket {
  readonly #name: string
  readonly #region: string
  readonly #kmsKeyId: string | null
  readonly #signal: AbortSignal
  readonly #backoffMs: number
  readonly #client: S3Client

  constructor(options: S3StoreOptions) {
    this.#name = options.bucket
    this.#region = options.region
    this.#kmsKeyId = options.kmsKeyId ?? null
    this.#signal = options.signal ?? new AbortController().signal
    this.#backoffMs = options.backoffMs ?? defaultBackoffMs
    this.#client = countingSlowDowns('S3', clientOf(options))
  }

  /** Null: the key does not exist. */
  async read(at: string, maxBytes: number): Promise<{ body: Buffer; version: string } | null> {
    const found = await this.#call(`GetObject ${at}`, s3ReadPermissions, () =>
      this.#get(at, maxBytes),
    )
    if (typeof found !== 'number') return found
    throw tooLong(`${at} in the bucket ${this.#name}`, found, maxBytes)
  }

  has(at: string) {
    const command = new HeadObjectCommand({ Bucket: this.#name, Key: at })
    return this.#call(`HeadObject ${at}`, s3ReadPermissions, async () => {
      try {
        await this.#client.send(command, { abortSignal: this.#signal })
        return true
      } catch (error) {
        if (awsError(error).status === 404) return false
        throw error
      }
    })
  }

  put(at: string, write: Write): Promise<unknown> {
    return this.#call(`PutObject ${at}`, ['s3:PutObject'], () => this.#send(at, write))
  }

  /** Returns false if the condition does not hold. */
  putIf(at: string, write: Write) {
    return this.#call(`PutObject ${at}`, ['s3:PutObject'], async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          await this.#send(at, write)
          return true
        } catch (error) {
          const { name, status } = awsError(error)
          if (status === 412 || (write.IfMatch !== undefined && name === 'NoSuchKey')) return false
          // Another conditional write of this key is running. Retry: its result decides.
          if (status !== 409 || attempt > tries) throw error
          await sleep(this.#backoffMs * attempt, this.#signal)
        }
      }
    })
  }

  /** Computes the checksum first, so that the SDK sends the body unchanged. */
  async putFile(at: string, path: string, contentType: string) {
    const { bytes, sha256 } = await digest(path)
    if (bytes > s3PutObjectMaxBytes)
      throw new Error(
        `${path} has ${bytes} bytes, more than the ${s3PutObjectMaxBytes} that S3 takes at once`,
      )
    const write = { ContentType: contentType, ContentLength: bytes, ChecksumSHA256: sha256 }
    // The SDK cannot retry a stream, so each try opens the file again.
    const putOnce = async () => {
      const body = createReadStream(path)
      try {
        await this.put(at, { ...write, Body: body })
      } finally {
        body.destroy()
      }
    }
    const backoffMs = 2 * this.#backoffMs
    await retry(putOnce, { tries, signal: this.#signal, isPassing: isTransient, backoffMs })
  }

  async hasVersions(at: string) {
    const command = new ListObjectVersionsCommand({ Bucket: this.#name, Prefix: at })
    const {
      Versions = [],
      DeleteMarkers = [],
      IsTruncated,
    } = await this.#call(`ListObjectVersions ${at}`, s3VersionsPermissions, () =>
      this.#client.send(command, { abortSignal: this.#signal }),
    )
    // S3 sorts keys, so the key itself comes before every longer key.
    const keys = [...Versions, ...DeleteMarkers].map(({ Key }) => Key)
    if (keys.length === 0 && IsTruncated === true)
      throw new Error(`S3 ListObjectVersions ${at} in ${this.#name}: the answer is not complete`)
    return keys.includes(at)
  }

  async *keys(prefix: string): AsyncGenerator<string> {
    const pages = paginateListObjectsV2(
      { client: this.#client },
      { Bucket: this.#name, Prefix: prefix },
      { abortSignal: this.#signal },
    )
    const call = this.#callOf(`ListObjectsV2 ${prefix}`, ['s3:ListBucket'])
    for await (const { Contents = [] } of awsPages(call, pages))
      for (const { Key } of Contents) if (Key !== undefined) yield Key
  }

  /** Returns a number, the object's length in bytes, if the object is too long. */
  async #get(at: string, maxBytes: number) {
    const command = new GetObjectCommand({ Bucket: this.#name, Key: at })
    try {
      const found = await this.#client.send(command, { abortSignal: this.#signal })
      const { Body, ETag, ContentLength = 0 } = found
      if (ContentLength > maxBytes) {
        if (Body && 'destroy' in Body) Body.destroy()
        return ContentLength
      }
      const body = Buffer.from((await Body?.transformToByteArray()) ?? [])
      return { body, version: ETag ?? '' }
    } catch (error) {
      if (awsError(error).name === 'NoSuchKey') return null
      throw error
    }
  }

  #send(at: string, { ContentType = 'application/json', ...write }: Write) {
    const command = new PutObjectCommand({
      Bucket: this.#name,
      Key: at,
      CacheControl: 'no-store',
      ContentType,
      ...(this.#kmsKeyId === null
        ? { ServerSideEncryption: 'AES256' }
        : { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: this.#kmsKeyId }),
      ...write,
    })
    return this.#client.send(command, { abortSignal: this.#signal })
  }

  #call<T>(what: string, permissions: readonly string[], run: () => Promise<T>) {
    return awsCall(this.#callOf(what, permissions), run)
  }

  #callOf(what: string, permissions: readonly string[]) {
    const [bucket, region, kmsKeyId] = [this.#name, this.#region, this.#kmsKeyId]
    const grant = `${permissions.join(' and ')} on the bucket ${bucket} (and see that its policy does not deny it)`
    const explain = (error: AwsError) => s3Meaning(error, { bucket, region, kmsKeyId })
    return { service: 'S3', what, region, grant, signal: this.#signal, explain }
  }
}

/** Without s3:ListBucket S3 refuses an object that is not there. @throws RequestFailure */
export const hasObject = (options: S3StoreOptions, key: string) =>
  new Bucket(options).has(options.prefix + checkKey(key))

/**
 * A URL that opens the object in a browser until it expires, with the rights of the credentials. No
 * network call.
 */
export async function objectUrl(
  options: S3StoreOptions,
  key: string,
  validity: { expiresIn: number; signingDate: Date },
) {
  const client = clientOf(options)
  let unsigned: HttpRequest | null = null
  // The client resolves the endpoint of region and partition. The request is kept, not sent.
  client.middlewareStack.add(
    () =>
      async ({ request }) => {
        unsigned = request as HttpRequest
        return { response: null, output: { $metadata: {} } as never }
      },
    { step: 'finalizeRequest', priority: 'low', name: 'keepRequest' },
  )
  try {
    const Key = options.prefix + checkKey(key)
    await client.send(new GetObjectCommand({ Bucket: options.bucket, Key }))
    const { protocol, hostname, port, path } = unsigned!
    const host = port === undefined ? hostname : `${hostname}:${port}`
    // S3 does not expect the hash of a body.
    const headers = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
    const { credentials } = client.config
    return await presignedUrl(
      { protocol, host, path, headers },
      { service: 's3', region: options.region, credentials, ...validity },
    )
  } finally {
    client.destroy()
  }
}

interface HttpRequest {
  protocol: string
  hostname: string
  port?: number
  path: string
}

function clientOf({ region, credentials, idleTimeoutMs }: S3StoreOptions) {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_MAX_ATTEMPTS } = process.env
  return new S3Client({
    region,
    credentials,
    maxAttempts: AWS_MAX_ATTEMPTS ? undefined : tries,
    // A custom endpoint usually has no DNS name for each bucket.
    forcePathStyle: Boolean(AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL),
    logger: silent,
    requestHandler: { connectionTimeout, socketTimeout: idleTimeoutMs ?? defaultIdleTimeoutMs },
  })
}

async function digest(path: string) {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { bytes: (await stat(path)).size, sha256: hash.digest('base64') }
}

/** Whether the same request may succeed a moment later. */
function isTransient(error: unknown) {
  if (!(error instanceof RequestFailure)) return false
  return error.status === null
    ? error.kind !== 'tls' && error.kind !== 'name'
    : error.status >= 500 || isThrottling(error.cause)
}

type S3Place = Required<Pick<S3StoreOptions, 'bucket' | 'region' | 'kmsKeyId'>>

/** The meaning of errors that only S3 has. */
function s3Meaning(error: AwsError, { bucket, region, kmsKeyId }: S3Place) {
  const { name, text, status, cause } = error
  if (name === 'NoSuchBucket')
    return `there is no bucket ${bucket} (${text}). Deploy the service, which makes it, or correct the name in its settings`
  const isOfKey = /^KMS\.|^KMS[A-Z]\w*Exception$/.test(name)
  if (isOfKey || (/AccessDenied/.test(name) && /\bkms:/i.test(text)))
    return (
      `the KMS key ${kmsKeyId ?? `of the bucket ${bucket}`} was refused (${text}). It has to be enabled, in ${region}, and its policy ` +
      `has to let this identity ${s3KmsPermissions.join(' and ')}`
    )
  if (status === 301 || elsewhere.includes(name))
    return `the bucket ${bucket} lies in ${bucketRegion(cause) ?? 'another region'} (${text}). Correct the region, or take a bucket in ${region}`
  if (status === 507 || /Quota|StorageFull/i.test(name))
    return `the bucket ${bucket} is full (${text}). Make room in it or raise its quota`
  if (status !== null && status >= 500 && !isThrottling(cause))
    return `S3 could not do it at any try (${status} ${name}: ${text}). It is overloaded or out of room: try again later`
  return null
}

const elsewhere = [
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]

/** The bucket's region, as S3 reports it in the error or in a header. */
function bucketRegion(error: unknown) {
  const { Region, $response } = mapOf(error)
  if (typeof Region === 'string') return Region
  const region = mapOf(mapOf($response).headers)['x-amz-bucket-region']
  return typeof region === 'string' ? region : null
}
