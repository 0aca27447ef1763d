import { type ProbePart, probePart } from '#facts/probe-parts.ts'
import { shorten } from '#judge/text.ts'
import type { Host, HostFile } from '#model/input/inspection.ts'
import type { NodeInput } from '#model/input/node-input.ts'

export interface Gap {
  source: 'host' | 'runtime' | 'summary'
  open: string
  why: string
}

const shown = 5

export type GapInput = Pick<NodeInput, 'host' | 'runtime' | 'summary'>

/** Empty if the source itself was not read. */
export function gapsOf({ host, runtime, summary }: GapInput): Gap[] {
  const unread = (host?.unread ?? []).map(({ what = '', why = '' }) => ({
    what,
    why,
    part: probePart(what),
  }))
  const reasonFor = (parts: readonly ProbePart['is'][]) =>
    unread.find(({ part }) => parts.includes(part.is))?.why ?? 'not in the answer'
  const gaps: Gap[] = []
  const miss = (
    part: unknown,
    [source, name, open]: readonly [Gap['source'], string, string],
    ...parts: ProbePart['is'][]
  ) => {
    if (part === undefined)
      gaps.push({ source, open, why: shorten(`${name}: ${reasonFor(parts)}`, 300) })
  }
  const isImageFsKnown =
    Number(summary?.node?.runtime?.imageFs?.capacityBytes) > 0 ||
    host?.filesystems?.some(({ role }) => role === 'imagefs') === true
  if (summary?.node !== undefined && !isImageFsKnown)
    gaps.push({
      source: 'summary',
      open: 'how full its image filesystem is',
      why: 'no capacity of the image filesystem in the answer',
    })
  if (host !== null) {
    const files = ['host', 'kubelet', 'what the files and flags of its kubelet say'] as const
    miss(host.kubelet?.files, files, 'kubelet', 'kubelet-file')
    gaps.push(...unreadFiles(host, unread))
    miss(host.filesystems, ['host', 'filesystems', 'how full its disks are'], 'filesystems')
  }
  if (runtime !== null) {
    miss(runtime.images, ['runtime', 'images', 'which images it has'], 'runtime', 'images')
    const containers = ['runtime', 'containers', 'which containers it has'] as const
    miss(runtime.containers, containers, 'runtime', 'containers')
  }
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
        open: `what ${shorten(path, 200)} says`,
        why: shorten(`${path}: ${reason?.why ?? 'without its fields'}`, 300),
      }
    }),
    ...folders.map(
      ({ what, why }): Gap => ({
        source: 'host',
        open: `what all ${shorten(what, 200)} say`,
        why: shorten(`${what}: ${why}`, 300),
      }),
    ),
  ]
}

const isUnread = ({ role, content }: HostFile) =>
  (role === 'config' || role === 'drop-in') && (content === null || content === undefined)
