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

/**
 * Commands that change an account or a cluster: no test may run them as shown. They are parsed, with their options, and
 * what they hand over is tried where `because` says. Highwater's own commands run in test/e2e/shown-commands.test.ts.
 */
const elsewhere: readonly { command: string; options: string[]; because: string }[] = [
  {
    command: 'aws cloudformation deploy',
    options: ['stack-name', 'template-file', 's3-bucket', 'capabilities', 'parameter-overrides'],
    because: 'templates: test/e2e/stack, test/pipeline/member-template, test/run',
  },
  {
    command: 'aws cloudformation create-stack-set',
    options: [
      ...['stack-set-name', 'template-url', 'permission-model', 'auto-deployment'],
      ...['capabilities', 'parameters'],
    ],
    because: 'the template: test/pipeline/member-template',
  },
  {
    command: 'aws cloudformation create-stack-instances',
    options: ['stack-set-name', 'deployment-targets', 'regions'],
    because: 'the template: test/pipeline/member-template',
  },
  {
    command: 'aws iam create-role',
    options: ['role-name', 'assume-role-policy-document'],
    because: 'the document is what test/pipeline/permissions compares',
  },
  {
    command: 'aws ssm get-parameter',
    options: ['name', 'query', 'output'],
    because: 'the parameter is of AWS: EKS user guide, retrieve recommended AMI ids',
  },
  {
    command: 'aws lambda invoke',
    options: ['function-name', 'invocation-type', 'cli-binary-format', 'payload'],
    because: 'the event: test/handlers/event',
  },
  { command: 'aws s3 cp', options: [], because: 'uploads to an account' },
  { command: 'kubectl --context', options: ['context'], because: 'the roles: test/e2e/rights' },
  { command: 'kubectl apply -f', options: [], because: 'the roles: test/e2e/rights' },
  { command: 'kubectl -n highwater create job', options: ['from'], because: 'test/run' },
  { command: 'kubectl -n highwater logs', options: [], because: 'prints' },
  {
    command: 'kubectl -n highwater run',
    options: ['image', 'overrides'],
    because: 'the pod: test/e2e/manifests',
  },
  { command: 'kubectl -n highwater cp', options: [], because: 'copies from a pod' },
  { command: 'kubectl -n highwater delete pod look', options: [], because: 'test/e2e/manifests' },
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

/** By the command's first words, its options and the parameters of the template that it deploys. */
function checkElsewhere(words: string[]): void {
  const known = elsewhere.find(({ command }) => words.join(' ').startsWith(command))
  if (known === undefined) throw new Error(`no test has ${words.join(' ')}`)
  const options = words
    .filter(word => word.startsWith('--'))
    .map(word => word.slice(2).split('=')[0])
  expect(known.options).toEqual(expect.arrayContaining(options))
  const template = words[words.indexOf('--template-file') + 1] ?? ''
  if (words.includes('--template-file') && existsSync(template))
    for (const [, parameter] of words.join(' ').matchAll(/ (\w+)=/g))
      expect(readFileSync(template, 'utf8')).toContain(`\n  ${parameter}:`)
}

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
  'kubectl -n highwater create job --form=cronjob/highwater now',
  'aws cloudformation deploy --stack-name a --template-flie b',
  'aws cloudformation deploy --stack-name a --template-file docs/run/kubernetes/eks/pod-identity.yaml --parameter-overrides Bukcet=b',
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
