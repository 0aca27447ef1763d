/** A node's machine as data: what lies on its disk, and what its programs say. */
export interface Machine extends RootContents {
  /** Whose programs it has: the host's, or those of the container in which Bottlerocket's agent lives. */
  programs: 'host' | 'control-container'
  /** What the stand-ins answer from, by file name. */
  answers: Readonly<Record<string, string>>
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
export type RootFile = string | Uint8Array | { text: string; isExecutable: true } | { bytes: number; modifiedAtMs: number }

/** One concern's share of a machine. */
export type MachinePart = Partial<Omit<Machine, 'programs'>>

export function machineFrom(programs: Machine['programs'], parts: readonly MachinePart[]): Machine {
  return {
    programs,
    files: Object.assign({}, ...parts.map(({ files }) => files)),
    links: Object.assign({}, ...parts.map(({ links }) => links)),
    folders: parts.flatMap(({ folders = [] }) => folders),
    answers: Object.assign({}, ...parts.map(({ answers }) => answers)),
  }
}
