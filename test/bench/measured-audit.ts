/** One audit by the command line, as a process of its own. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import packageJson from '#package.json' with { type: 'json' }
import { type Measured, measuredProcess } from './measured-process.ts'

const readButFindings = [0, 3]

/** @param policy as YAML or JSON. @param options of `audit`. @throws Error when the audit did not come to its end */
export const measuredAudit = (
  env: Record<string, string>,
  policy: object,
  options: readonly string[] = [],
): Promise<Measured> =>
  measuredProcess([resolve(packageJson.bin.highwater), 'audit', ...options], {
    env,
    exitCodes: readButFindings,
    inFolder(folder) {
      writeFileSync(join(folder, 'highwater.yaml'), JSON.stringify(policy))
      return ['--out', join(folder, 'out')]
    },
  })
