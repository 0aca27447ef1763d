/** Parts of a node that the inspect script names in `host.unread[].what`. Source: remediate/scripts/inspect.sh `unread`. */

export type ProbePart =
  | { is: 'kubelet' | 'filesystems' | 'runtime' | 'images' | 'containers' | 'logrotate' | 'other' }
  /** A configuration file or drop-in folder of the kubelet, or a file of logrotate. */
  | { is: 'kubelet-file' | 'drop-ins' | 'logrotate-file'; path: string }

const withPath = [
  ['kubelet-file', 'kubelet file '],
  ['drop-ins', 'drop-ins in '],
  ['logrotate-file', 'logrotate file '],
] as const
const forms: readonly [RegExp, Exclude<ProbePart, { path: string }>['is']][] = [
  [/^(?:host\.)?kubelet/, 'kubelet'],
  [/^(?:host\.)?filesystem/, 'filesystems'],
  [/^runtime$/, 'runtime'],
  [/^runtime\.images$/, 'images'],
  [/^runtime\.containers$/, 'containers'],
  [/^logrotate$/, 'logrotate'],
]

export function probePart(what: string): ProbePart {
  for (const [is, head] of withPath)
    if (what.startsWith(head)) return { is, path: what.slice(head.length) }
  return { is: forms.find(([form]) => form.test(what))?.[1] ?? 'other' }
}
