/** The commands, and what every one of them does with a mistake: one paragraph and an exit code, never a stack trace. */
import { Command, CommanderError } from 'commander'
import { OperatorError } from '#model/operator-error.ts'
import { applyCommand } from './apply.ts'
import { approveCommand } from './approve.ts'
import { auditCommand } from './audit.ts'
import { collectCommand } from './collect.ts'
import { costCommand } from './cost.ts'
import { diffCommand } from './diff.ts'
import { doctorCommand } from './doctor.ts'
import { exitCode } from './exit-code.ts'
import { explainCommand } from './explain.ts'
import { historyCommand } from './history.ts'
import { demoCommand, labCommand } from './lab.ts'
import { permissionsCommand } from './permissions.ts'
import { planCommand } from './plan.ts'
import { predictCommand } from './predict.ts'
import { rollbackCommand } from './rollback.ts'
import { scriptCommand } from './script.ts'
import { tickCommand } from './tick.ts'
import { verifyCommand } from './verify.ts'
import { version } from './version.ts'

/** @returns the exit code */
export async function main(args: string[]): Promise<number> {
  const program = new Command('highwater')
    .description("Audits the disk, image garbage collection and eviction of EKS nodes by replaying the kubelet's own decisions.")
    .version(version)
    .addCommand(auditCommand())
    .addCommand(collectCommand())
    .addCommand(predictCommand())
    .addCommand(planCommand())
    .addCommand(approveCommand())
    .addCommand(applyCommand())
    .addCommand(rollbackCommand())
    .addCommand(verifyCommand())
    .addCommand(scriptCommand())
    .addCommand(diffCommand())
    .addCommand(historyCommand())
    .addCommand(explainCommand())
    .addCommand(doctorCommand())
    .addCommand(permissionsCommand())
    .addCommand(costCommand())
    .addCommand(tickCommand())
    .addCommand(labCommand())
    .addCommand(demoCommand(), { hidden: true })
    .showSuggestionAfterError()
    .showHelpAfterError('(highwater COMMAND --help lists what it takes)')
  for (const command of [program, ...program.commands]) command.exitOverride()
  process.stdout.once('error', endQuietly)
  try {
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? exitCode.ok)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.badInput
    process.stderr.write(`${messageOf(error)}\n`)
    return codeOf(error)
  }
}

/** Whoever reads has read enough: `highwater … | head`. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit(exitCode.ok)
}

const codeOf = (error: unknown) => (error instanceof OperatorError && error.isBadInput ? exitCode.badInput : exitCode.failed)

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isOurMistake = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  if (isOurMistake && process.env.HIGHWATER_DEBUG) return error.stack ?? error.message
  return isOurMistake ? `highwater made a mistake: ${error.message}. Set HIGHWATER_DEBUG=1 for where, and please report it` : error.message
}
