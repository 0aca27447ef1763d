/** The Lambda functions, as the package exports them: `@highwater/cli/lambda`. */
export { handler as audit } from '#handlers/audit.ts'
export { handler as auditShard } from '#handlers/audit-shard.ts'
export { handler as discover } from '#handlers/discover.ts'
export { handler as publish } from '#handlers/publish.ts'
export { handler as remediate } from '#handlers/remediate.ts'
