import type { RemovedContainers } from '#replay/image-gc/bounds.ts'

/** Containers that are removed at that moment. */
export const removedAt = (ms: number, ids: readonly string[], isSure = true): RemovedContainers =>
  new Map(ids.map(id => [id, { isSure, removal: { earliestMs: ms, latestMs: ms } }]))
