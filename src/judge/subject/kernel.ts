/** What the node reports about its kernel, by the contract of `host.kernel`. */
import type { NodeSubject } from './node-subject.ts'

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

/** What the node reports about its kernel, by the contract of `host.kernel`. Null: unknown. */
export function kernelOf({ host, node }: NodeSubject) {
  const kernel = host?.kernel ?? {}
  const textOf = (value: string | undefined) => value || null
  const { cgroupVersion } = kernel
  const countOf = (value: number | undefined) =>
    value !== undefined && Number.isSafeInteger(value) ? value : null
  return {
    /** `5.10.230-223.885.amzn2.x86_64`, from the host or from the Node object. */
    release: textOf(kernel.release) ?? textOf(node.status?.nodeInfo?.kernelVersion),
    cmdline: textOf(kernel.cmdline),
    cgroupVersion: cgroupVersion === 1 || cgroupVersion === 2 ? cgroupVersion : null,
    memoryCgroups: countOf(kernel.memoryCgroups),
    /** Deleted cgroups that still exist. cgroup v1 counts them in `memoryCgroups`, v2 does not. */
    dyingMemoryCgroups: countOf(kernel.dyingMemoryCgroups),
  }
}
