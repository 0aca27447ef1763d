/** The files that nodeadm makes for the kubelet. Source: awslabs/amazon-eks-ami nodeadm/internal/kubelet (config.go, environment.go) */
import type { RawObject } from '#base/raw-object.ts'

export const mainFile = '/etc/kubernetes/kubelet/config.json'
export const dropInFolder = '/etc/kubernetes/kubelet/config.json.d'
/** What the user wants. */
export const nodeadmDropIn = '40-nodeadm.conf'
export const kind: RawObject = {
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
}

/** As nodeadm and bootstrap.sh write it. */
export const configurationText = (fields: RawObject) => `${JSON.stringify(fields, null, 4)}\n`

export const nodeadmEnvironment = {
  path: '/etc/eks/kubelet/environment',
  text: (flags: readonly string[]) => `NODEADM_KUBELET_ARGS=${flags.join(' ')}\n`,
}

/** Only where somebody wants something is the folder named to the kubelet. */
export const withoutFolder = (flags: readonly string[]) =>
  flags.filter(flag => !flag.startsWith('--config-dir='))
