/** Every family of golden vectors that is known. */
import { allocatable } from './allocatable.ts'
import { containerGc } from './container-gc.ts'
import { csrCleaner } from './csr-cleaner.ts'
import { evictionRank } from './eviction-rank.ts'
import { evictionSync } from './eviction-sync.ts'
import type { Family } from './family.ts'
import { imageGc } from './image-gc.ts'
import { jobTtl } from './job-ttl.ts'
import { kubeletDefaults } from './kubelet-defaults.ts'
import { kubeletValidation } from './kubelet-validation.ts'
import { logRotation } from './log-rotation.ts'
import { oomScore } from './oom-score.ts'
import { podGcFamily } from './pod-gc.ts'
import { quantity } from './quantity.ts'
import { thresholds } from './thresholds.ts'
import { thresholdsMet } from './thresholds-met.ts'

export const families: readonly Family<never>[] = [
  allocatable,
  containerGc,
  csrCleaner,
  evictionRank,
  evictionSync,
  imageGc,
  jobTtl,
  kubeletDefaults,
  kubeletValidation,
  logRotation,
  oomScore,
  podGcFamily,
  quantity,
  thresholds,
  thresholdsMet,
]
