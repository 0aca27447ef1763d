/** Reasons for which a container waits because of its image. Sources: pkg/kubelet/images/types.go; k8s.io/cri-api/pkg/errors errors.go. */
export const pullErrors: ReadonlySet<unknown> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'ImageInspectError',
  'InvalidImageName',
  'RegistryUnavailable',
  'SignatureValidationFailed',
])

/** The longest pause between two pulls; pauses double from 10 s up to it. Source: pkg/kubelet/kubelet.go MaxImageBackOff. */
export const longestImageBackOffMs = 300_000
