/** KubeletConfiguration fields that eksctl refuses in `kubeletExtraConfig`. Source: eksctl pkg/apis/eksctl.io/v1alpha5 validation. */
export const refusedByEksctl: ReadonlySet<string> = new Set([
  'address',
  'apiVersion',
  'authentication',
  'authorization',
  'clusterDomain',
  'kind',
  'serverTLSBootstrap',
])
