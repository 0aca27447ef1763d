import type { PlanStep } from '#model/plan.ts'
import { isRawObject, type NodeRecord } from '#model/record.ts'
import { imageHashOn } from '#remediate/remedies/pull-image.ts'

const hashForm = /^[a-f0-9]{64}$/

/** SHA-256 of what stands at the step's path, or of how its image is there, hex or `absent`; null: nobody read it, or there is no file (Bottlerocket). */
export function hashOnDisk(
  { method, path }: Pick<PlanStep, 'method' | 'path'>,
  { host, runtime }: Pick<NodeRecord, 'host' | 'runtime'>,
): string | null {
  if (method === 'bottlerocket') return null
  if (method === 'pull-image') return imageHashOn(runtime ?? null, path)
  const kubelet = isRawObject(host?.kubelet) ? host.kubelet : {}
  const told = method === 'sync-file' ? host?.logrotate : kubelet.files
  const files = Array.isArray(told) ? told.filter(isRawObject) : []
  const file = files.find(one => one.path === path)
  if (file !== undefined)
    return typeof file.sha256 === 'string' && hashForm.test(file.sha256) ? file.sha256 : null
  return files.length > 0 ? 'absent' : null
}
