/** Whether nothing of a pod with that `status.phase` will run again. Source: pkg/api/v1/pod/util.go IsPodPhaseTerminal. */
export const isTerminalPhase = (phase: unknown): boolean =>
  phase === 'Succeeded' || phase === 'Failed'
