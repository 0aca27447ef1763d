/** Every command that a document shows: its name and its options are what the program takes. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as eks from '@aws-sdk/client-eks'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { programFor } from '#cli/main.ts'
import { locked } from '#test/container.ts'
import { type ShownCommand, shellBlocksOf, shownCommands } from '#test/shown-commands.ts'

const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')]
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const serverless: Map<string, { options: object; serviceDependencyMode?: string }> = createRequire(
  import.meta.url,
)('serverless/lib/cli/commands-schema/aws-service.js')

/** What a reader fills in, where the program checks it. */
const values: Readonly<Record<string, string>> = {
  MODE: 'ssm',
  's3://BUCKET/PREFIX': 's3://bucket/prefix',
  FILE: 'file',
  DIGEST: '0'.repeat(64),
  RUN: '0123456789abcdef',
  ROLE_ARN: 'arn:aws:iam::111122223333:role/a',
  AUDIT_ROLE_ARN: 'arn:aws:iam::111122223333:role/a',
}

/** A sentence may name a command or an option without its value. */
const incomplete = [
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
  'commander.optionMissingArgument',
]

/** Parses as the program does, and runs nothing. @throws CommanderError */
async function parse(words: string[], isComplete = true): Promise<void> {
  const args = words.map(word => values[word] ?? word)
  const program = await programFor(args)
  const each = (command: Command): Command[] => [command, ...command.commands.flatMap(each)]
  for (const command of each(program))
    command.configureOutput({ writeErr: () => {}, writeOut: () => {} }).action(() => {})
  await program.parseAsync(args, { from: 'user' }).catch(error => {
    if (error.exitCode === 0 || (!isComplete && incomplete.includes(error.code))) return
    throw error
  })
}

/** Commands of AWS and of clusters that no test can run here: only these. */
const elsewhere = [
  'aws cloudformation deploy',
  'aws cloudformation create-stack-set',
  'aws cloudformation create-stack-instances',
  'aws iam create-role',
  'aws lambda invoke',
  'aws s3 cp',
  'kubectl --context',
  'kubectl apply -f',
  'kubectl -n highwater create',
  'kubectl -n highwater logs',
  'kubectl -n highwater run',
  'kubectl -n highwater cp',
  'kubectl -n highwater delete',
]

const shellWords = /^((export|source|for|do|git)$|V=|job=)/

/** By the first word. Each throws, or fails an expectation, if the command is wrong. */
const checks: Readonly<Record<string, (words: string[], isComplete: boolean) => unknown>> = {
  highwater: ([, ...args], isComplete) => parse(args, isComplete),
  npm: ([, verb = '', name = '']) =>
    verb === 'run'
      ? expect(Object.keys(scripts)).toContain(name)
      : expect(['ci', 'install', 'pack', 'test']).toContain(verb),
  npx: ([, program = '', ...args], isComplete) => {
    if (program === '--no') return parse(args.slice(2), isComplete)
    expect(program).toBe('serverless')
    return checkServerless(args)
  },
  docker: ([, verb, ...args]) => {
    if (verb === 'run') return expect(args.join(' ')).toContain(locked)
    expect(verb).toBe('build')
    return expect(existsSync(args[args.indexOf('-f') + 1]!)).toBe(true)
  },
  kubectl: words => {
    if (words[1] !== 'apply' || words[2] !== '-k') return checkElsewhere(words)
    return expect(existsSync(words[3]!)).toBe(true)
  },
  aws: words => {
    if (words[1] !== 'eks') return checkElsewhere(words)
    const name = words[2]!.replace(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase())
    const input: unknown[] = Reflect.get(eks, `${name}Request$`)
    const options = words.filter(word => word.startsWith('--'))
    const fields = options.map(one => one.slice(2).replace(/-(\w)/g, (_, a) => a.toUpperCase()))
    return expect(input[4]).toEqual(expect.arrayContaining(fields))
  },
}

const checkElsewhere = (words: string[]) =>
  expect(elsewhere.filter(known => words.join(' ').startsWith(known))).not.toEqual([])

function checkServerless([name = '', ...args]: string[]): void {
  const command = [...serverless].find(([own]) => own === name)?.[1]
  expect(command, name).toBeDefined()
  const known = ['param', 'region', 'stage', ...Object.keys(command!.options)]
  const options = args
    .filter(word => word.startsWith('--'))
    .map(word => word.slice(2).split('=')[0])
  expect(options.filter(option => !known.includes(option!))).toEqual([])
  const parameters = readFileSync('serverless.yml', 'utf8')
  for (const [, parameter] of args.join(' ').matchAll(/--param=(\w+)=/g))
    expect(parameters).toContain(`\${param:${parameter}, `)
}

const check = ({ words, block }: ShownCommand) => {
  if (shellWords.test(words[0]!)) return undefined
  const own = checks[words[0]!]
  if (own === undefined) throw new Error(`no check knows ${words.join(' ')}`)
  return own(words, block !== null)
}

describe.each(documents)('%s', file => {
  it('shows commands that exist, with options that they take', { timeout: 60_000 }, async () => {
    for (const command of shownCommands(file))
      await expect(Promise.resolve(command).then(check), command.text).resolves.not.toThrow()
  })

  it('shows what a shell can parse', () => {
    for (const block of shellBlocksOf(file))
      execFileSync('bash', ['-n'], { input: block, stdio: ['pipe', 'ignore', 'pipe'] })
  })
})

it.each([
  'highwater audt',
  'highwater audit --clusters prod',
  'highwater audit --format jsn',
  'npm run dmeo',
  'npx highwater audit',
  'npx serverless depoly',
  "npx serverless deploy --param='sendr=a'",
  'aws eks create-access-entry --clusters a',
  'aws ec2 stop-instances',
  'kubectl delete nodes',
  'docker run image',
  'rm -rf .',
])('refuses %s', async text => {
  const words = text.replaceAll("'", '').split(' ')
  await expect(Promise.resolve({ file: '', block: 0, text, words }).then(check)).rejects.toThrow()
})

it('finds the commands', () => {
  expect(shownCommands('README.md').length).toBeGreaterThan(20)
  expect(documents.flatMap(shownCommands).length).toBeGreaterThan(100)
})
