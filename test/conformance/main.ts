/**
 * `npm run conformance -- DIR`: every golden-vector file below DIR, as `FAMILY vX.Y passed/all`, one line a family and version.
 *
 * The version is the file's folder, or what the index.json beside it names. Exit 1 on any difference, on a family that is not known and on a
 * file that cannot be read; 2 where there is nothing to run.
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { featuresOf } from '#facts/kubelet/features.ts'
import { type Case, differences } from './conformance.ts'
import { families } from './families.ts'

const shownDifferences = 3
const shownCharacters = 2_000
const versionForm = /^v1\.\d+(\.\d+)?$/

/** @returns the exit code */
function main(directory: string | undefined): number {
  if (directory === undefined)
    return refuse('Say which folder has the vectors: npm run conformance -- DIR')
  // npm runs scripts in the package's folder; the path is meant from where the command was given.
  const root = resolve(process.env.INIT_CWD ?? '.', directory)
  if (!existsSync(root)) return refuse(`There is no folder ${directory}`)
  const files = statSync(root).isFile()
    ? [root]
    : globSync('**/*.json', { cwd: root }).filter(file => basename(file) !== 'index.json')
  if (files.length === 0) return refuse(`There is no vector file (*.json) in ${directory}`)
  const results = files.sort().map(file => run(resolve(root, file)))
  return results.every(isRight => isRight) ? 0 : 1
}

function refuse(message: string): number {
  process.stderr.write(`${message}\n`)
  return 2
}

/** Whether all cases of the file pass. */
function run(file: string): boolean {
  const name = basename(file, '.json')
  const family = families.find(known => known.name === name)
  if (!family)
    return complain(
      `${file}: no family is called ${JSON.stringify(name)}; there are ${families.map(known => known.name).join(', ')}`,
    )
  const version = versionOf(file)
  if (version === null)
    return complain(
      `${file}: of which version? Neither its folder (v1.34) nor an index.json beside it says so`,
    )
  const cases = casesOf(file)
  if (typeof cases === 'string') return complain(`${file}: ${cases}`)
  if (!featuresOf(version).exact)
    process.stderr.write(
      `${version} is not modelled: the rules of 1.${featuresOf(version).rulesOfMinor} answer\n`,
    )
  const found = differences(family, version, cases)
  process.stdout.write(`${name} ${version} ${cases.length - found.length}/${cases.length}\n`)
  for (const { name: title, input, expected, answer } of found.slice(0, shownDifferences))
    process.stdout.write(
      `  ${title}\n    input    ${shown(input)}\n    upstream ${shown(expected)}\n    ours     ${shown(answer)}\n`,
    )
  return found.length === 0
}

function complain(message: string): false {
  process.stdout.write(`${message}\n`)
  return false
}

function versionOf(file: string): string | null {
  const folder = basename(dirname(file))
  if (versionForm.test(folder)) return folder
  const index = join(dirname(file), 'index.json')
  const upstream = existsSync(index)
    ? /\bv1\.\d+(\.\d+)?\b/.exec(readFileSync(index, 'utf8'))
    : null
  return upstream?.[0] ?? null
}

/** The cases, or what is wrong with the file. */
function casesOf(file: string): Case[] | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    return `it cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
  if (!Array.isArray(parsed)) return 'it is no list of cases'
  const isCase = (item: unknown): item is Case =>
    typeof item === 'object' &&
    item !== null &&
    'name' in item &&
    'input' in item &&
    'expected' in item
  return parsed.every(isCase) ? parsed : 'a case lacks name, input or expected'
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= shownCharacters
    ? text
    : `${text.slice(0, shownCharacters)}… (${text.length} characters)`
}

process.exitCode = main(process.argv[2])
