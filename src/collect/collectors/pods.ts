import type { Collector } from '#collect/collector.ts'

/**
 * The pods bound to the node, whatever their phase. One small list a node keeps the memory of a run constant; `resourceVersion=0` has it answered from
 * the API server's watch cache, which is indexed by node (upstream: pkg/registry/core/pod/strategy.go NodeNameTriggerFunc), not from etcd.
 */
export const pods: Collector = {
  answers: ['pods'],
  permissions: { kubernetes: ['list pods'] },
  purpose: 'pods of each node: the order of eviction, images in use',
  isAnsweredByKubelet: false,

  async collect(node, { kubernetes, signal, timeoutsMs }) {
    const query = { fieldSelector: `spec.nodeName=${node.name}`, resourceVersion: '0' }
    const parse = await kubernetes.listUnparsed('/api/v1/pods', query, {
      signal,
      timeoutMs: timeoutsMs.list,
      kind: 'pods',
    })
    return () => ({ pods: parse() })
  },
}
