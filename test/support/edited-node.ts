/** A node record whose kubelet file has other settings than the running kubelet. */
export const editedNode = (settings: object) => ({
  kind: 'Node',
  cluster: 'prod',
  node: {
    metadata: { name: 'edited' },
    status: { nodeInfo: { kubeletVersion: 'v1.34.1', operatingSystem: 'linux' } },
  },
  host: {
    schema: 'highwater.host/1',
    kubelet: {
      files: [
        {
          path: '/etc/kubernetes/kubelet/config.json',
          role: 'config',
          content: {
            kind: 'KubeletConfiguration',
            apiVersion: 'kubelet.config.k8s.io/v1beta1',
            ...settings,
          },
        },
      ],
    },
  },
})
