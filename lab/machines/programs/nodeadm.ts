/**
 * The lab's nodeadm, `init --skip run`: writes the kubelet's files of the instance's user data and of every NodeConfig in the folders that it is given.
 * Source: awslabs/amazon-eks-ami nodeadm/cmd/nodeadm/init, internal/kubelet (config.go, environment.go), internal/configprovider
 *
 *   node nodeadm.ts NODE ARGUMENTS…
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import {
  configurationText,
  dropInFolder,
  kind,
  mainFile,
  nodeadmDropIn,
  nodeadmEnvironment,
  withoutFolder,
} from '#lab/machines/nodeadm-files.ts'
import { installedIn, replace } from './beside.ts'
import { patched } from './read-configuration.ts'

const [node = '', ...words] = process.argv.slice(2)

try {
  init()
} catch (error) {
  process.stderr.write(`nodeadm: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

function init(): void {
  const { nodeadm } = installedIn(node)
  if (nodeadm === null) throw new Error('this node was not made by nodeadm')
  if (words.slice(0, 3).join(' ') !== 'init --skip run')
    throw new Error(`the lab's nodeadm does not know: ${words.join(' ')}`)
  const given = (name: string) => words.filter((_, index) => words[index - 1] === name)
  const config = given('--config-source').reduce(
    (all, source) => configOf(source).reduce(patched, all),
    {} as RawObject,
  )
  const isWanted = Object.keys(config).length > 0
  const root = join(node, 'root')
  replace(join(root, mainFile), configurationText({ ...kind, ...nodeadm.main }))
  if (isWanted)
    replace(join(root, dropInFolder, nodeadmDropIn), configurationText({ ...kind, ...config }))
  replace(
    join(root, nodeadmEnvironment.path),
    nodeadmEnvironment.text(isWanted ? nodeadm.flags : withoutFolder(nodeadm.flags)),
  )
  for (const cache of given('--config-cache'))
    replace(join(root, cache), configurationText({ spec: { kubelet: { config } } }))

  function configOf(source: string): RawObject[] {
    if (source === 'imds://user-data') return [nodeadm?.userData ?? {}]
    const folder = join(node, 'root', source.replace(/^file:\/\//, ''))
    if (!existsSync(folder)) return []
    return readdirSync(folder)
      .filter(name => /\.(ya?ml|json)$/.test(name))
      .toSorted()
      .map(name => nodeConfig(name, readFileSync(join(folder, name), 'utf8')))
  }
}

/** `spec.kubelet.config` of a NodeConfig. */
function nodeConfig(name: string, text: string): RawObject {
  const read: unknown = parse(text)
  if (
    !isRawObject(read) ||
    read.kind !== 'NodeConfig' ||
    read.apiVersion !== 'node.eks.aws/v1alpha1'
  )
    throw new Error(`${name} is no NodeConfig`)
  const { kubelet } = isRawObject(read.spec) ? read.spec : {}
  const { config } = isRawObject(kubelet) ? kubelet : {}
  return isRawObject(config) ? config : {}
}
