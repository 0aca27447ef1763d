/** The server accepts a token for 15 min; clients renew it earlier. Source: kubernetes-sigs/aws-iam-authenticator pkg/token/token.go (X-Amz-Date + 15 min). */
export const eksTokenRenewMs = 10 * 60_000
/** The presigned URL's X-Amz-Expires, as `aws eks get-token` sets it. Source: aws-iam-authenticator pkg/token/token.go requestPresignParam. */
export const eksTokenUrlExpiresSeconds = 60
/** Source: aws-iam-authenticator pkg/token/token.go maxTokenLenBytes ("token is too large"). */
export const eksTokenMaxBytes = 4096

/** Bytes of a message with attachments, after base64. Source: Amazon SES developer guide, Service quotas (SES API v2). */
export const sesMessageMaxBytes = 40_000_000
/** Recipients in To, Cc and Bcc together. Source: SES API v2 reference, Destination. */
export const sesRecipientsMax = 50
/** Limits of a message's subject and text. Source: SNS API reference, Publish. */
export const snsSubjectMaxCharacters = 100
export const snsMessageMaxBytes = 262_144
/** Entries of one request. Source: EventBridge API reference, PutEvents. */
export const eventsPerRequest = 10
/** Maximum size of an object in one PutObject. Source: Amazon S3 user guide, Uploading objects. */
export const s3PutObjectMaxBytes = 5 * 1024 ** 3

/** Maximum number of versions in one DescribeLaunchTemplateVersions. Source: EC2 API reference, DescribeLaunchTemplateVersions. */
export const launchTemplateVersionsMax = 200

/** Maximum number of instances in one SendCommand. Source: SSM API reference, SendCommand. */
export const commandInstancesMax = 50
/** Values per filter, at most. Source: SSM API reference, InstanceInformationStringFilter. */
export const describedInstancesMax = 100
/** Maximum number of items in a page of SSM's lists. Source: SSM API reference, DescribeInstanceInformation and ListCommandInvocations. */
export const ssmPageMax = 50
/** SSM keeps this many characters from the start of a step's output. Source: SSM API reference, GetCommandInvocation StandardOutputContent. */
export const commandOutputMax = 24_000
