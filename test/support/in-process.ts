/** The command line without a process of its own: what it prints, and its exit code. For what reads no environment and no working directory. */
import { vi } from 'vitest'
import { main } from '#cli/main.ts'
import '#test/seals.ts'
import type { Run } from './cli.ts'

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
  try {
    process.exitCode = undefined
    return { code: await main(args), ...output }
  } finally {
    process.exitCode = before
    for (const spy of spies) spy.mockRestore()
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener))
        process.stdout.off('error', listener as (error: Error) => void)
  }
}
