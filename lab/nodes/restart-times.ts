/** How long things take after a kubelet was started anew. A cluster's node controller waits longer (40 s); the rest is as with probes of one second. */
export const restartTimes = {
  /** From the start until it is Ready: the runtime's first check. */
  readyMs: 1000,
  /** From its end until the cluster calls its conditions Unknown. */
  unheardMs: 3000,
  /** From Ready until a container has been probed, and once more where it has a startup probe. */
  probeMs: 1000,
}
