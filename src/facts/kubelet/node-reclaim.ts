import type { FilesystemLayout } from '#model/prediction.ts'

/** `containers`: all dead ones. `images`: all that no container uses. */
export type ReclaimKind = 'containers' | 'images'

const nothing: readonly ReclaimKind[] = []
const everything: readonly ReclaimKind[] = ['containers', 'images']

/** In upstream's order; empty: pressure evicts at once. Source: pkg/kubelet/eviction/helpers.go buildSignalToNodeReclaimFuncs. */
export const nodeReclaimKinds: Readonly<
  Record<FilesystemLayout, { nodefs: readonly ReclaimKind[]; imagefs: readonly ReclaimKind[] }>
> = {
  shared: { nodefs: everything, imagefs: everything },
  imagefs: { nodefs: nothing, imagefs: everything },
  split: { nodefs: ['containers'], imagefs: ['images'] },
}
