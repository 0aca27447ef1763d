/**
 * Kinds of unread parts of a node that some reader distinguishes, by `host.unread[].what`.
 * Source: `unread` in remediate/scripts/*.sh, and `unread` in collect/inspect/answer.ts.
 */

export type ProbePart =
  /** `kubelet`: which files and flags the kubelet has; `kubelet-environment`: which flags its unit would give it now. */
  | { is: 'kubelet' | 'kubelet-environment' | 'kubelet-start' }
  | { is: 'filesystems' | 'runtime' | 'images' | 'containers' | 'logrotate' | 'folders' | 'other' }
  /** A configuration file or drop-in folder of the kubelet, or a file of logrotate. */
  | { is: 'kubelet-file' | 'drop-ins' | 'logrotate-file'; path: string }

const withPath = [
  ['kubelet-file', 'kubelet file '],
  ['drop-ins', 'drop-ins in '],
  ['logrotate-file', 'logrotate file '],
] as const
const forms: readonly [RegExp, Exclude<ProbePart, { path: string }>['is']][] = [
  [/^(?:the kubelet's start|the start of the process)$/, 'kubelet-start'],
  [/^kubelet environment/, 'kubelet-environment'],
  [/^(?:host\.|the )?kubelet/, 'kubelet'],
  [/^(?:host\.)?filesystem/, 'filesystems'],
  [/^runtime$/, 'runtime'],
  [/^runtime\.images$/, 'images'],
  [/^runtime\.containers$/, 'containers'],
  [/^(?:host\.)?logrotate$/, 'logrotate'],
  /** Those that are on no list of the measurement. */
  [/^other folders$/, 'folders'],
]

export function probePart(what: string): ProbePart {
  for (const [is, head] of withPath)
    if (what.startsWith(head)) return { is, path: what.slice(head.length) }
  return { is: forms.find(([form]) => form.test(what))?.[1] ?? 'other' }
}
