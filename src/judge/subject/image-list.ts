import { configurationDefaults } from '#facts/kubelet/fields.ts'
import type { NodeSubject } from './node-subject.ts'

/** Whether images may be missing: the Node object lists as many as it can, and the runtime was not asked. Upstream: pkg/kubelet/nodestatus/setters.go Images */
export function isImageListCut({
  runtime,
  node,
  configuration,
}: Pick<NodeSubject, 'runtime' | 'node' | 'configuration'>): boolean {
  const most = configuration?.nodeStatusMaxImages ?? configurationDefaults.nodeStatusMaxImages ?? 50
  const listed = node.status?.images?.length ?? 0
  return runtime?.images === undefined && most >= 0 && listed > 0 && listed >= most
}
