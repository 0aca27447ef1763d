/** Nodes that are not Ready, nodes without their instance, and leases of nodes. */

import { X509Certificate } from 'node:crypto'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { KubeletFeatures } from '#facts/kubelet/features.ts'
import { certificateRequestLifetimesMs } from '#facts/kubernetes/controllers.ts'
import type {
  CertificateGarbage,
  CertificateRequest,
  InstanceGarbage,
  LeaseGarbage,
  NodeGarbage,
} from '#model/finding/cluster-garbage.ts'
import { isOf } from '#model/input/cluster-input.ts'
import type {
  CertificateSigningRequest,
  ClusterObject,
  KubernetesNode,
  Lease,
} from '#model/input/kubernetes.ts'
import {
  conditionOf,
  nameOf,
  type ObjectMetadata,
  type OpenSection,
  type OwnerReference,
  Packed,
  parseMetadata,
  type Section,
  type SectionContext,
  slimMetadata,
  timeOf,
} from '#replay/cluster-gc/section.ts'

export const nodes: Section<'nodes'> = {
  resources: [],
  needsNodes: true,
  open: () => ({
    take: () => {},
    close: ({ nodes: all }) => ({ notReady: (all ?? []).flatMap(notReadyNode) }),
  }),
}

function notReadyNode(node: KubernetesNode): NodeGarbage['notReady'][number][] {
  const condition = conditionOf(node, 'Ready')
  if (nameOf(node) === '' || condition?.status === 'True') return []
  const ready = condition?.status === 'False' ? 'False' : 'Unknown'
  const sinceMs = timeOf(condition?.lastTransitionTime) ?? timeOf(node.metadata?.creationTimestamp)
  return [
    {
      node: nameOf(node),
      ready: condition ? ready : null,
      sinceMs,
      reason: condition?.reason ?? null,
    },
  ]
}

/* Nodes whose EC2 instance no longer exists. */

export const instances: Section<'instances'> = {
  resources: ['instances.ec2.amazonaws.com'],
  needsNodes: true,
  open: () => new Instances(),
}

class Instances implements OpenSection<InstanceGarbage> {
  readonly #instances = new Set<string>()

  take(resource: string, instance: ClusterObject) {
    if (!isOf('instances.ec2.amazonaws.com', resource, instance)) return
    if (instance.InstanceId !== undefined) this.#instances.add(instance.InstanceId)
  }

  close({ nodes }: SectionContext): InstanceGarbage {
    const known = (nodes ?? []).map(node => ({ node, ...nodeIdentity(node) }))
    return {
      withoutInstance: known.flatMap(({ node, name, instanceId, ready }) => {
        const isOfEc2 = instanceId?.startsWith('i-') === true
        if (!isOfEc2 || ready === 'True' || this.#instances.has(instanceId)) return []
        return [
          {
            node: name,
            instanceId,
            sinceMs: timeOf(conditionOf(node, 'Ready')?.lastTransitionTime),
          },
        ]
      }),
    }
  }
}

/* Leases of nodes. Leases of API servers and of leader elections are not garbage, and are not kept. */

export const leases: Section<'leases'> = {
  resources: ['leases.coordination.k8s.io'],
  open: () => new Leases(),
}

class Leases implements OpenSection<LeaseGarbage> {
  readonly #ofNodes = new Packed<Lease>()

  take(resource: string, lease: ClusterObject) {
    if (!isOf('leases.coordination.k8s.io', resource, lease)) return
    if (lease.metadata?.namespace === 'kube-node-lease') this.#ofNodes.push(lease)
  }

  close({ nodes, nowMs }: SectionContext): LeaseGarbage {
    const ofNodes = [...this.#ofNodes]
    const made = new Map(ofNodes.map(lease => [nameOf(lease), madeMs(lease)]))
    const isLeft = ({ state, isExpired }: LeaseGarbage['nodes'][number]) =>
      state !== 'held' || isExpired !== false
    return {
      nodes: nodeLeases(ofNodes, nodes, nowMs)
        .map(({ node, state, renewedMs, isExpired }) => ({
          node,
          state,
          renewedMs: renewedMs ?? made.get(node) ?? null,
          isExpired,
        }))
        .filter(isLeft),
    }
  }
}

/** A lease that was never renewed counts from its creation. */
const madeMs = (lease: Lease) => timeOf(lease.metadata?.creationTimestamp)

/*
 * Leases: which ones the kubelets still renew, and which ones will never be collected.
 *
 * Replays       pkg/kubelet/util/nodelease.go                                  SetNodeOwnerFunc
 *               component-helpers/apimachinery/lease/controller.go             Run
 *               pkg/controlplane/controller/apiserverleasegc/gc_controller.go  isLeaseExpired
 * Read at       1.29 to 1.37
 * Kept exactly  exactly at its end a lease is not expired; an identity lease without renewTime or duration is; the owner is set only while there is none
 * Left out      a switched APIServerIdentity gate; leases of leader elections, which are not collected
 */

/**
 * `held`: the owner is the node of that name. `ownerless`: the node exists, and its kubelet sets the owner at the next renewal. `stale-owner`: the
 * owner is a former node of that name; the lease is deleted, and a live kubelet creates it anew. `collectable`: the node does not exist, so the
 * collector deletes the lease. `leftover`: no node, and no collector deletes it. `unknown`: nodes were not read, or it has another owner.
 */
type NodeLeaseState = 'held' | 'ownerless' | 'stale-owner' | 'collectable' | 'leftover' | 'unknown'

interface NodeLease {
  /** The node's name, which is also the lease's name. */
  node: string
  state: NodeLeaseState
  renewedMs: number | null
  /** Whether no kubelet renewed the lease for its whole duration; null: not known. */
  isExpired: boolean | null
}

/** @param leases of all namespaces, or only node leases. @param nodes null: not read */
export function nodeLeases(
  leases: readonly Lease[],
  nodes: readonly KubernetesNode[] | null,
  nowMs: number,
): NodeLease[] {
  const uids =
    nodes &&
    new Map(nodes.flatMap(node => parseMetadata(node) ?? []).map(({ name, uid }) => [name, uid]))
  return leases.flatMap(lease => {
    const metadata = parseMetadata(lease)
    if (metadata?.namespace !== 'kube-node-lease') return []
    const { renewedMs, durationMs } = timesOf(lease)
    const isTimed = renewedMs !== null && durationMs !== null
    return {
      node: metadata.name,
      state: uids ? leaseState(metadata, uids.get(metadata.name)) : 'unknown',
      renewedMs,
      isExpired: isTimed ? nowMs > renewedMs + durationMs : null,
    }
  })
}

/** @param nodeUid undefined: no such node */
function leaseState(lease: ObjectMetadata, nodeUid: string | undefined): NodeLeaseState {
  const isNode = nodeUid !== undefined
  const [owner] = lease.ownerReferences
  if (!owner) return isNode ? 'ownerless' : 'leftover'
  if (!isOnlyOwner(owner, lease)) return 'unknown'
  if (!isNode) return 'collectable'
  return owner.uid === nodeUid ? 'held' : 'stale-owner'
}

const isOnlyOwner = ({ apiVersion, kind, name }: OwnerReference, lease: ObjectMetadata) =>
  lease.ownerReferences.length === 1 &&
  apiVersion === 'v1' &&
  kind === 'Node' &&
  name === lease.name

function timesOf({ spec }: Lease) {
  const durationSeconds = spec?.leaseDurationSeconds ?? null
  return {
    renewedMs: timeOf(spec?.renewTime),
    durationMs: durationSeconds === null ? null : durationSeconds * 1000,
  }
}

/* Certificate signing requests: their state, and whether the cleaner should have deleted them. Only the certificate's expiry is kept. */

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
