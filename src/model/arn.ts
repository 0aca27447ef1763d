/** Partition and account of an ARN. Source: IAM user guide, ARN format: partition second, account fifth; either may be empty. */
export const partitionInArn = (arn: string): string | null => arn.split(':')[1] || null
export const accountInArn = (arn: string): string | null => arn.split(':')[4] || null

/** Ends the name of the role that may change nodes in another account. The stack lets its remediation assume these roles: test/pipeline/permissions.test.ts. */
export const remediateSuffix = '-remediate'
