import type { Collector } from '#collect/collector.ts'

/**
 * The pods bound to the node, in any phase. One small list per node keeps the memory of a run constant. With `resourceVersion=0` the API server answers
 * from its watch cache, which is indexed by node (upstream: pkg/registry/core/pod/strategy.go NodeNameTriggerFunc), not from etcd.
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
