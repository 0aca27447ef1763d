import type { KubeletFeatures } from './features.ts'

/** Default tag by minor. Source: cmd/kubelet/app/options/container_runtime.go defaultPodSandboxImage; since 1.29 the kubelet no longer uses it. */
const tags: Readonly<Record<number, string>> = { 24: '3.7', 25: '3.8' }

export const defaultSandboxImage = ({ rulesOfMinor }: KubeletFeatures): string =>
  `registry.k8s.io/pause:${tags[rulesOfMinor] ?? '3.9'}`
