/** The commands, and what every one of them does with a mistake: one paragraph and an exit code, never a stack trace. */
import { Command, CommanderError } from 'commander'
import { OperatorError } from '#model/operator-error.ts'
import { redact } from '#model/redact.ts'
import { exitCode } from './exit-code.ts'
import { version } from './version.ts'

/** In the order of the help. Each is loaded when it is asked for: all of them together are large. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  audit: async () => (await import('./audit.ts')).auditCommand(),
  collect: async () => (await import('./collect.ts')).collectCommand(),
  predict: async () => (await import('./predict.ts')).predictCommand(),
  plan: async () => (await import('./plan.ts')).planCommand(),
  approve: async () => (await import('./approve.ts')).approveCommand(),
  'approve-policy': async () => (await import('./approve-policy.ts')).approvePolicyCommand(),
  apply: async () => (await import('./apply.ts')).applyCommand(),
  rollback: async () => (await import('./rollback.ts')).rollbackCommand(),
  verify: async () => (await import('./verify.ts')).verifyCommand(),
  script: async () => (await import('./script.ts')).scriptCommand(),
  diff: async () => (await import('./diff.ts')).diffCommand(),
  history: async () => (await import('./history.ts')).historyCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  permissions: async () => (await import('./permissions.ts')).permissionsCommand(),
  tick: async () => (await import('./tick.ts')).tickCommand(),
  lab: async () => (await import('./lab.ts')).labCommand(),
  demo: async () => (await import('./lab.ts')).demoCommand(),
}
const hidden: ReadonlySet<string> = new Set(['demo'])

/** @returns the exit code */
export async function main(args: string[]): Promise<number> {
  const program = new Command('highwater')
    .description(
      "Audits the disk, image garbage collection and eviction of EKS nodes by replaying the kubelet's own decisions.",
    )
    .version(version)
    .showSuggestionAfterError()
    .showHelpAfterError('(highwater COMMAND --help lists what it takes)')
  const asked = Object.hasOwn(commands, args[0] ?? '') ? [args[0] ?? ''] : Object.keys(commands)
  for (const name of asked) {
    const command = await commands[name]?.()
    if (command) program.addCommand(command, { hidden: hidden.has(name) })
  }
  for (const command of [program, ...program.commands]) command.exitOverride()
  process.stdout.once('error', endQuietly)
  try {
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? exitCode.ok)
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCode.ok : exitCode.badInput
    const message = operatorText(error)
    process.stderr.write(`${error instanceof OperatorError ? message : redact(message)}\n`)
    return codeOf(error)
  }
}

/** The reader closed the pipe: `highwater … | head`. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit(exitCode.ok)
}

const codeOf = (error: unknown) =>
  error instanceof OperatorError && error.isBadInput ? exitCode.badInput : exitCode.failed

function operatorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isOurMistake =
    error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  if (isOurMistake && process.env.HIGHWATER_DEBUG) return error.stack ?? error.message
  return isOurMistake
    ? `highwater made a mistake: ${error.message}. Set HIGHWATER_DEBUG=1 for where, and please report it`
    : error.message
}
