/** Whether a pod with this `status.phase` will never run again. Source: pkg/api/v1/pod/util.go IsPodPhaseTerminal. */
export const isTerminalPhase = (phase: unknown): boolean =>
  phase === 'Succeeded' || phase === 'Failed'
