/** IAM as moto has it: it checks signatures and policies from when it is told to. */
import type { AwsCredentials } from '#clients/aws/credentials.ts'
import type { RolePolicies } from './role-policies.ts'

export interface Iam {
  /** Who may do everything. */
  administrator: AwsCredentials
  /** From now on, or no longer. */
  enforce(isEnforced: boolean): Promise<void>
}

/** @param endpoint where AWS is; nothing is checked yet */
export async function openIam(endpoint: string, policies: RolePolicies): Promise<Iam> {
  // Whoever that is, until it is checked.
  const authorization =
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0'
  const ask = async (Action: string, parameters: Record<string, string>): Promise<string> => {
    const body = new URLSearchParams({ Action, Version: '2010-05-08', ...parameters })
    const answer = await fetch(endpoint, { method: 'POST', headers: { authorization }, body })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`IAM ${Action} was answered ${answer.status}: ${text}`)
    return text
  }
  const document = (Statement: readonly object[]) =>
    JSON.stringify({ Version: '2012-10-17', Statement })
  const [UserName, PolicyName] = ['administrator', 'all']
  await ask('CreateUser', { UserName })
  const everything = document([{ Effect: 'Allow', Action: '*', Resource: '*' }])
  await ask('PutUserPolicy', { UserName, PolicyName, PolicyDocument: everything })
  const key = await ask('CreateAccessKey', { UserName })
  const of = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(key)?.[1] ?? ''
  // Moto knows no service that would take a role.
  const AssumeRolePolicyDocument = document([
    { Effect: 'Allow', Principal: { AWS: '*' }, Action: 'sts:AssumeRole' },
  ])
  for (const [RoleName, statements] of Object.entries(policies)) {
    await ask('CreateRole', { RoleName, AssumeRolePolicyDocument })
    await ask('PutRolePolicy', {
      RoleName,
      PolicyName: 'function',
      PolicyDocument: document(statements),
    })
  }
  return {
    administrator: { accessKeyId: of('AccessKeyId'), secretAccessKey: of('SecretAccessKey') },
    async enforce(isEnforced) {
      await fetch(`${endpoint}/moto-api/reset-auth`, {
        method: 'POST',
        body: isEnforced ? '0' : 'Infinity',
      })
    },
  }
}
