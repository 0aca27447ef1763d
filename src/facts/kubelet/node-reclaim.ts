import type { FilesystemLayout } from '#model/prediction.ts'

/** `containers`: all dead containers. `images`: all images that no container uses. */
export type ReclaimKind = 'containers' | 'images'

const nothing: readonly ReclaimKind[] = []
const everything: readonly ReclaimKind[] = ['containers', 'images']

/** Kinds in upstream's order. Empty: pressure evicts pods at once. Source: pkg/kubelet/eviction/helpers.go buildSignalToNodeReclaimFuncs. */
export const nodeReclaimKinds: Readonly<
  Record<FilesystemLayout, { nodefs: readonly ReclaimKind[]; imagefs: readonly ReclaimKind[] }>
> = {
  shared: { nodefs: everything, imagefs: everything },
  imagefs: { nodefs: nothing, imagefs: everything },
  split: { nodefs: ['containers'], imagefs: ['images'] },
}
