/** The command line without a process of its own: what it prints, and its exit code. */
import { vi } from 'vitest'
import { main } from '#cli/main.ts'
import '#test/seals.ts'
import { commandEnvironment, type Place, type Run, temporaryFolder } from './cli.ts'
import { undoneWithTest } from './undo.ts'

/** With this process's environment and working directory. */
export async function inProcess(args: string[]): Promise<Run> {
  const output = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(text => {
      output[name] += String(text)
      return true
    }),
  )
  const listeners = process.stdout.listeners('error')
  const before = process.exitCode
  const undo = undoneWithTest(() => {
    process.exitCode = before
    for (const spy of spies) spy.mockRestore()
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener))
        process.stdout.off('error', listener as (error: Error) => void)
  })
  try {
    process.exitCode = undefined
    return { code: await main(args), ...output }
  } finally {
    undo()
  }
}

/** With no AWS settings but those given, in an empty folder if none is given. One at a time. */
export async function runCommand(args: string[], { env = {}, cwd }: Place = {}): Promise<Run> {
  const folder = process.cwd()
  const environment = process.env
  const home = cwd ?? temporaryFolder()
  const undo = undoneWithTest(() => {
    process.env = environment
    process.chdir(folder)
  })
  try {
    process.chdir(home)
    process.env = commandEnvironment(home, env)
    return await inProcess(args)
  } finally {
    undo()
  }
}
