/** The commands. An error prints one paragraph and sets an exit code, without a stack trace. */
import { Command, CommanderError } from 'commander'
import { messageOf, OperatorError } from '#base/operator-error.ts'
import { redact } from '#base/redaction/redact.ts'
import { keepHeapSmall } from '#pipeline/runtime/heap.ts'
import type { FleetOptions } from './options.ts'
import { exitCode, version } from './terminal.ts'

/** The commands in the order of the help. A command is loaded when it runs or shows its help, because all together are large. */
const commands: Readonly<Record<string, [summary: string, load: () => Promise<Command>]>> = {
  demo: [
    'audit a small simulated fleet; needs no account and no cluster',
    async () => (await import('./lab.ts')).demoCommand(),
  ],
  audit: [
    'read every node, replay what its kubelet would do, and report what is wrong',
    async () => (await import('./audit.ts')).auditCommand(),
  ],
  collect: [
    'read every node into a snapshot file, without judging it',
    async () => (await import('./collect.ts')).collectCommand(),
  ],
  predict: [
    "replay a node's kubelet: image GC, eviction, and with --fill what follows",
    async () => (await import('./predict.ts')).predictCommand(),
  ],
  upgrade: [
    'show what a newer kubelet minor refuses and changes, by group, and the steps to it',
    async () => (await import('./upgrade.ts')).upgradeCommand(),
  ],
  gate: [
    'replay what a pull request changes in configuration files, on the nodes of a snapshot',
    async () => (await import('./gate.ts')).gateCommand(),
  ],
  tune: [
    'compare five settings of image GC and eviction on the nodes of a group',
    async () => (await import('./tune.ts')).tuneCommand(),
  ],
  explain: [
    'explain a rule: why it matters, how to fix it, what it needs, its sources',
    async () => (await import('./explain.ts')).explainCommand(),
  ],
  diff: [
    'compare two audits: new, worse, better, fixed, and what could not be compared',
    async () => (await import('./diff.ts')).diffCommand(),
  ],
  history: [
    'show what earlier runs read of a node; without a node, the trend per cluster',
    async () => (await import('./history.ts')).historyCommand(),
  ],
  open: [
    'open the latest report of the service in the browser, as yourself',
    async () => (await import('./open.ts')).openCommand(),
  ],
  doctor: [
    'check which permissions an audit has, and which are missing; changes nothing',
    async () => (await import('./doctor.ts')).doctorCommand(),
  ],
  init: [
    'write a first policy, highwater.yaml, with the common settings as comments',
    async () => (await import('./policy.ts')).initCommand(),
  ],
  policy: [
    'check a policy: mistakes, and waivers that end soon',
    async () => (await import('./policy.ts')).policyCommand(),
  ],
  baseline: [
    'print waivers with an end for all findings of an audit',
    async () => (await import('./policy.ts')).baselineCommand(),
  ],
  permissions: [
    'print the roles and policies that a mode needs, ready to apply',
    async () => (await import('./permissions.ts')).permissionsCommand(),
  ],
  plan: [
    'plan changes of nodes and predict their effect; changes nothing',
    async () => (await import('./plan.ts')).planCommand(),
  ],
  approve: [
    'approve a plan by its digest; changes nothing by itself',
    async () => (await import('./approve.ts')).approveCommand(),
  ],
  'approve-policy': [
    'approve a policy, so that the service may change nodes by it',
    async () => (await import('./approve.ts')).approvePolicyCommand(),
  ],
  apply: [
    'change nodes by an approved plan, in waves; failures are rolled back',
    async () => (await import('./apply.ts')).applyCommand(),
  ],
  verify: [
    "read a plan's nodes again and check that its change is active; changes nothing",
    async () => (await import('./verify.ts')).verifyCommand(),
  ],
  rollback: [
    'restore what a run changed, byte for byte',
    async () => (await import('./apply.ts')).rollbackCommand(),
  ],
  tick: [
    'run the service once, as its schedule does, without Lambda',
    async () => (await import('./tick.ts')).tickCommand(),
  ],
  lab: [
    'serve a small EKS world on loopback until Ctrl-C',
    async () => (await import('./lab.ts')).labCommand(),
  ],
}

/** Headings of the help, by the first command below each. */
const groups: Readonly<Record<string, string>> = {
  demo: 'Audit:',
  predict: 'Before a change:',
  explain: 'Reports:',
  doctor: 'Set up:',
  plan: 'Change nodes:',
  tick: 'Service and tools:',
}

const help = `
Examples:
  highwater demo                    a first report, without an account
  highwater doctor                  which permissions are missing
  highwater audit                   all EKS clusters of the region
  highwater audit -q --fail-on high

Exit codes: 0 done; 1 findings, or no for an answer; 2 bad usage; 3 something
was not read; 4 failed. highwater COMMAND --help has those of a command.`

/** @returns the exit code */
export async function main(args: string[]) {
  keepHeapSmall()
  const output = watchOutput()
  try {
    const program = await programFor(args)
    await program.parseAsync(withoutStrayHelp(args, program), { from: 'user' })
    return output.isFailed() ? exitCode.failed : Number(process.exitCode ?? exitCode.ok)
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCode.ok : exitCode.badInput
    if (isOutputError(error)) {
      output.fail(error)
      return isClosedPipe(error) ? Number(process.exitCode ?? exitCode.ok) : exitCode.failed
    }
    const message = operatorText(error).replace(unprintable, ' ')
    process.stderr.write(`${error instanceof OperatorError ? message : redact(message)}\n`)
    return codeOf(error)
  }
}

/** A script that a shell can source twice, and that completes names of files: tab makes its constants readonly, and lets bash complete nothing else. */
function printSourceable() {
  const print = console.log
  console.log = (text: unknown) =>
    print(
      String(text)
        .replaceAll(/^readonly (?=ShellComp)/gm, '')
        .replace('compopt +o default', ':')
        .replace(/_get_comp_words_by_ref .*/, bashWordsCall)
        .replace(/^complete -F/m, 'complete -o default -F'),
    )
}

/** Bash has the words itself; the package bash-completion joins those with = and : again. */
const bashWordsCall = (call: string) =>
  `if declare -F _get_comp_words_by_ref >/dev/null; then ${call}; else
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD cur=\${COMP_WORDS[COMP_CWORD]}
    fi`

const completionHelp = `
Examples:
  source <(highwater complete bash)
  highwater complete zsh > ~/.zfunc/_highwater
  highwater complete fish > ~/.config/fish/completions/highwater.fish

Exit codes: 0 printed; 2 no such shell.`

/** An unknown command with --help is an unknown command. */
function withoutStrayHelp(args: string[], { commands }: Command) {
  const name = args.find((arg, index) => !isGlobal(arg, args[index - 1]))
  const isKnown = name === undefined || name === 'help' || commands.some(one => one.name() === name)
  return isKnown ? args : args.filter(arg => !isHelp(arg))
}

const isHelp = (arg: string) => arg === '--help' || arg === '-h'

/** The program with the command that the arguments name; other commands have only a name. */
export async function programFor(args: string[]) {
  const program = new Command('highwater')
    .description(
      "Audits the disk, image garbage collection and eviction of EKS nodes by replaying the kubelet's own decisions.",
    )
    .version(version)
    .option('-q, --quiet', 'print results and errors only')
    .option(
      '-v, --verbose',
      'print everything: every cause, finding and check, and what each finding does',
    )
    .option('--no-color', 'print without colors')
    .option('--profile <name>', 'the AWS profile, as AWS_PROFILE')
    .showSuggestionAfterError()
    .showHelpAfterError('(highwater COMMAND --help lists what it takes)')
    .addHelpText('after', help)
    .hook('preAction', (_, command) => useGlobalOptions(program.opts(), command))
  const [first, second] = args.filter((arg, index) => !isGlobal(arg, args[index - 1]))
  const chosen = first === 'help' ? second : first
  const isCompletion = first === 'complete' && !args.some(isHelp)
  for (const [name, [summary, load]] of Object.entries(commands)) {
    const command = isCompletion || name === chosen ? await load() : new Command(name)
    program.commandsGroup(groups[name] ?? program.commandsGroup())
    program.addCommand(command.description(summary))
  }
  if (isCompletion && second === undefined)
    throw new OperatorError('complete needs the name of a shell: bash, zsh, fish or powershell')
  if (isCompletion) {
    printSourceable()
    ;(await import('@bomb.sh/tab/commander')).default(program)
  } else
    program
      .command('complete [shell]')
      .description('print the completion script of a shell: bash, zsh, fish or powershell')
      .addHelpText('after', completionHelp)
  program.helpCommand('help [command]', 'display help for command')
  for (const command of [program, ...program.commands.flatMap(one => [one, ...one.commands])])
    command.exitOverride().configureHelp({ showGlobalOptions: true, minWidthToWrap: 24 })
  return program
}

const isGlobal = (arg: string, before: string | undefined) =>
  arg.startsWith('-') || before === '--profile'

interface GlobalOptions extends Pick<FleetOptions, 'quiet' | 'verbose'> {
  color: boolean
  profile?: string
}

function useGlobalOptions({ quiet, verbose, color, profile }: GlobalOptions, command: Command) {
  command.setOptionValue('quiet', quiet).setOptionValue('verbose', verbose)
  if (!color) Object.assign(process.env, { NO_COLOR: '1', FORCE_COLOR: '0' })
  if (profile !== undefined) process.env.AWS_PROFILE = profile
}

type OutputError = NodeJS.ErrnoException

const isClosedPipe = ({ code }: OutputError) => code === 'EPIPE'
const isOutputError = (error: unknown): error is OutputError =>
  error instanceof Error && 'syscall' in error && error.syscall === 'write' && !('path' in error)

/** `highwater … | head` closes the pipe, which changes no exit code. A full disk changes it and prints one line. */
function watchOutput(): { isFailed(): boolean; fail(error: OutputError): void } {
  let isFailed = false
  const fail = (error: OutputError) => {
    if (isFailed || isClosedPipe(error)) return
    isFailed = true
    process.stderr.write(`Standard output could not be written: ${messageOf(error)}\n`)
    process.exitCode = exitCode.failed
  }
  process.stdout.on('error', fail)
  return { isFailed: () => isFailed, fail }
}

const codeOf = (error: unknown) =>
  error instanceof OperatorError && error.isBadInput ? exitCode.badInput : exitCode.failed

/** Messages may quote a forged file, so escape sequences are removed before the terminal. */
const unprintable = /(?!\n)[\p{Cc}\p{Cf}]/gu

function operatorText(error: unknown) {
  if (!(error instanceof Error)) return String(error)
  const isOurMistake =
    error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  if (isOurMistake && process.env.HIGHWATER_DEBUG) return error.stack ?? error.message
  return isOurMistake
    ? `highwater made a mistake: ${error.message}. Set HIGHWATER_DEBUG=1 for where, and please report it`
    : error.message
}
