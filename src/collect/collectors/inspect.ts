import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { ssmPermissions } from '#clients/aws/ssm.ts'
import type { Collector } from '#collect/collector.ts'
import type { ReadError } from '#model/input/record.ts'

/** Data that only the node itself has, from a fixed script that SSM runs there: kubelet files and flags, disks, logs, images, containers. */
export const inspect: Collector = {
  answers: ['host', 'runtime'],
  permissions: { kubernetes: [], aws: ssmPermissions },
  purpose:
    'data of the node itself: files on disk, images and their pins, dead containers, filesystems, logs, kernel',
  isAnsweredByKubelet: true,

  async collect(node, { inspector }) {
    if (inspector === null)
      throw new Error(
        "in which account and region the cluster's instances are is not known: give --region, or set AWS_REGION",
      )
    const { host, runtime, configz } = await inspector.inspect(node)
    const isBare = Object.keys(host).every(key => key === 'schema' || key === 'unread')
    const parts = {
      host,
      ...(runtime !== null && { runtime }),
      // Absent if the kubelet does not serve configz, or refuses root.
      ...(configz !== null && { configz }),
      errors: [
        ...(isBare ? [lack('host', host, 'the node reported nothing about itself')] : []),
        ...(runtime === null
          ? [lack('runtime', host, 'the node reported no images and no containers')]
          : []),
      ],
    }
    return () => parts
  },
}

function lack(what: 'host' | 'runtime', { unread }: RawObject, otherwise: string): ReadError {
  const reasons = (Array.isArray(unread) ? unread.filter(isRawObject) : [])
    .map(entry => ({ of: String(entry.what), why: String(entry.why) }))
    .filter(({ of }) => of === 'host' || of.startsWith(what))
    .map(({ of, why }) => `${of}: ${why}`)
  return { what, message: reasons.join('; ').slice(0, reasonMaxLength) || otherwise }
}

const reasonMaxLength = 600
