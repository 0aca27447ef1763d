/** The machine of a profiled node, in agreement with what its kubelet and the API server show of it. */
import type { NodeProfile } from '#lab/nodes/profile.ts'
import { bottlerocketPart } from './bottlerocket.ts'
import { containerdPart } from './containerd.ts'
import { diskUsePart } from './disk-use.ts'
import { filesystemsPart } from './filesystems.ts'
import { kernelPart } from './kernel.ts'
import { kubeletPart } from './kubelet.ts'
import { logsPart } from './logs.ts'
import { type Machine, machineFrom } from './machine.ts'

export function machineOf(profile: NodeProfile, at: string): Machine {
  const fault = profile.changeFault && { fault: profile.changeFault }
  if (profile.family === 'Bottlerocket')
    return {
      ...machineFrom('control-container', [
        kernelPart(profile),
        bottlerocketPart(profile),
        { answers: filesystemsPart(profile).answers ?? {} },
      ]),
      ...fault,
    }
  const parts = [
    ...[kernelPart, kubeletPart, containerdPart, filesystemsPart, logsPart, diskUsePart],
  ].map(part => part(profile, at))
  const machine = machineFrom('host', parts)
  const files = Object.entries({ ...machine.files, ...profile.disk?.files })
  return {
    ...machine,
    ...fault,
    files: Object.fromEntries(
      files.flatMap(([path, file]) => (file === null ? [] : [[path, file]])),
    ),
  }
}
