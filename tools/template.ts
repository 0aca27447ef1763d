/**
 * `npm run template`: the packaged template without the framework, for deployment by CloudFormation alone. It has no framework
 * bucket, its names come from the stack, and two parameters name the place of the code.
 *
 *   node tools/template.ts [FOLDER]
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '#package.json' with { type: 'json' }
import { cloudFormationYaml } from '#pipeline/access/member-template.ts'

/** The parts of a CloudFormation template that are changed here. */
interface CloudFormationTemplate {
  Description: string
  Parameters: Record<string, object>
  Resources: Record<
    string,
    {
      Type: string
      DependsOn?: string[]
      Metadata?: Record<string, unknown>
      Properties?: Record<string, unknown>
    }
  >
  Outputs: Record<string, object>
}

/** @param packaged what `serverless package` writes, of any stage. @param version of highwater, which names where its code lies */
function plainTemplate(packaged: CloudFormationTemplate, version: string): CloudFormationTemplate {
  const { Parameters, Resources, Outputs, ...rest } = packaged
  const isOurs = ([name]: [string, unknown]) => !name.startsWith('ServerlessDeploymentBucket')
  const where = {
    CodeBucket: {
      Type: 'String',
      Description: 'Bucket of this region that the archives of the functions lie in.',
    },
    CodePrefix: {
      Type: 'String',
      Default: `highwater/${version}/`,
      AllowedPattern: '^(.+/)?$',
      Description: 'Prefix of the archives there. Ends in /.',
    },
  }
  const plain = {
    ...rest,
    Description: `highwater ${version}: what the kubelets of your EKS nodes will do about their disks, and when`,
    Parameters: { ...where, ...Parameters },
    Resources: Object.fromEntries(Object.entries(Resources).filter(isOurs).map(withItsCode)),
    Outputs: Object.fromEntries(Object.entries(Outputs).filter(isOurs)),
  }
  return namedByStack(plain, stackOf(Resources)) as CloudFormationTemplate
}

/** The archive of a function is named as its bundle is. What a function depends on by a reference need not be said again, nor that cfn-lint may pass that over. */
function withItsCode([name, resource]: [string, CloudFormationTemplate['Resources'][string]]) {
  if (resource.Type !== 'AWS::Lambda::Function') return [name, resource] as const
  const { DependsOn = [], Metadata = {}, Properties = {}, ...rest } = resource
  const { 'cfn-lint': _, ...notes } = Metadata
  const archive = String(Properties.Handler).replace(/^\.build\/(\w+)\.handler$/, '$1.zip')
  const Code = { S3Bucket: { Ref: 'CodeBucket' }, S3Key: { 'Fn::Sub': `$\{CodePrefix}${archive}` } }
  return [
    name,
    {
      ...rest,
      Metadata: notes,
      DependsOn: DependsOn.filter(other => other.endsWith('LogGroup')),
      Properties: { ...Properties, Code },
    },
  ] as const
}

/** The framework names a stack SERVICE-STAGE, and each function SERVICE-STAGE-FUNCTION. */
function stackOf(resources: CloudFormationTemplate['Resources']): string {
  const name = String(resources.AuditLambdaFunction?.Properties?.FunctionName)
  return name.replace(/-audit$/, '')
}

function namedByStack(node: unknown, stack: string): unknown {
  if (typeof node === 'string')
    return node.startsWith(`${stack}-`) || node.startsWith(`/aws/lambda/${stack}-`)
      ? { 'Fn::Sub': node.replace(stack, `$\{AWS::StackName}`) }
      : node
  if (Array.isArray(node)) return node.map(each => namedByStack(each, stack))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, namedByStack(value, stack)]),
  )
}

const folder = process.argv[2] ?? '.serverless'
const packaged = JSON.parse(
  readFileSync(join(folder, 'cloudformation-template-update-stack.json'), 'utf8'),
)
const file = join(folder, 'highwater.template.yaml')
writeFileSync(file, cloudFormationYaml(plainTemplate(packaged, packageJson.version)))
process.stdout.write(
  `${file}, and beside it the archives of the functions: docs/deploy.md says what to do with them\n`,
)
