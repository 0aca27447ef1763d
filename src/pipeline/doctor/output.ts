/** Where agents put what is longer than SSM keeps: whether it is there, and may be read. What is asked for is an object that there never was. */

import { s3Store } from '#clients/s3.ts'
import type { AwsPlace } from '#discover/discover.ts'
import { type InspectOutput, outputFolder } from '#facts/aws/inspect-output.ts'
import type { Check } from '#model/checkup.ts'
import { messageOf } from '#model/error-message.ts'
import type { NeededRight } from '#pipeline/access/permissions.ts'
import { check, failedCall } from './checks.ts'

interface Asking {
  signal: AbortSignal
  /** By right. */
  needed: ReadonlyMap<string, NeededRight>
}

export async function outputChecks(
  output: InspectOutput,
  place: AwsPlace,
  { signal, needed }: Asking,
): Promise<Check[]> {
  const store = s3Store({ ...place, bucket: output.bucket, prefix: outputFolder(output), signal })
  const errorOf = async (call: () => Promise<unknown>): Promise<unknown> => {
    try {
      await call()
      return null
    } catch (error) {
      signal.throwIfAborted()
      return error
    }
  }
  const neededOf = (right: string): NeededRight => needed.get(right) ?? { right, tells: '' }
  const [mayList, mayRead] = [neededOf('s3:ListBucket'), neededOf('s3:GetObject')]
  const what = `inspectOutput ${store.location}`
  const unlisted = await errorOf(async () => store.list('')[Symbol.asyncIterator]().next())
  if (unlisted !== null) {
    const listing = failedCall(mayList, unlisted)
    if (listing.state !== 'missing')
      return [check(what, 'failed', messageOf(unlisted), mayRead.tells)]
    return [
      listing,
      check(
        mayRead.right,
        'unchecked',
        'not tried: without s3:ListBucket S3 calls forbidden what is not there',
        mayRead.tells,
      ),
    ]
  }
  const unread = await errorOf(() => store.read('highwater-doctor'))
  return [
    check(mayList.right, 'ok', 'answered'),
    unread === null ? check(mayRead.right, 'ok', 'answered') : failedCall(mayRead, unread),
    check(
      what,
      'note',
      "it is there; whether the instances' own roles may write there (s3:PutObject) is not tried",
    ),
  ]
}
