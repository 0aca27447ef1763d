import type { NodeInput } from '#model/input/record.ts'
import { isMoment, methodFacts, type PlanStep } from '#model/plan.ts'
import { imageHashOn, imageText } from '#remediate/remedies/pull-image.ts'

const hashForm = /^[a-f0-9]{64}$/

/** SHA-256 at the step's path, of the file or of the image's state: hex or `absent`. Null: unread, or no file (Bottlerocket). */
export function hashOnDisk(
  { method, path }: PlanStep,
  { host, runtime }: NodeInput,
): string | null {
  const { changes, isFile } = methodFacts[method]
  if (changes === 'image') return imageHashOn(runtime, path)
  if (!isFile) return null
  const files = (changes === 'logrotate' ? host?.logrotate : host?.kubelet?.files) ?? []
  const file = files.find(one => one.path === path)
  if (file) return file.sha256 !== undefined && hashForm.test(file.sha256) ? file.sha256 : null
  return files.length > 0 ? 'absent' : null
}

/** The hash for people. @param hash as `hashOnDisk` returns it */
export function hashText({ method, path }: PlanStep, hash: string): string {
  if (methodFacts[method].changes === 'image') return imageText(path, hash)
  return hash === 'absent' ? 'it is not there' : `its SHA-256 is ${hash}`
}

/** When the node's kubelet started, RFC 3339, by the node's own clock; null: unknown. */
export function kubeletStartedAt({ host, known, summary }: NodeInput): string | null {
  const process = summary?.node?.systemContainers?.find(({ name }) => name === 'kubelet')
  const times = [host?.kubelet?.startedAt, known?.kubeletStartedAt, process?.startTime]
  return times.find(time => time !== undefined && isMoment(time)) ?? null
}
