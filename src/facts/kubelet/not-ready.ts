/**
 * Why a kubelet says that its node is not ready.
 *
 * Sources  pkg/kubelet/runtime.go runtimeErrors, networkErrors; pkg/kubelet/nodestatus/setters.go ReadyCondition
 */
const kinds = [
  [/\bPLEG is not healthy|container runtime (?:is down|status check)/, 'runtime'],
  [/network not ready|\bcni\b/i, 'network'],
  [/node is shutting down/, 'shutdown'],
] as const

export type NotReadyKind = (typeof kinds)[number][1] | 'other'

export const notReadyKind = (message: string): NotReadyKind =>
  kinds.find(([words]) => words.test(message))?.[1] ?? 'other'
