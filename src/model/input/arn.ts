/** Partition and account of an ARN. Source: IAM user guide, ARN format: partition second, account fifth; either may be empty. */
export const partitionInArn = (arn: string): string | null => arn.split(':')[1] || null
export const accountInArn = (arn: string): string | null => arn.split(':')[4] || null

/** Suffix of the name of a role that may change nodes in another account. The stack's remediation may assume such roles (test/pipeline/permissions.test.ts). */
export const remediateSuffix = '-remediate'
