/**
 * The setting half of a stand-in apiclient, over a datastore in a file. What it sets is merged key by key, and nothing can be unset.
 *
 *   node apiclient.mjs WORLD ARGUMENTS…
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [world, ...words] = process.argv.slice(2)
const file = join(world, 'settings.json')
const settings = JSON.parse(readFileSync(file, 'utf8'))
const isObject = value => typeof value === 'object' && value !== null
const has = name => existsSync(join(world, name))

function merge(onto, from) {
  for (const [key, value] of Object.entries(from)) {
    if (isObject(value)) {
      onto[key] ??= {}
      merge(onto[key], value)
    } else onto[key] = value
  }
}
function check(kubernetes) {
  for (const name of ['image-gc-high-threshold-percent', 'image-gc-low-threshold-percent']) {
    const value = kubernetes[name]
    if (
      value !== undefined &&
      !(typeof value === 'string' && Number(value) >= 0 && Number(value) <= 100)
    )
      throw new Error(`Failed PATCH request to '/settings': ${name}`)
  }
}

try {
  if (words[0] === 'set' && words[1] === '-j' && words.length === 3) {
    const { kubernetes } = JSON.parse(words[2])
    check(kubernetes)
    if (has('apiclientFails')) throw new Error('Failed POST request to /tx/commit_and_apply')
    appendFileSync(join(world, 'calls'), 'set\n')
    merge(settings, kubernetes)
    if (!has('forgets')) writeFileSync(file, `${JSON.stringify(settings)}\n`)
  } else throw new Error(`unknown arguments: ${words.join(' ')}`)
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
