/** What rests on a version of the control plane that nobody told. */
import { line } from '#judge/evidence.ts'
import { bounded } from '#judge/text.ts'
import type { ControlPlane } from '#model/cluster-garbage.ts'
import type { Evidence } from '#model/finding.ts'

export const doubtOfVersion = ({ isAssumed }: ControlPlane): { confidence?: 'likely' } =>
  isAssumed ? { confidence: 'likely' } : {}

export function evidenceOfVersion({ version, isAssumed }: ControlPlane): Evidence[] {
  if (!isAssumed) return []
  const value =
    version === null
      ? 'not known, the newest is assumed'
      : `not known, assumed that of the newest kubelet: ${bounded(version)}`
  return [line('object', 'version of the control plane', value)]
}
