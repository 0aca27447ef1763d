/** What the services of protocol restJson1 have in common: JSON bodies, their errors, and how they refuse credentials. */
import { type LabRequest, Refusal, type Reply } from '#lab/api.ts'
import { type Caller, type CredentialProblem, checkAuthorization } from '#lab/credentials.ts'
import type { World } from '#lab/world.ts'

const problems: Record<CredentialProblem, [code: string, message: string]> = {
  missing: ['MissingAuthenticationTokenException', 'Missing Authentication Token'],
  malformed: [
    'IncompleteSignatureException',
    'Authorization header is not of the form that Signature Version 4 has.',
  ],
  'unknown-key': [
    'UnrecognizedClientException',
    'The security token included in the request is invalid.',
  ],
  'expired-session': [
    'ExpiredTokenException',
    'The security token included in the request is expired',
  ],
  clock: ['InvalidSignatureException', 'Signature expired or not yet current: check the clock.'],
  signature: [
    'InvalidSignatureException',
    'The request signature we calculated does not match the signature you provided.',
  ],
}

/** Who asks, by the request's signature for `service`. @throws Refusal when the credentials are not good. */
export function authenticated(request: LabRequest, world: World, service: string): Caller {
  const caller = checkAuthorization(request, world, service)
  if (typeof caller === 'string') throw new Refusal(403, ...problems[caller])
  return caller
}

export const json = (body: object, status = 200, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const jsonError = ({ status, code, message }: Refusal): Reply =>
  json({ __type: code, message }, status, { 'x-amzn-errortype': code })
