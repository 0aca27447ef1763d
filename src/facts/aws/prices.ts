/**
 * What AWS asks for what highwater uses: list prices of us-east-1 in US dollars, on demand, without taxes, free tiers and discounts. In other regions they are
 * the same up to half as much again. Prices change seldom, and here nothing asks for them: look at the named page before you rely on one.
 */
export const pricesRegion = 'us-east-1'
export const pricesAsOf = '2026-11'

export interface Price {
  /** The service's name, as the bill has it. */
  service: string
  usd: number
  per: string
  /** The AWS page that says so. */
  source: string
}

const price = (service: string, usd: number, per: string, source: string): Price => ({
  service,
  usd,
  per,
  source,
})

export const prices = {
  lambdaTime: price('Lambda', 0.0000133334, 'GB-second, arm64', 'AWS Lambda pricing'),
  lambdaRequests: price('Lambda', 0.0000002, 'request', 'AWS Lambda pricing'),
  schedulerInvocations: price(
    'EventBridge Scheduler',
    0.000001,
    'invocation',
    'Amazon EventBridge pricing',
  ),
  stateTransitions: price(
    'Step Functions',
    0.000025,
    'state transition, standard workflow',
    'AWS Step Functions pricing',
  ),
  s3Storage: price('S3', 0.023, 'GB-month, Standard', 'Amazon S3 pricing'),
  s3Writes: price('S3', 0.000005, 'PUT or LIST request', 'Amazon S3 pricing'),
  s3Reads: price('S3', 0.0000004, 'GET request', 'Amazon S3 pricing'),
  sesMessages: price('SES', 0.0001, 'recipient of a mail', 'Amazon SES pricing'),
  sesAttachments: price('SES', 0.12, 'GB of attachments, after base64', 'Amazon SES pricing'),
  logsIngested: price('CloudWatch', 0.5, 'GB of log lines', 'Amazon CloudWatch pricing'),
  metrics: price(
    'CloudWatch',
    0.3,
    'metric and month, by the hours in which it was sent',
    'Amazon CloudWatch pricing',
  ),
  alarms: price('CloudWatch', 0.1, 'alarm and month', 'Amazon CloudWatch pricing'),
  betweenZones: price(
    'Data transfer',
    0.01,
    'GB between Availability Zones',
    'Amazon EC2 on-demand pricing, data transfer',
  ),
  natHours: price('NAT gateway', 0.045, 'hour and gateway', 'Amazon VPC pricing'),
  natData: price('NAT gateway', 0.045, 'GB', 'Amazon VPC pricing'),
  endpointHours: price(
    'VPC endpoint',
    0.01,
    'hour, endpoint and Availability Zone',
    'AWS PrivateLink pricing',
  ),
} as const satisfies Readonly<Record<string, Price>>

/** Hours that AWS counts in a month. Source: AWS Pricing Calculator, assumptions. */
export const hoursPerMonth = 730
export const daysPerMonth = hoursPerMonth / 24
/** Source: AWS Lambda developer guide, Configure Lambda function memory: so much of it comes with one virtual processor. */
export const memoryMiBOfOneCpu = 1769
