/** Makes outside text fit to be shown: bounded, without control characters, and with units. */

import { percentNumber } from '#base/percent.ts'
import { bytesText } from '#base/text.ts'
import { hourMs } from '#base/units.ts'
import { placedWorkload } from '#model/input/record.ts'

/** Names of Kubernetes objects have at most 253 characters. */
export const nameLength = 253
/** Longest reason or value that a finding carries. */
const valueLength = 400

const isPlain = /^[ -~]*$/
/** Fillers of Hangul and an empty Braille pattern are blank, and letters or signs by their category. */
const unprintable = /[[\p{Cc}\p{Cf}\p{Z}\u115f\u1160\u2800\u3164\uffa0]--[ ]]+/gv

/** `text` cut to `maxLength` UTF-16 units, with control and direction characters as blanks. */
export function shorten(text: string, maxLength = valueLength) {
  // Cut before cleaning, because cleaning a name of many megabytes would take long.
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 3)}...` : text
  return isPlain.test(cut) ? cut : cut.toWellFormed().replace(unprintable, ' ')
}

/** As `shorten`, but keeps both ends: a message ends with its error. */
export function shortenMiddle(text: string, maxLength: number) {
  if (text.length <= maxLength) return shorten(text, maxLength)
  const head = Math.ceil((maxLength - 3) / 3)
  return shorten(`${text.slice(0, head)}...${text.slice(head + 3 - maxLength)}`, maxLength)
}

/** `text` as the name of a Kubernetes object. */
export const shortName = (text: string) => shorten(text, nameLength)

/** Words of others with their addresses broken, so that no program makes links of them: `https[:]//example.com`. */
export const unlinked = (text: string) => text.replace(/(https?|ftp):\/\//gi, '$1[:]//')

/** Whether all characters are visible and in their written order. */
export const isPrintable = (text: string) => text.search(unprintable) < 0

export { bytesText as bytes }

export const percent = (value: number) => `${percentNumber(value)} %`

/** A length of time in words: `45 s`, `12.5 min`, `30 h`. */
export function span(ms: number) {
  if (ms < 120_000) return `${Number((ms / 1000).toFixed(1))} s`
  return ms < 120 * 60_000
    ? `${Number((ms / 60_000).toFixed(1))} min`
    : `${Number((ms / hourMs).toFixed(1))} h`
}

/** `52,420`, as views show it. */
export const counted = (count: number) => count.toLocaleString('en-US')

/** `1 node`, `2 nodes`, `2 pods in deletion`. */
export const plural = (count: number, noun: string) =>
  `${counted(count)} ${count === 1 ? noun : noun.replace(/(?= in | of |$)/, 's')}`

interface NamedPod {
  namespace?: string
  name?: string
}

/** `namespace/name` of a pod or of a reference to it. */
export const podName = (pod: NamedPod | null | undefined) =>
  `${pod?.namespace ?? ''}/${pod?.name ?? ''}`

/** `shop/web-1 (Deployment shop/web)`. */
export function placedPod({
  namespace,
  pod,
  workload,
}: {
  namespace: string
  pod: string
  workload: string | null
}) {
  const owner = workload === null ? '' : ` (${placedWorkload(namespace, workload)})`
  return shorten(`${namespace}/${pod}${owner}`, 2 * nameLength)
}

export const shortPodName = (pod: NamedPod | null | undefined) => shortName(podName(pod))
