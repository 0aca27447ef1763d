/** Source: kubernetes-sigs/aws-iam-authenticator pkg/token/token.go: the server accepts a token until X-Amz-Date + 15 min; clients plan for less. */
export const eksTokenRenewMs = 10 * 60_000
/** The presigned URL's X-Amz-Expires, as `aws eks get-token` sets it. Source: aws-iam-authenticator pkg/token/token.go requestPresignParam. */
export const eksTokenUrlExpiresSeconds = 60
/** Source: aws-iam-authenticator pkg/token/token.go maxTokenLenBytes ("token is too large"). */
export const eksTokenMaxBytes = 4096

/** A message with its attachments, after base64. Source: Amazon SES developer guide, Service quotas (SES API v2). */
export const sesMessageMaxBytes = 40_000_000
/** To, Cc and Bcc together. Source: SES API v2 reference, Destination. */
export const sesRecipientsMax = 50
/** Subject and text of one message. Source: SNS API reference, Publish. */
export const snsSubjectMaxCharacters = 100
export const snsMessageMaxBytes = 262_144
/** One PutObject. Source: Amazon S3 user guide, Uploading objects. */
export const s3PutObjectMaxBytes = 5 * 1024 ** 3

/** Versions that one DescribeLaunchTemplateVersions may name. Source: EC2 API reference, DescribeLaunchTemplateVersions. */
export const launchTemplateVersionsMax = 200

/** Instances that one SendCommand may name. Source: SSM API reference, SendCommand. */
export const commandInstancesMax = 50
/** Values of one filter. Source: SSM API reference, InstanceInformationStringFilter. */
export const describedInstancesMax = 100
/** Items in a page of SSM's lists. Source: SSM API reference, DescribeInstanceInformation and ListCommandInvocations. */
export const ssmPageMax = 50
/** Characters of a step's output that SSM keeps, the head of it. Source: SSM API reference, GetCommandInvocation StandardOutputContent. */
export const commandOutputMax = 24_000
