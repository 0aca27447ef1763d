/** What a node has not told of itself though it answered: the parts without which much of it stays open. */
import type { Host, HostFile, NodeInput } from '#model/node-input.ts'
import { bounded } from './text.ts'

export interface Gap {
  source: 'host' | 'runtime'
  /** What is not known without it, in words. */
  open: string
  /** The part, and why it is not there. */
  why: string
}

/** Of what was not told at all nothing is said here. */
export function gapsOf({ host, runtime }: Pick<NodeInput, 'host' | 'runtime'>): Gap[] {
  const reasons = unreadIn(host)
  const reasonFor = (about: RegExp) =>
    reasons.find(({ what }) => about.test(what))?.why ?? 'the node did not tell it'
  const gap = (source: Gap['source'], part: string, open: string, about: RegExp): Gap => ({
    source,
    open,
    why: bounded(`${part}: ${reasonFor(about)}`, 300),
  })
  const gaps: Gap[] = []
  if (host !== null) {
    const files = host.kubelet?.files
    if (files === undefined)
      gaps.push(
        gap(
          'host',
          'kubelet',
          'what the files and flags of its kubelet say',
          /^(?:host\.)?kubelet/,
        ),
      )
    for (const { path } of (files ?? []).filter(isUntold).slice(0, shown)) {
      const file = String(path)
      const why = reasons.find(
        ({ what }) => what.startsWith('kubelet file') && what.endsWith(file),
      )?.why
      gaps.push({
        source: 'host',
        open: `what ${bounded(file, 200)} says`,
        why: bounded(`${file}: ${why ?? 'told without its fields'}`, 300),
      })
    }
    for (const { what, why } of reasons
      .filter(reason => reason.what.startsWith('drop-ins in '))
      .slice(0, shown))
      gaps.push({
        source: 'host',
        open: `what all ${bounded(what, 200)} say`,
        why: bounded(`${what}: ${why}`, 300),
      })
    if (host.filesystems === undefined)
      gaps.push(gap('host', 'filesystems', 'how full its disks are', /^(?:host\.)?filesystem/))
  }
  if (runtime !== null) {
    if (runtime.images === undefined)
      gaps.push(gap('runtime', 'images', 'which images it has', /^runtime(?:\.images)?$/))
    if (runtime.containers === undefined)
      gaps.push(
        gap('runtime', 'containers', 'which containers it has', /^runtime(?:\.containers)?$/),
      )
  }
  return gaps
}

const shown = 5

/** A file that the kubelet reads, of which nobody knows what it says. */
const isUntold = ({ role, content }: HostFile) =>
  (role === 'config' || role === 'drop-in') && (content === null || content === undefined)

const unreadIn = (host: Host | null) =>
  (host?.unread ?? []).map(({ what, why }) => ({ what: String(what), why: String(why) }))
