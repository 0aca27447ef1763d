/** Certificate signing requests: their state, and whether the cleaner should have deleted them. Only the certificate's expiry is kept. */
import { certificateRequestLifetimesMs } from '#facts/kubernetes/controllers.ts'
import type { CertificateGarbage, CertificateRequest } from '#model/cluster-garbage.ts'
import { isOf } from '#model/cluster-objects.ts'
import type { CertificateSigningRequest, ClusterObject } from '#model/kubernetes.ts'
import {
  certificateOf,
  cleanCertificateRequest,
  type IssuedCertificate,
} from '#replay/cluster-gc/certificate-requests.ts'
import { parseMetadata, timeOf } from '#replay/cluster-gc/metadata.ts'
import { Packed } from '#replay/cluster-gc/packed.ts'
import type { OpenSection, Section, SectionContext } from '#replay/cluster-gc/section.ts'
import { slimMetadata } from '#replay/cluster-gc/slim.ts'

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

  take(resource: string, object: ClusterObject): void {
    if (!isOf(listed, resource, object)) return
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
      const { state, sinceMs } = stateOf(request, certificate)
      return [
        {
          ...{ name, createdMs, state, sinceMs: state === 'pending' ? createdMs : sinceMs },
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
function stateOf(
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
