/** The template for whoever deploys by CloudFormation alone is the packaged one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lintTemplate, type Packaged, packageService, run } from '#test/packaged.ts'
import {
  instantiate,
  ofType,
  parseTemplate,
  type Resource,
  type Stack,
  type Template,
  wholeParameters,
} from '#test/template.ts'

let packaged: Packaged
let plainFile: string
let plain: Template

describe('npm run template', () => {
  beforeAll(async () => {
    packaged = await packageService()
    await run(process.execPath, ['src/handlers/stack/print-template.ts', packaged.archives])
    plainFile = join(packaged.archives, 'highwater.template.yaml')
    plain = parseTemplate(readFileSync(plainFile, 'utf8'))
  }, 130_000)
  afterAll(() => packaged.remove())

  const code = { CodeBucket: 'code' }
  /** What the framework adds for itself is not there; what it knows of archives is not the same. */
  function alike({ resources, outputs }: Stack) {
    const kept = (entries: object) =>
      Object.entries(entries).filter(([name]) => !name.startsWith('ServerlessDeploymentBucket'))
    const withoutCode = kept(resources).map(
      ([name, { DependsOn: _, Metadata: __, Properties, ...rest }]) => [
        name,
        { ...rest, Properties: { ...Properties, Code: null } },
      ],
    )
    return {
      resources: Object.fromEntries(withoutCode),
      outputs: Object.fromEntries(kept(outputs)),
    }
  }

  it('makes the same stack, whatever is set', () => {
    expect(alike(instantiate(plain, code))).toEqual(alike(instantiate(packaged.template)))
    expect(alike(instantiate(plain, { ...code, ...wholeParameters }))).toEqual(
      alike(instantiate(packaged.template, wholeParameters)),
    )
  })

  it('takes the code from a bucket, by the names of the archives that lie beside it', () => {
    const codeOf = ({ Properties }: Resource) =>
      Properties.Code as { S3Bucket: string; S3Key: string }
    const made = ofType(
      instantiate(plain, { ...code, CodePrefix: 'highwater/1/', Remediation: 'on' }),
      'AWS::Lambda::Function',
    ).map(codeOf)
    expect(made.map(({ S3Bucket }) => S3Bucket)).toEqual(made.map(() => 'code'))
    for (const { S3Key } of made)
      expect(readdirSync(packaged.archives)).toContain(S3Key.replace('highwater/1/', ''))
    expect(plain.Parameters.CodePrefix?.Default).toMatch(/^highwater\/\d+\.\d+\.\d+\/$/)
  })

  it('is named by its stack, and nothing of the framework or a stage is left', () => {
    const text = readFileSync(plainFile, 'utf8')
    expect(text).not.toMatch(/serverless|highwater-prod/i)
    expect(text).toMatch(/FunctionName: !Sub \$\{AWS::StackName\}-audit/)
  })

  it('passes cfn-lint', async context => {
    await lintTemplate(plainFile, context)
  }, 120_000)
})
