/** One audit by the command line, as a process of its own. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Measured, measuredProcess } from './measured-process.ts'

const readButFindings = [0, 3]

/**
 * @param program the CLI's command
 * @param policy as YAML or JSON
 * @param options of `audit`
 * @throws Error if the audit fails
 */
export const measuredAudit = (
  program: readonly string[],
  env: Record<string, string>,
  policy: object,
  options: readonly string[] = [],
): Promise<Measured> =>
  measuredProcess([...program, 'audit', ...options], {
    env,
    exitCodes: readButFindings,
    inFolder(folder) {
      writeFileSync(join(folder, 'highwater.yaml'), JSON.stringify(policy))
      return ['--out', join(folder, 'out')]
    },
  })
