/** The shelf: every rule, sorted by id. */
import type { Rule } from '#judge/rule.ts'
import { invalidKubeletConfiguration } from './configuration/invalid-kubelet-configuration.ts'
import { unreadNode } from './coverage/unread-node.ts'
import { peerDrift } from './drift/peer-drift.ts'
import { evictionDue } from './eviction/eviction-due.ts'
import { lostDefaultThreshold } from './eviction/lost-default-threshold.ts'
import { unwatchedImagefs } from './eviction/unwatched-imagefs.ts'
import { alertBeforeImageGc } from './image-gc/alert-before-image-gc.ts'
import { evictionBeforeImageGc } from './image-gc/eviction-before-image-gc.ts'
import { imageGcDue } from './image-gc/image-gc-due.ts'

export const rules: readonly Rule[] = [
  alertBeforeImageGc,
  evictionBeforeImageGc,
  evictionDue,
  imageGcDue,
  invalidKubeletConfiguration,
  lostDefaultThreshold,
  peerDrift,
  unreadNode,
  unwatchedImagefs,
]
