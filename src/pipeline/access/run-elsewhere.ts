/** What reading the cluster around a pod needs to be allowed, ready to apply: `docs/run/kubernetes/in-cluster` has it as a file. */
import { defaultReadMode } from '#model/read-mode.ts'
import { manifests } from './grants.ts'

/** Whose pods run highwater. */
export const runAccount = { namespace: 'highwater', name: 'highwater' } as const

/** The role of a pod that reads the cluster around it. */
export const inClusterRole = (): string =>
  `# Written by a test: what highwater permissions --mode ${defaultReadMode} --format yaml --service-account ${runAccount.namespace}/${runAccount.name} prints.\n${manifests(defaultReadMode, { account: runAccount })}`
