/** The VPC endpoints through which a function without a way to the internet reaches AWS. Source: AWS PrivateLink guide, AWS services that integrate; each service's own page. */
export interface VpcEndpoint {
  /** `com.amazonaws.REGION.<name>` */
  name: string
  /** Gateways cost nothing; interfaces are paid for by the hour and Availability Zone. */
  type: 'interface' | 'gateway'
  /** When it is needed: a clause. */
  when: string
  /** What needs it: everything, or one way of reading, or one parameter of the stack. */
  of: 'always' | 'ssm' | 'mail' | 'topic' | 'alarms' | 'fan-out'
}

export const vpcEndpoints: readonly VpcEndpoint[] = [
  { name: 'eks', type: 'interface', of: 'always', when: 'always: clusters and nodegroups' },
  {
    name: 'ec2',
    type: 'interface',
    of: 'always',
    when: 'always: launch templates, disks, instances',
  },
  {
    name: 'sts',
    type: 'interface',
    of: 'always',
    when: 'always: who is asking, and roles in other accounts (tokens for clusters are signed without a call)',
  },
  { name: 's3', type: 'gateway', of: 'always', when: 'always: reports, policy, history' },
  { name: 'ssm', type: 'interface', of: 'ssm', when: 'modes ssm and both, and applying plans' },
  {
    name: 'email',
    type: 'interface',
    of: 'mail',
    when: 'mail by SES: the API’s endpoint, not `email-smtp`',
  },
  { name: 'sns', type: 'interface', of: 'topic', when: 'with topicArn' },
  { name: 'states', type: 'interface', of: 'fan-out', when: 'with fanOut=on' },
  {
    name: 'monitoring',
    type: 'interface',
    of: 'alarms',
    when: 'where the policy names remediation.alarms',
  },
]

/** And those of the nodes' own subnets, for SSM's agent. Source: Systems Manager user guide, create VPC endpoints. */
export const agentEndpoints: readonly string[] = ['ssm', 'ssmmessages', 'ec2messages']
