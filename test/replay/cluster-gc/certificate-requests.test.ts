import { describe, expect, it } from 'vitest'
import { featuresOf } from '#facts/kubelet/features.ts'
import { certificateOf, cleanCertificateRequest } from '#replay/cluster-gc/sections/certificates.ts'
import { objectOf } from '#test/at-the-door.ts'

// A self-signed certificate whose validity ended at 2025-01-02T00:00:00Z.
const der = [
  'MIIBCzCBsaADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMTBG5vZGUwHhcNMjUwMTAxMDAwMDAwWhcNMjUwMTAyMDAwMDAw',
  'WjAPMQ0wCwYDVQQDEwRub2RlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAETt/eIamn6X+VMUHCRYNQsYnsmoslQIdmjUiX/Lsr',
  'd18i9n0y2jj96QwdHt85D3wI01Lmmo5NAQ7KYjx3jA3JfzAKBggqhkjOPQQDAgNJADBGAiEAzCnhdh6uZLHQoCVVmwi3Nje9A/A8',
  'ru3TwJgRm297BB0CIQCNe+uI6MjVCQvH6NM17WUlJQTss9G51JKOvXtkfhCZUQ==',
].join('\n')
const endsMs = Date.parse('2025-01-02T00:00:00Z')
const pem = (body = der, name = 'CERTIFICATE', headers = '') =>
  `-----BEGIN ${name}-----\n${headers}${body}\n-----END ${name}-----\n`
const issued = (text: string) => ({ status: { certificate: Buffer.from(text).toString('base64') } })

const requestOf = (raw: unknown) => objectOf('certificatesigningrequests.certificates.k8s.io', raw)
const newest = featuresOf('v1.37.0')
const hour = 3_600_000
const nowMs = Date.parse('2025-01-03T00:00:00Z')
const ago = (ms: number) => new Date(nowMs - ms).toISOString()
const request = (conditions: unknown, ageMs = 0) => ({
  metadata: { name: 'csr', creationTimestamp: ago(ageMs) },
  status: { conditions },
})
const was = (type: string, ms: number) => [{ type, lastUpdateTime: ago(ms) }]
const none = { isIssued: false, notAfterMs: null }
const valid = { isIssued: true, notAfterMs: nowMs }

describe('cleanCertificateRequest', () => {
  it.each([
    {
      title: 'issued for an hour',
      given: request(was('Approved', hour)),
      certificate: valid,
      reason: null,
    },
    {
      title: 'issued for longer',
      given: request(was('Approved', hour + 1)),
      certificate: valid,
      reason: 'issued-past-deadline',
    },
    {
      title: 'denied for an hour',
      given: request(was('Denied', hour)),
      certificate: none,
      reason: null,
    },
    {
      title: 'denied for longer',
      given: request(was('Denied', hour + 1)),
      certificate: none,
      reason: 'denied-past-deadline',
    },
    {
      title: 'failed for an hour',
      given: request(was('Failed', hour)),
      certificate: none,
      reason: null,
    },
    {
      title: 'failed for longer',
      given: request(was('Failed', hour + 1)),
      certificate: none,
      reason: 'failed-past-deadline',
    },
    { title: 'pending for a day', given: request([], 24 * hour), certificate: none, reason: null },
    {
      title: 'pending for longer',
      given: request([], 24 * hour + 1),
      certificate: none,
      reason: 'pending-past-deadline',
    },
    {
      title: 'of conditions that are no list',
      given: request('none', 24 * hour + 1),
      certificate: none,
      reason: 'pending-past-deadline',
    },
    {
      title: 'of another condition for long',
      given: request(was('Other', 99 * hour), 99 * hour),
      certificate: none,
      reason: null,
    },
    {
      title: 'without any time',
      given: { status: { conditions: [{ type: 'Denied' }] } },
      certificate: none,
      reason: null,
    },
    {
      title: 'denied, whatever the status of that',
      given: request([{ ...was('Denied', hour + 1)[0], status: 'False' }]),
      certificate: none,
      reason: 'denied-past-deadline',
    },
    {
      title: 'of a certificate at its end',
      given: request(was('Approved', 0)),
      certificate: valid,
      reason: null,
    },
    {
      title: 'of a certificate past its end',
      given: request(was('Approved', 0)),
      certificate: { isIssued: true, notAfterMs: nowMs - 1 },
      reason: 'issued-expired',
    },
    {
      title: 'of an expired certificate without an approval',
      given: request(was('Other', 0)),
      certificate: { isIssued: true, notAfterMs: nowMs - 1 },
      reason: null,
    },
    {
      title: 'of a certificate that cannot be read',
      given: request(was('Approved', 0)),
      certificate: { isIssued: true, notAfterMs: null },
      reason: null,
    },
    {
      title: 'of a certificate past its end, with another condition beside the approval',
      given: request([...was('Other', 0), ...was('Approved', 0)]),
      certificate: { isIssued: true, notAfterMs: nowMs - 1 },
      reason: 'issued-expired',
    },
    {
      title: 'approved for a day, not issued',
      given: request(was('Approved', 24 * hour)),
      certificate: none,
      reason: null,
    },
    {
      title: 'approved for longer, not issued',
      given: request(was('Approved', 24 * hour + 1)),
      certificate: none,
      reason: 'approved-unissued-past-deadline',
    },
  ])('$title: $reason', ({ given, certificate, reason }) => {
    expect(cleanCertificateRequest(requestOf(given), nowMs, newest, certificate)).toBe(reason)
  })

  it('looks into the request itself where nothing is said of its certificate', () => {
    const approved = { ...request(was('Approved', 0)).status, ...issued(pem()).status }
    expect(cleanCertificateRequest(requestOf({ status: approved }), endsMs, newest)).toBeNull()
    expect(cleanCertificateRequest(requestOf({ status: approved }), endsMs + 1, newest)).toBe(
      'issued-expired',
    )
  })

  it.each([
    { version: 'v1.34.0', reason: null },
    { version: 'v1.35.0', reason: 'approved-unissued-past-deadline' },
    { version: 'v1.37.0', reason: 'approved-unissued-past-deadline' },
  ])('$version on a request approved long ago and never issued: $reason', ({ version, reason }) => {
    expect(
      cleanCertificateRequest(
        requestOf(request(was('Approved', 99 * hour))),
        nowMs,
        featuresOf(version),
      ),
    ).toBe(reason)
  })
})

describe('certificateOf', () => {
  it.each([
    { title: 'a certificate', text: pem() },
    { title: 'one under another name', text: pem(der, 'TRUSTED THING') },
    {
      title: 'one with headers and something before it',
      text: `hello\n${pem(der, 'CERTIFICATE', 'Proc-Type: 4\nOther: x\n\n')}`,
    },
    { title: 'one with carriage returns', text: pem().replaceAll('\n', '\r\n') },
    { title: 'the first of two', text: `${pem()}${pem('AAAA')}` },
  ])('reads the end of $title', ({ text }) => {
    expect(certificateOf(requestOf(issued(text)))).toEqual({ isIssued: true, notAfterMs: endsMs })
  })

  it.each([
    { title: 'text', text: 'garbage' },
    { title: 'a block of something else', text: pem('AAAA') },
    { title: 'a block without an end', text: pem().replace('END', 'AND') },
    {
      title: 'a block that ends under another name',
      text: pem().replace('END CERTIFICATE', 'END OTHER'),
    },
  ])('knows no end of $title', ({ text }) => {
    expect(certificateOf(requestOf(issued(text)))).toEqual({ isIssued: true, notAfterMs: null })
  })

  it.each([{}, null, { status: { certificate: '' } }, { status: { certificate: 7 } }])(
    'is none in %j',
    given => {
      expect(certificateOf(requestOf(given))).toEqual(none)
    },
  )
})
