/** `npm run template`: beside what `serverless package` has written, the template for deployment by CloudFormation alone. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '#package.json' with { type: 'json' }
import { cloudFormationYaml } from '#pipeline/access/cloudformation-yaml.ts'
import { plainTemplate } from './plain-template.ts'

const folder = process.argv[2] ?? '.serverless'
const packaged = JSON.parse(
  readFileSync(join(folder, 'cloudformation-template-update-stack.json'), 'utf8'),
)
const file = join(folder, 'highwater.template.yaml')
writeFileSync(file, cloudFormationYaml(plainTemplate(packaged, packageJson.version)))
process.stdout.write(
  `${file}, and beside it the archives of the functions: docs/deploy.md says what to do with them\n`,
)
