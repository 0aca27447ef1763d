import { featuresOf } from '#facts/kubelet/features.ts'
import { certificateOf, cleanCertificateRequest } from '#replay/cluster-gc/sections/certificates.ts'
import { objectOf } from '#test/at-the-door.ts'
import type { Family } from './family.ts'

interface Input {
  ageMs: number | null
  conditions?: { type: string; lastUpdateAgeMs: number | null }[] | null
  certificate: 'none' | 'valid' | 'garbage'
  certificateExpiresInMs: number
}

const nowMs = Date.parse('2025-01-01T00:00:00Z')
const ago = (ageMs: number | null) =>
  ageMs === null ? null : new Date(nowMs - ageMs).toISOString()

export const csrCleaner: Family<Input> = {
  name: 'csr-cleaner',
  answer({ ageMs, conditions, certificate, certificateExpiresInMs }, version) {
    const request = objectOf('certificatesigningrequests.certificates.k8s.io', {
      metadata: { name: 'csr', creationTimestamp: ago(ageMs) },
      status: {
        conditions: (conditions ?? []).map(({ type, lastUpdateAgeMs }) => ({
          type,
          lastUpdateTime: ago(lastUpdateAgeMs),
        })),
        certificate:
          certificate === 'garbage' ? Buffer.from('garbage').toString('base64') : undefined,
      },
    })
    const issued =
      certificate === 'valid'
        ? { isIssued: true, notAfterMs: nowMs + certificateExpiresInMs }
        : certificateOf(request)
    return {
      deleted: cleanCertificateRequest(request, nowMs, featuresOf(version), issued) !== null,
    }
  },
}
