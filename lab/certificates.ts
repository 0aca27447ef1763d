/** A certificate authority for each API server: P-256 keys and X.509 v3 certificates (RFC 5280, RFC 5758), made in a few milliseconds. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import {
  bitString,
  boolean,
  context,
  contextPrimitive,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  utcTime,
  utf8String,
} from './der.ts'

export interface CertificateAuthority {
  name: string
  key: KeyObject
  /** SHA-1 of the public key, as RFC 5280 4.2.1.2 suggests. */
  keyId: Uint8Array
  certificatePem: string
}

/** A key and its certificate: a server's, or a caller's. */
export interface ServingCertificate {
  keyPem: string
  certificatePem: string
}

const dayMs = 86_400_000
const ecdsaWithSha256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'))

export function createAuthority(commonName: string): CertificateAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyId = keyIdOf(publicKey)
  const extensions = [
    extension('2.5.29.19', true, sequence(boolean(true))),
    extension('2.5.29.15', true, bitString(Buffer.from([0b0000_0110]), 1)), // keyCertSign, cRLSign
    extension('2.5.29.14', false, octetString(keyId)),
  ]
  return {
    name: commonName,
    key: privateKey,
    keyId,
    certificatePem: certify(commonName, publicKey, commonName, privateKey, extensions),
  }
}

/** A serving certificate for the given DNS names and IPv4 addresses. */
export function issueServing(
  authority: CertificateAuthority,
  names: { dns: string[]; ip: string[] },
): ServingCertificate {
  const alternatives = [
    ...names.dns.map(name => contextPrimitive(2, Buffer.from(name))),
    ...names.ip.map(address => contextPrimitive(7, Buffer.from(address.split('.').map(Number)))),
  ]
  return issue(authority, 'kube-apiserver', '1.3.6.1.5.5.7.3.1', [
    extension('2.5.29.17', false, sequence(...alternatives)),
  ])
}

/** A certificate with which somebody of that name asks a server. */
export const issueClient = (authority: CertificateAuthority, name: string): ServingCertificate =>
  issue(authority, name, '1.3.6.1.5.5.7.3.2', [])

/** @param usage  RFC 5280 4.2.1.12: serverAuth or clientAuth */
function issue(
  authority: CertificateAuthority,
  subject: string,
  usage: string,
  more: Uint8Array[],
): ServingCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const extensions = [
    extension('2.5.29.19', true, sequence()),
    extension('2.5.29.15', true, bitString(Buffer.from([0b1000_0000]), 7)), // digitalSignature
    extension('2.5.29.37', false, sequence(objectIdentifier(usage))),
    extension('2.5.29.35', false, sequence(contextPrimitive(0, authority.keyId))),
    ...more,
  ]
  return {
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificatePem: certify(subject, publicKey, authority.name, authority.key, extensions),
  }
}

function certify(
  subject: string,
  publicKey: KeyObject,
  issuer: string,
  issuerKey: KeyObject,
  extensions: Uint8Array[],
): string {
  const nowMs = Date.now()
  const serial = randomBytes(15)
  serial[0] = 0x40 | (serial[0]! & 0x3f) // positive and without a superfluous leading zero
  const toBeSigned = sequence(
    context(0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(utcTime(new Date(nowMs - dayMs)), utcTime(new Date(nowMs + 365 * dayMs))),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    context(3, sequence(...extensions)),
  )
  const der = sequence(
    toBeSigned,
    ecdsaWithSha256,
    bitString(sign('sha256', toBeSigned, issuerKey)),
  )
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/(.{64})(?!$)/g, '$1\n')}\n-----END CERTIFICATE-----\n`
}

const commonName = (text: string) =>
  sequence(set(sequence(objectIdentifier('2.5.4.3'), utf8String(text))))

const extension = (id: string, critical: boolean, value: Uint8Array) =>
  sequence(objectIdentifier(id), ...(critical ? [boolean(true)] : []), octetString(value))

function keyIdOf(publicKey: KeyObject): Uint8Array {
  // The last 65 bytes of a P-256 SubjectPublicKeyInfo are the uncompressed point.
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha1').update(point).digest()
}
