/** Which SSM agents can run a document. Source: aws/amazon-ssm-agent RELEASENOTES.md. */

/** For the inspect documents, which have step-level preconditions and so schema 2.2. SSM itself compares their hash, not the agent. */
export const leastAgentVersion = '2.0.790.0'

/** False if the text is no version. Then SSM decides. */
export function isAgentTooOld(version: string, leastVersion: string): boolean {
  if (!/^\d{1,9}(?:\.\d{1,9}){2,3}$/.test(version)) return false
  const [found, least] = [version, leastVersion].map(text => text.split('.').map(Number))
  const differing = least?.findIndex((part, index) => part !== (found?.[index] ?? 0)) ?? -1
  return differing >= 0 && (found?.[differing] ?? 0) < (least?.[differing] ?? 0)
}
