/** What the node itself said of its kernel, by the contract of `host.kernel`. */
import type { NodeSubject } from './node-subject.ts'

export interface Kernel {
  /** `5.10.230-223.885.amzn2.x86_64`; also from the Node object. */
  release: string | null
  cmdline: string | null
  cgroupVersion: 1 | 2 | null
  memoryCgroups: number | null
  /** Of them those that were deleted and are still there; on cgroup v2 beside them. */
  dyingMemoryCgroups: number | null
}

/** Whether a boot option that takes a list has that entry; given several times all count. Upstream: mm/memcontrol.c cgroup_memory. */
export const hasBootOption = (cmdline: string, option: string, entry: string): boolean =>
  cmdline.split(/\s+/).some(
    word =>
      word.startsWith(`${option}=`) &&
      word
        .slice(option.length + 1)
        .split(',')
        .includes(entry),
  )

export function kernelOf({ host, node }: Pick<NodeSubject, 'host' | 'node'>): Kernel {
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
