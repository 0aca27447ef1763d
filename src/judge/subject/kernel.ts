/** What the node reports about its kernel, by the contract of `host.kernel`. */
import type { NodeSubject } from './node-subject.ts'

export interface Kernel {
  /** `5.10.230-223.885.amzn2.x86_64`, from the host or from the Node object. */
  release: string | null
  cmdline: string | null
  cgroupVersion: 1 | 2 | null
  memoryCgroups: number | null
  /** Deleted cgroups that still exist. cgroup v1 counts them in `memoryCgroups`, v2 does not. */
  dyingMemoryCgroups: number | null
}

/** Whether a boot option with a list contains the entry. If the option is repeated, all lists count. Upstream: mm/memcontrol.c cgroup_memory. */
export const hasBootOption = (cmdline: string, option: string, entry: string) =>
  cmdline.split(/\s+/).some(
    word =>
      word.startsWith(`${option}=`) &&
      word
        .slice(option.length + 1)
        .split(',')
        .includes(entry),
  )

export function kernelOf({ host, node }: NodeSubject): Kernel {
  const kernel = host?.kernel ?? {}
  const textOf = (value: string | undefined) => value || null
  const { cgroupVersion } = kernel
  const countOf = (value: number | undefined) =>
    value !== undefined && Number.isSafeInteger(value) ? value : null
  return {
    release: textOf(kernel.release) ?? textOf(node.status?.nodeInfo?.kernelVersion),
    cmdline: textOf(kernel.cmdline),
    cgroupVersion: cgroupVersion === 1 || cgroupVersion === 2 ? cgroupVersion : null,
    memoryCgroups: countOf(kernel.memoryCgroups),
    dyingMemoryCgroups: countOf(kernel.dyingMemoryCgroups),
  }
}
