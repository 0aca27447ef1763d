import { expect, it } from 'vitest'
import { ChangedNode, packed, sha256 } from '#test/changed-node.ts'
import { platforms } from '#test/node-root.ts'
import { al2 } from '#test/node-roots.ts'

it.each(platforms())('try $name', async platform => {
  const node = new ChangedNode('Highwater-ApplyKubeletConfig', al2(), platform)
  const path = '/etc/kubernetes/kubelet/kubelet-config.json'
  const old = node.read(path)!
  const content = JSON.stringify({ ...JSON.parse(old), imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50 }, null, 2)
  const p = { Action: 'apply', Run: 'run-00000001', Method: 'kubelet-file', Path: path, OldSha256: sha256(old), NewSha256: sha256(content), Content: packed(content), TimeoutSeconds: '240' }
  console.time('a')
  console.log(await node.send({ ...p, Action: 'check' }))
  console.log(await node.send(p))
  console.timeEnd('a')
  console.log(node.everything(), node.running(), node.restarts())
  console.log(await node.send(p))
  console.log(await node.send({ ...p, Action: 'rollback' }))
  console.log(node.restarts(), node.everything('var/lib/highwater'))
}, 30000)
