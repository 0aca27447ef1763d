import type { RawObject } from '#base/raw-object.ts'
import type { ChangeFault, InstalledKubelet, NodeadmSources } from './start.ts'

/** A node's machine as data: what lies on its disk, and what its programs say. */
export interface Machine extends RootContents {
  /** Whose programs it has: the host's, or those of the container in which Bottlerocket's agent lives. */
  programs: 'host' | 'control-container'
  /** What the stand-ins answer from, by file name. */
  answers: Readonly<Record<string, string>>
  /** Absent: nothing there starts one anew. */
  kubelet?: InstalledKubelet
  nodeadm?: NodeadmSources
  /** What its kubelet runs with before anything is changed, as `configz` shows it. */
  running?: RawObject
  fault?: ChangeFault
}

export interface RootContents {
  /** By path. */
  files: Readonly<Record<string, RootFile>>
  /** By path, where they lead; an absolute target is one in this root. */
  links?: Readonly<Record<string, string>>
  /** Beside those of the files. */
  folders?: readonly string[]
}

/** A log is as long as it says and takes no room. */
export type RootFile =
  | string
  | Uint8Array
  | { text: string; isExecutable: true }
  | { bytes: number; modifiedAtMs: number }

/** One concern's share of a machine. */
export type MachinePart = Partial<Omit<Machine, 'programs' | 'fault'>>

export function machineFrom(programs: Machine['programs'], parts: readonly MachinePart[]): Machine {
  const lastOf = <Name extends keyof MachinePart>(name: Name): MachinePart[Name] =>
    parts.findLast(part => part[name] !== undefined)?.[name]
  const [kubelet, nodeadm, running] = [lastOf('kubelet'), lastOf('nodeadm'), lastOf('running')]
  return {
    programs,
    ...(kubelet && { kubelet }),
    ...(nodeadm && { nodeadm }),
    ...(running && { running }),
    files: Object.assign({}, ...parts.map(({ files }) => files)),
    links: Object.assign({}, ...parts.map(({ links }) => links)),
    folders: parts.flatMap(({ folders = [] }) => folders),
    answers: Object.assign({}, ...parts.map(({ answers }) => answers)),
  }
}
