/** Whether the documents that change a node are in the account, as this highwater has them. Nothing is sent. */

import { SsmApi } from '#clients/ssm.ts'
import type { AwsPlace } from '#discover/discover.ts'
import { applyDocumentHashes } from '#facts/aws/apply-documents.ts'
import type { Check } from '#model/checkup.ts'
import { messageOf } from '#model/error-message.ts'
import { check } from './checks.ts'

const pace = { requestsPerSecond: 5, concurrency: 1 }
const lost = 'no plan is applied by SSM; highwater script writes it as scripts instead'

export async function applyChecks(place: AwsPlace | null, signal: AbortSignal): Promise<Check[]> {
  const names = Object.entries(applyDocumentHashes)
  if (place === null)
    return names.map(([name]) =>
      check(
        `document ${name}`,
        'unchecked',
        'in which account and region the instances are is not known: give --region',
        lost,
      ),
    )
  const ssm = new SsmApi(place.region, place.credentials, pace)
  const checks: Check[] = []
  try {
    for (const [name, sha256] of names) {
      const found = await ssm.document(name, signal)
      const what = `document ${name}`
      if (found === null)
        checks.push(
          check(
            what,
            'missing',
            `there is none in ${place.region}: deploy the stack there with remediation on`,
            lost,
          ),
        )
      else if (found.sha256 !== sha256)
        checks.push(
          check(
            what,
            'failed',
            `version ${found.version} in ${place.region} is not the one of this highwater: deploy the stack again`,
            lost,
          ),
        )
      else checks.push(check(what, 'ok', `version ${found.version} is the one of this highwater`))
    }
  } catch (error) {
    signal.throwIfAborted()
    checks.push(check('documents that change a node', 'failed', messageOf(error), lost))
  } finally {
    ssm.close()
  }
  return checks
}
