/**
 * Runs a document's step on an instance as the agent does: parameters checked, put into the script as text or, where the document says so, into the
 * environment; the head of the output is kept.
 * Sources: Systems Manager user guide, "Data elements and parameters" and the ENV_VAR interpolation; amazon-ssm-agent pluginutil.go (truncation)
 */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { Refusal } from '#lab/api.ts'
import type { Agent, Invocation } from './state.ts'

const stdoutMax = 24_000
const stderrMax = 8_000

/** A document's one step, with the parameters put in. */
export interface Step {
  name: string
  platform: string | null
  script: string
  environment: Record<string, string>
}

/** @throws Refusal InvalidParameters, InvalidDocument */
export function stepOf(content: string, given: RawObject): Step {
  const document: unknown = JSON.parse(content)
  if (
    !isRawObject(document) ||
    document.schemaVersion !== '2.2' ||
    !Array.isArray(document.mainSteps) ||
    document.mainSteps.length !== 1
  )
    throw new Refusal(400, 'InvalidDocument', 'The lab runs documents of schema 2.2 with one step.')
  const step: unknown = document.mainSteps[0]
  if (
    !isRawObject(step) ||
    step.action !== 'aws:runShellScript' ||
    !isRawObject(step.inputs) ||
    !Array.isArray(step.inputs.runCommand)
  )
    throw new Refusal(400, 'InvalidDocument', 'The lab runs aws:runShellScript only.')
  const declared = isRawObject(document.parameters) ? document.parameters : {}
  const unknown = Object.keys(given).filter(name => !Object.hasOwn(declared, name))
  if (unknown.length > 0) throw invalid(`The document has no parameter ${unknown.join(', ')}.`)
  let script = step.inputs.runCommand.join('\n')
  const environment: Record<string, string> = {}
  for (const [name, declaration] of Object.entries(declared)) {
    const value = parameterValue(name, isRawObject(declaration) ? declaration : {}, given[name])
    if (isRawObject(declaration) && declaration.interpolationType === 'ENV_VAR')
      environment[`SSM_${name}`] = value
    else script = script.replaceAll(new RegExp(`\\{\\{\\s*${name}\\s*\\}\\}`, 'g'), () => value)
  }
  return { name: String(step.name), platform: platformOf(step.precondition), script, environment }
}

function parameterValue(
  name: string,
  { default: preset, allowedValues, allowedPattern, maxChars }: RawObject,
  given: unknown,
): string {
  const value: unknown = Array.isArray(given) ? given[0] : (given ?? preset)
  if (typeof value !== 'string') throw invalid(`The parameter ${name} has no value.`)
  const isAllowed =
    (!Array.isArray(allowedValues) || allowedValues.includes(value)) &&
    (typeof allowedPattern !== 'string' || new RegExp(allowedPattern).test(value)) &&
    (typeof maxChars !== 'number' || value.length <= maxChars)
  if (!isAllowed)
    throw invalid(`The parameter ${name} has a value that the document does not allow.`)
  return value
}

const invalid = (message: string) => new Refusal(400, 'InvalidParameters', message)

function platformOf(precondition: unknown): string | null {
  const equals = isRawObject(precondition) ? precondition.StringEquals : null
  return Array.isArray(equals) && equals[0] === 'platformType' ? String(equals[1]) : null
}

/** From Pending to whatever comes of it. @returns all of the output, before it is cut */
export async function runOn(agent: Agent, step: Step, invocation: Invocation): Promise<string> {
  const { fault } = agent
  if (fault?.kind === 'stuck') return end(invocation, fault.status, fault.status)
  if (agent.pingStatus === 'ConnectionLost')
    return end(invocation, 'TimedOut', 'Delivery Timed Out')
  if (step.platform !== null && step.platform !== (agent.platform ?? 'Linux'))
    return end(invocation, 'Failed', 'Invalid Platform')
  if (fault?.kind === 'late') {
    Object.assign(invocation, { status: 'Delayed', statusDetails: 'Delayed' })
    await new Promise(resolve => setTimeout(resolve, fault.delayMs))
  }
  Object.assign(invocation, { status: 'InProgress', statusDetails: 'InProgress' })
  if (fault?.kind === 'slow') await new Promise(resolve => setTimeout(resolve, fault.delayMs))
  if (fault?.kind === 'status') return end(invocation, fault.status, fault.details)
  const instanceId = fault?.kind === 'other-identity' ? fault.instanceId : invocation.instanceId
  const environment = { ...step.environment, AWS_SSM_INSTANCE_ID: instanceId }
  const { stdout, stderr, exitCode, isStruck } = await agent.run(step.script, environment)
  // It never comes further.
  if (isStruck) return ''
  if (fault?.kind === 'twice') await agent.run(step.script, environment)
  const said =
    fault?.kind === 'killed' || fault?.kind === 'truncated'
      ? stdout.slice(0, fault.afterCharacters)
      : stdout
  invocation.stdout = said.slice(0, stdoutMax)
  invocation.stderr = stderr.slice(0, stderrMax)
  invocation.responseCode = fault?.kind === 'killed' ? 137 : exitCode
  const isGood = invocation.responseCode === 0
  end(invocation, isGood ? 'Success' : 'Failed', isGood ? 'Success' : 'Failed')
  return said
}

function end(invocation: Invocation, status: string, statusDetails: string): string {
  Object.assign(invocation, { status, statusDetails })
  return ''
}
