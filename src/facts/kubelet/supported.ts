/** Which kubelets are judged: those of the minors whose replay was compared with upstream's answers (test/vectors). */
import { OperatorError } from '#base/operator-error.ts'
import type { NodeInput } from '#model/input/node-input.ts'
import { featuresOf, supportedMinors } from './features.ts'

/** Why nothing is predicted for the kubelet; null: its minor is supported, or the node reports no version. */
export function unsupportedReason(kubeletVersion: string | null): string | null {
  const { minor, exact } = featuresOf(kubeletVersion)
  return exact || minor === null
    ? null
    : `Kubernetes 1.${minor} is not supported: 1.${supportedMinors.first} to 1.${supportedMinors.last} are`
}

/** @throws OperatorError if highwater does not know the minor */
export function requireSupported(kubeletVersion: string): void {
  const reason = unsupportedReason(kubeletVersion)
  if (reason !== null) throw new OperatorError(reason)
}

/** The input without what only a supported kubelet's rules can read; the reason is among its errors. */
export function supportedInput(input: NodeInput): NodeInput {
  const message = unsupportedReason(input.node.status?.nodeInfo?.kubeletVersion ?? null)
  if (message === null) return input
  return {
    ...input,
    configuration: null,
    host: null,
    errors: [...input.errors, { what: 'configz', message }, { what: 'host', message }],
  }
}
