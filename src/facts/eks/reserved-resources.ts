/**
 * Resources that EKS images reserve for Kubernetes, by the formulas of their bootstrap.
 *
 * Sources  awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go getCPUMillicoresToReserve, getMemoryMebibytesToReserve; templates/al2/runtime/bootstrap.sh;
 *          bottlerocket-core-kit schnauzer helpers kube_reserve_cpu, kube_reserve_memory
 */

/** Memory in MiB. `maxPods` is the pods for which the interfaces have addresses, not the setting. */
export const eksReservedMemoryMiB = (maxPods: number): number => 255 + 11 * maxPods

const cpuRanges = [
  { cores: 1, millisPerCore: 60 },
  { cores: 1, millisPerCore: 10 },
  { cores: 2, millisPerCore: 5 },
  { cores: Number.POSITIVE_INFINITY, millisPerCore: 2.5 },
] as const

/** Milli-cores: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest. Each part is rounded down. */
export function eksReservedCpuMillis(cores: number): number {
  let [rest, millis] = [cores, 0]
  for (const range of cpuRanges) {
    const taken = Math.min(rest, range.cores)
    millis += Math.trunc(taken * range.millisPerCore)
    rest -= taken
  }
  return millis
}
