import { ssmPermissions } from '#clients/ssm.ts'
import type { Collector } from '#collect/collector.ts'
import { isRawObject, type RawObject, type ReadError } from '#model/record.ts'

/** What only the node itself knows, told by a fixed script that SSM runs there: its kubelet's files and flags, disks, logs, images, containers. */
export const inspect: Collector = {
  answers: ['host', 'runtime'],
  permissions: { kubernetes: [], aws: ssmPermissions },
  tells: 'what only the node knows: files on disk, images and their pins, dead containers, filesystems, logs, kernel',
  isAnsweredByKubelet: true,

  async collect(node, { inspector }) {
    if (inspector === null)
      throw new Error("in which account and region the cluster's instances are is not known: give --region, or set AWS_REGION")
    const { host, runtime, configz } = await inspector.inspect(node)
    return {
      host,
      ...(runtime === null ? { errors: [withoutRuntime(host)] } : { runtime }),
      // Where root may not read it, or nobody serves it, the files are all there is.
      ...(configz !== null && { configz }),
    }
  },
}

function withoutRuntime({ unread }: RawObject): ReadError {
  const reasons = (Array.isArray(unread) ? unread.filter(isRawObject) : [])
    .filter(({ what }) => String(what).startsWith('runtime'))
    .map(({ what, why }) => `${String(what)}: ${String(why)}`)
  return { what: 'runtime', message: reasons.join('; ') || "the node's answer names no images and no containers" }
}
