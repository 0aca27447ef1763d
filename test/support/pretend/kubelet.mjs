/**
 * A stand-in kubelet, started anew: reads its files as the kubelet does, checks them by rules of its own, and stays down on what it does not take.
 *
 *   node kubelet.mjs ROOT WORLD
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [root, world] = process.argv.slice(2)
const read = path => readFileSync(join(root, path), 'utf8')
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

function patched(onto, patch) {
  if (!isObject(patch)) return patch
  const result = isObject(onto) ? { ...onto } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = patched(result[key], value)
  }
  return result
}

/** Of YAML no more than one level of scalars, which is what the pretend nodes have. */
function scalar(value) {
  if (value === '') return {}
  return /^\d+$/.test(value) ? Number(value) : value
}

function parse(text) {
  if (text.trimStart().startsWith('{')) return JSON.parse(text)
  const result = {}
  for (const line of text.split('\n')) {
    const [, key, value] = /^(\w+): *"?([^"#]*?)"? *$/.exec(line) ?? []
    if (key !== undefined) result[key] = scalar(value)
    else if (!/^( |#|$)/.test(line)) throw new Error(`yaml: ${line}`)
  }
  return result
}

function configuration() {
  const [main] = [
    '/etc/kubernetes/kubelet/config.json',
    '/etc/kubernetes/kubelet/kubelet-config.json',
  ].filter(path => existsSync(join(root, path)))
  let merged = parse(read(main))
  const environment = existsSync(join(root, 'etc/eks/kubelet/environment'))
    ? read('etc/eks/kubelet/environment')
    : ''
  const folder = /--config-dir=(\S+)/.exec(environment)?.[1]
  if (folder !== undefined)
    for (const name of readdirSync(join(root, folder)).toSorted())
      if (name.endsWith('.conf')) merged = patched(merged, parse(read(join(folder, name))))
  return merged
}

function check(configuration) {
  if (configuration.kind !== 'KubeletConfiguration')
    throw new Error('no kind "KubeletConfiguration" is registered')
  const percent = (name, otherwise) => {
    const value = configuration[name] ?? otherwise
    if (!Number.isInteger(value))
      throw new Error(`json: cannot unmarshal into Go struct field ${name} of type int32`)
    if (value < 0 || value > 100)
      throw new Error(`invalid configuration: ${name} must be between 0 and 100, inclusive`)
    return value
  }
  const high = percent('imageGCHighThresholdPercent', 85)
  const low = percent('imageGCLowThresholdPercent', 80)
  if (low >= high)
    throw new Error(
      'invalid configuration: imageGCLowThresholdPercent must be less than imageGCHighThresholdPercent',
    )
  const maxFiles = configuration.containerLogMaxFiles ?? 5
  if (!Number.isInteger(maxFiles) || maxFiles < 2)
    throw new Error('containerLogMaxFiles must be greater than 1')
  for (const [signal, value] of Object.entries(configuration.evictionHard ?? {}))
    if (!/^(\d+(\.\d+)?%|\d+([KMGT]i)?)$/.test(value))
      throw new Error(`evictionHard ${signal}: ${value}`)
}

try {
  const running = configuration()
  check(running)
  writeFileSync(join(world, 'running.json'), `${JSON.stringify(running)}\n`)
} catch (error) {
  process.stderr.write(`failed to run Kubelet: ${error.message}\n`)
  process.exitCode = 1
}
