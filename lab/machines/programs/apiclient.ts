/**
 * The setting half of the lab's apiclient: one transaction, merged key by key into what is set, then the kubelet's file of it and a start. Nothing can be
 * unset.
 * Source: bottlerocket-core-kit sources/api (apiclient, apiserver), packages/kubernetes kubelet-config; bottlerocket-settings-sdk
 *
 *   node apiclient.ts NODE set -j JSON
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { bottlerocketMistakes, bottlerocketSettings } from '#facts/eks/ami-defaults.ts'
import { bottlerocketFile } from '#lab/machines/bottlerocket.ts'
import { configurationText, kind } from '#lab/machines/nodeadm-files.ts'
import { replace } from './beside.ts'
import { patched } from './read-configuration.ts'

const [node = '', ...words] = process.argv.slice(2)

function set(): void {
  const [action, how, text = '', ...more] = words
  if (action !== 'set' || how !== '-j' || more.length > 0)
    throw new Error(`the lab's apiclient does not know: ${words.join(' ')}`)
  const given: unknown = JSON.parse(text)
  if (!isRawObject(given) || !isRawObject(given.kubernetes) || Object.keys(given).length > 1)
    throw new Error("the lab's apiclient sets settings.kubernetes only")
  for (const [setting, value] of Object.entries(given.kubernetes)) checkSetting(setting, value)
  const file = join(node, 'answers', 'apiclient.settings.kubernetes.json')
  const known = JSON.parse(readFileSync(file, 'utf8')) as { settings: { kubernetes: RawObject } }
  const kubernetes = patched(known.settings.kubernetes, given.kubernetes)
  replace(file, `${JSON.stringify({ settings: { kubernetes } }, null, 2)}\n`)
  replace(
    join(node, 'host', bottlerocketFile),
    configurationText({ ...kind, ...fieldsOf(kubernetes) }),
  )
}

function checkSetting(setting: string, value: unknown): void {
  const [mistake] = bottlerocketMistakes({ [setting]: value })
  if (mistake !== undefined || !Object.hasOwn(bottlerocketSettings, setting))
    throw new Error(
      `Failed PATCH request to '/settings': Json deserialize error at ${setting}: ${mistake?.why ?? 'unknown field'}`,
    )
}

/** Its image's own fields are among the defaults of its kubelet. */
const fieldsOf = (kubernetes: RawObject): RawObject =>
  Object.fromEntries(
    Object.entries(kubernetes).flatMap(([setting, value]): [string, unknown][] => {
      const [field, type] = bottlerocketSettings[setting] ?? []
      return field === undefined ? [] : [[field, type === 'number' ? Number(value) : value]]
    }),
  )

try {
  set()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
