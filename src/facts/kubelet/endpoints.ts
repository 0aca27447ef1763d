/** Paths and ports on which a kubelet answers, through the API server's node proxy or directly. Upstream: pkg/kubelet/server/server.go, auth.go; staging/src/k8s.io/api core/v1 nodes/proxy. */
import type { KubernetesNode } from '#model/input/record.ts'
import { gateState } from './feature-gates.ts'
import { featuresOf } from './features.ts'

export const kubeletPath = {
  configz: (node: string) => `/api/v1/nodes/${encodeURIComponent(node)}/proxy/configz`,
  statsSummary: (node: string) => `/api/v1/nodes/${encodeURIComponent(node)}/proxy/stats/summary`,
}

export const ownPath = { configz: '/configz', statsSummary: '/stats/summary' } as const

/** Source: pkg/cluster/ports/ports.go KubeletPort. */
const usualPort = 10_250

export interface KubeletAddress {
  /** The node's first internal address, IPv4 or IPv6; null: it reports none. */
  ip: string | null
  port: number
  /** Names that the serving certificate may contain: the node's addresses and names. Source: pkg/kubelet/certificate/kubelet.go NewKubeletServerCertificateManager. */
  names: readonly string[]
}

export function kubeletAddress({ metadata, status }: KubernetesNode): KubeletAddress {
  const addresses = Array.isArray(status?.addresses) ? status.addresses : []
  const addressesOfType = (...types: string[]) =>
    addresses.flatMap(({ type, address }) =>
      address && types.includes(String(type)) ? [address] : [],
    )
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port
  return {
    ip: addressesOfType('InternalIP')[0] ?? null,
    port: typeof port === 'number' && port > 0 ? port : usualPort,
    names: [
      ...new Set([
        ...addressesOfType('InternalIP', 'Hostname', 'InternalDNS'),
        ...(metadata?.name ? [metadata.name] : []),
      ]),
    ],
  }
}

/** Without the gate a kubelet requires `get nodes/proxy` instead of `get nodes/configz`. Source: pkg/kubelet/server/auth.go GetRequestAttributes. */
export const asksForConfigzRight = (kubeletVersion: string | null) =>
  gateState('KubeletFineGrainedAuthz', featuresOf(kubeletVersion))?.isOn === true
