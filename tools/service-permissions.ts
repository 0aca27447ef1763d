/** IAM actions of Lambda for a function in subnets. Source: Lambda developer guide, giving functions access to resources in a VPC, required IAM permissions. */
export const networkPermissions = [
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
]

/** IAM actions of Lambda for a traced function. Source: Lambda developer guide, visualize function invocations using AWS X-Ray. */
export const tracePermissions = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords']

/** IAM actions of a schedule: it invokes the function, and queues failed invocations. Source: EventBridge Scheduler user guide, execution role and dead-letter queue. */
export const schedulePermissions = ['lambda:InvokeFunction', 'sqs:SendMessage']

/**
 * IAM actions of a state machine with a distributed map: it invokes the function, reads the items, and starts itself for each item. Source: Step Functions developer guide, IAM policies
 * for using Distributed Map states.
 */
export const stateMachinePermissions = [
  'lambda:InvokeFunction',
  's3:GetObject',
  'states:StartExecution',
  'states:DescribeExecution',
  'states:StopExecution',
]

/** IAM actions of a state machine that a person redrives: it redrives the executions of its distributed map. Source: Step Functions developer guide, redriving Map Runs, IAM permissions. */
export const redrivePermissions = ['states:RedriveExecution']

/** IAM actions of Lambda for a function's log. Source: Lambda developer guide, sending function logs to CloudWatch Logs. */
export const logPermissions = ['logs:CreateLogStream', 'logs:PutLogEvents']
