/** Certificate signing requests: their state, and whether the cleaner should have deleted them. Only the certificate's expiry is kept. */

import { X509Certificate } from 'node:crypto'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { certificateRequestLifetimesMs } from '#facts/kubernetes/controllers.ts'
import type { CertificateGarbage, CertificateRequest } from '#model/cluster-garbage.ts'
import {
  type CertificateSigningRequest,
  type ClusterObject,
  isObjectOf,
} from '#model/input/record.ts'
import {
  type OpenSection,
  Packed,
  parseMetadata,
  type Section,
  type SectionContext,
  slimMetadata,
  timeOf,
} from '#replay/cluster-gc/section.ts'

const listed = 'certificatesigningrequests.certificates.k8s.io'

export const certificates: Section<'certificates'> = {
  resources: [listed],
  open: () => new Certificates(),
}

/** The cleaner runs once an hour, so it has run after two hours. */
const roundsMs = 2 * certificateRequestLifetimesMs.handled

interface KeptRequest {
  request: CertificateSigningRequest
  certificate: IssuedCertificate
}

class Certificates implements OpenSection<CertificateGarbage> {
  readonly #requests = new Packed<KeptRequest>()

  take(resource: string, object: ClusterObject) {
    if (!isObjectOf(listed, resource, object)) return
    const { spec, status } = object
    const request = {
      metadata: slimMetadata(object, ['creationTimestamp']),
      spec: { signerName: spec?.signerName, username: spec?.username },
      status: { conditions: status?.conditions },
    }
    this.#requests.push({ request, certificate: certificateOf(object) })
  }

  close({ nowMs, features }: SectionContext): CertificateGarbage {
    const requestsOf = ({ request, certificate }: KeptRequest): CertificateRequest[] => {
      const metadata = parseMetadata(request)
      if (!metadata) return []
      const { name, createdMs } = metadata
      const { state, sinceMs } = requestState(request, certificate)
      return [
        {
          name,
          createdMs,
          state,
          sinceMs: state === 'pending' ? createdMs : sinceMs,
          signer: request.spec?.signerName ?? '',
          requestor: request.spec?.username ?? '',
          overdue: cleanCertificateRequest(request, nowMs - roundsMs, features, certificate),
          isNeverCollected: state === 'approved' && !features.has('csrApprovedUnissuedCleaned'),
        },
      ]
    }
    return { requests: Array.from(this.#requests, requestsOf).flat() }
  }
}

/** The API server refuses a request with both Approved and Denied. Upstream: pkg/apis/certificates/validation validateConditions. */
function requestState(
  request: CertificateSigningRequest,
  { isIssued }: IssuedCertificate,
): Pick<CertificateRequest, 'state' | 'sinceMs'> {
  const conditions = request.status?.conditions ?? []
  const sinceOf = (type: string) => {
    const found = conditions.find(each => each.type === type)
    return found && { sinceMs: timeOf(found.lastUpdateTime) ?? timeOf(found.lastTransitionTime) }
  }
  const [denied, failed, approved] = ['Denied', 'Failed', 'Approved'].map(sinceOf)
  if (denied) return { state: 'denied', ...denied }
  if (failed) return { state: 'failed', ...failed }
  if (!approved) return { state: 'pending', sinceMs: null }
  return { state: isIssued ? 'issued' : 'approved', ...approved }
}

/**
 * The cleaner of certificate signing requests, which checks all of them once an hour.
 *
 * Replays       pkg/controller/certificates/cleaner/cleaner.go  handle and its six conditions
 * Read at       1.29 to 1.37; requests that were approved but not issued are cleaned since 1.35
 * Kept exactly  an equal age is not older; a missing time is never old; a condition counts whatever its status; an unreadable certificate
 *               never expires; a request without conditions is pending even if it has a certificate
 * Left out      certificates that Go's x509 refuses and OpenSSL accepts; a second block if the first is malformed
 */
interface IssuedCertificate {
  isIssued: boolean
  /** Null: no readable certificate. */
  notAfterMs: number | null
}

type CertificateRequestReason =
  | 'issued-past-deadline'
  | 'denied-past-deadline'
  | 'failed-past-deadline'
  | 'pending-past-deadline'
  | 'issued-expired'
  | 'approved-unissued-past-deadline'

/** Why the cleaner would delete this request now: the first of upstream's reasons. Null: it is kept. */
export function cleanCertificateRequest(
  request: CertificateSigningRequest,
  nowMs: number,
  features: KubeletFeatures,
  { isIssued, notAfterMs }: IssuedCertificate = certificateOf(request),
): CertificateRequestReason | null {
  const { handled, pending } = certificateRequestLifetimesMs
  const conditions = request.status?.conditions ?? []
  const isOlderThan = (timeMs: number | null, lifetimeMs: number) =>
    timeMs !== null && nowMs - timeMs > lifetimeMs
  const hasOldCondition = (type: string, lifetimeMs: number) =>
    conditions.some(
      each => each.type === type && isOlderThan(timeOf(each.lastUpdateTime), lifetimeMs),
    )
  const isApproved = conditions.some(({ type }) => type === 'Approved')

  if (isIssued && hasOldCondition('Approved', handled)) return 'issued-past-deadline'
  if (hasOldCondition('Denied', handled)) return 'denied-past-deadline'
  if (hasOldCondition('Failed', handled)) return 'failed-past-deadline'
  if (conditions.length === 0 && isOlderThan(timeOf(request.metadata?.creationTimestamp), pending))
    return 'pending-past-deadline'
  if (isApproved && isIssued && notAfterMs !== null && nowMs > notAfterMs) return 'issued-expired'
  if (
    features.has('csrApprovedUnissuedCleaned') &&
    !isIssued &&
    hasOldCondition('Approved', pending)
  )
    return 'approved-unissued-past-deadline'
  return null
}

/** `status.certificate` is PEM in base64. Upstream: isIssued, isExpired. */
export function certificateOf(request: CertificateSigningRequest): IssuedCertificate {
  const pem = Buffer.from(request.status?.certificate ?? '', 'base64').toString('latin1')
  return { isIssued: pem !== '', notAfterMs: notAfterMs(pem) }
}

const pemStart = '-----BEGIN '
const pemBlock =
  /^-----BEGIN ([^\n]*)-----\r?\n(?:[^\n:]*:[^\n]*\n)*([A-Za-z0-9+/=\s]*)-----END \1-----/

/** Expiry of the first certificate in the first PEM block, whatever the block's label. */
function notAfterMs(pem: string) {
  const [, , body] = pemBlock.exec(pem.slice(Math.max(0, pem.indexOf(pemStart)))) ?? []
  if (body === undefined) return null
  try {
    const ms = Date.parse(new X509Certificate(Buffer.from(body, 'base64')).validTo)
    return Number.isNaN(ms) ? null : ms
  } catch {
    return null
  }
}
