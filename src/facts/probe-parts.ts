/** Parts of a node that the probe names in `host.unread[].what`. Source: remediate/scripts/inspect.sh `unread`. */

export type ProbePart =
  | { is: 'kubelet' | 'filesystems' | 'runtime' | 'images' | 'containers' | 'other' }
  /** A configuration file or drop-in folder of the kubelet. */
  | { is: 'kubelet-file' | 'drop-ins'; path: string }

const withPath = [
  ['kubelet-file', 'kubelet file '],
  ['drop-ins', 'drop-ins in '],
] as const
const forms: readonly [RegExp, Exclude<ProbePart, { path: string }>['is']][] = [
  [/^(?:host\.)?kubelet/, 'kubelet'],
  [/^(?:host\.)?filesystem/, 'filesystems'],
  [/^runtime$/, 'runtime'],
  [/^runtime\.images$/, 'images'],
  [/^runtime\.containers$/, 'containers'],
]

export function probePart(what: string): ProbePart {
  for (const [is, head] of withPath)
    if (what.startsWith(head)) return { is, path: what.slice(head.length) }
  return { is: forms.find(([form]) => form.test(what))?.[1] ?? 'other' }
}
