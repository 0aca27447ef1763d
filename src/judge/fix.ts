/** Where a fix can go. EKS Auto Mode: nowhere but the disk's size. */
import type { Fix } from '#model/finding.ts'
import type { Failing } from './rule.ts'

/** Only `spec.ephemeralStorage` of the NodeClass is the user's on EKS Auto Mode (aws/containers-roadmap#2876). */
const autoModeSnippet = `# EKS Auto Mode fixes the kubelet's configuration; the disk's size is all that can be changed.
apiVersion: eks.amazonaws.com/v1
kind: NodeClass
spec:
  ephemeralStorage:
    size: # larger than now, for example 160Gi
`

/** No configuration: nothing could apply it. A failing that no configuration ends has no fix here either. */
export const autoModeFix = (failing: Failing): Fix => ({
  config: {},
  durable: failing.fix ? [{ target: 'auto-mode', snippet: autoModeSnippet }] : [],
  commands: [],
})
