/**
 * A stand-in nodeadm, `init --skip run`: makes the kubelet's files and containerd's of all its sources, in turn.
 *
 *   node nodeadm.mjs ROOT WORLD ARGUMENTS…
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'

const [root, world, ...words] = process.argv.slice(2)
const write = (path, text) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
const sources = words.filter((_, index) => words[index - 1] === '--config-source')
const cache = words.find((_, index) => words[index - 1] === '--config-cache')

const isNone =
  words.slice(0, 3).join(' ') !== 'init --skip run' ||
  !sources.includes('imds://user-data') ||
  cache === undefined
if (isNone) throw new Error(`unknown arguments: ${words.join(' ')}`)

const pieces = sources.flatMap(source => {
  if (source === 'imds://user-data')
    return [JSON.parse(readFileSync(join(world, 'user-data.json'), 'utf8'))]
  const folder = join(root, source.replace('file://', ''))
  return readdirSync(folder)
    .toSorted()
    .filter(name => /\.(ya?ml|json)$/.test(name))
    .map(name => parse(readFileSync(join(folder, name), 'utf8')))
})
const config = Object.assign({}, ...pieces.map(({ spec }) => spec.kubelet?.config ?? {}))
const header = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
write('etc/kubernetes/kubelet/config.json', JSON.stringify({ ...header, maxPods: 58 }, null, 4))
if (existsSync(join(world, 'nodeadm-fails'))) {
  process.stderr.write('could not reach EC2\n')
  process.exit(1)
}
const hasConfig = Object.keys(config).length > 0
if (hasConfig)
  write(
    'etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf',
    JSON.stringify({ ...header, ...config }, null, 4),
  )
const folder = hasConfig ? ' --config-dir=/etc/kubernetes/kubelet/config.json.d' : ''
write(
  'etc/eks/kubelet/environment',
  `NODEADM_KUBELET_ARGS=--config=/etc/kubernetes/kubelet/config.json${folder}\n`,
)
write('etc/containerd/config.toml', 'version = 3\n')
write(cache, JSON.stringify({ spec: pieces }))
