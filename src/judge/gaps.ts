import { type ProbePart, probePart } from '#facts/probe-parts.ts'
import type { Host, HostFile, NodeInput } from '#model/node-input.ts'
import { bounded } from './text.ts'

export interface Gap {
  source: 'host' | 'runtime'
  open: string
  why: string
}

const shown = 5

/** Empty if the source itself was not read. */
export function gapsOf({ host, runtime }: Pick<NodeInput, 'host' | 'runtime'>): Gap[] {
  const unread = (host?.unread ?? []).map(({ what = '', why = '' }) => ({
    what,
    why,
    part: probePart(what),
  }))
  const reasonFor = (parts: readonly ProbePart['is'][]) =>
    unread.find(({ part }) => parts.includes(part.is))?.why ?? 'not in the answer'
  const gap = (
    source: Gap['source'],
    name: string,
    open: string,
    ...parts: ProbePart['is'][]
  ): Gap => ({ source, open, why: bounded(`${name}: ${reasonFor(parts)}`, 300) })
  const gaps: Gap[] = []
  if (host !== null && host.kubelet?.files === undefined)
    gaps.push(
      gap(
        'host',
        'kubelet',
        'what the files and flags of its kubelet say',
        'kubelet',
        'kubelet-file',
      ),
    )
  gaps.push(...unreadFiles(host, unread))
  if (host !== null && host.filesystems === undefined)
    gaps.push(gap('host', 'filesystems', 'how full its disks are', 'filesystems'))
  if (runtime !== null && runtime.images === undefined)
    gaps.push(gap('runtime', 'images', 'which images it has', 'runtime', 'images'))
  if (runtime !== null && runtime.containers === undefined)
    gaps.push(gap('runtime', 'containers', 'which containers it has', 'runtime', 'containers'))
  return gaps
}

function unreadFiles(
  host: Host | null,
  unread: readonly { what: string; why: string; part: ProbePart }[],
): Gap[] {
  const files = (host?.kubelet?.files ?? []).filter(isUnread).slice(0, shown)
  const folders = unread.filter(({ part }) => part.is === 'drop-ins').slice(0, shown)
  return [
    ...files.map(({ path = '' }): Gap => {
      const reason = unread.find(({ part }) => part.is === 'kubelet-file' && part.path === path)
      return {
        source: 'host',
        open: `what ${bounded(path, 200)} says`,
        why: bounded(`${path}: ${reason?.why ?? 'without its fields'}`, 300),
      }
    }),
    ...folders.map(
      ({ what, why }): Gap => ({
        source: 'host',
        open: `what all ${bounded(what, 200)} say`,
        why: bounded(`${what}: ${why}`, 300),
      }),
    ),
  ]
}

const isUnread = ({ role, content }: HostFile) =>
  (role === 'config' || role === 'drop-in') && (content === null || content === undefined)
