/** What the node itself said of its kernel, by the contract of `host.kernel`. */
import { isRawObject } from '#model/record.ts'
import type { NodeSubject } from './rule.ts'

export interface Kernel {
  /** `5.10.230-223.885.amzn2.x86_64`; also from the Node object. */
  release: string | null
  cmdline: string | null
  cgroupVersion: 1 | 2 | null
  memoryCgroups: number | null
}

export function kernelOf({ host, node }: Pick<NodeSubject, 'host' | 'node'>): Kernel {
  const kernel = isRawObject(host?.kernel) ? host.kernel : {}
  const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  const { cgroupVersion, memoryCgroups } = kernel
  return {
    release: textOf(kernel.release) ?? textOf(node.status?.nodeInfo?.kernelVersion),
    cmdline: textOf(kernel.cmdline),
    cgroupVersion: cgroupVersion === 1 || cgroupVersion === 2 ? cgroupVersion : null,
    memoryCgroups: typeof memoryCgroups === 'number' && Number.isSafeInteger(memoryCgroups) ? memoryCgroups : null,
  }
}
