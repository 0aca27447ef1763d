/** Links to a node's pages in the AWS console. Source: AWS, endpoints of the Management Console, per partition. */

const domains = [
  { regions: /^cn-/, domain: 'console.amazonaws.cn' },
  { regions: /^us-gov-/, domain: 'console.amazonaws-us-gov.com' },
  { regions: /^[a-z]{2}-[a-z]+-\d+$/, domain: 'console.aws.amazon.com' },
]

/** @param cluster its name, or `account/region/name` if the run has several regions */
export const regionOf = (cluster: string, ofRun: string | null): string | null =>
  /^\d{12}\/([a-z0-9-]+)\//.exec(cluster)?.[1] ?? ofRun

/** Null: not an instance of EC2, or of an unknown partition. */
export function consoleLinks(instanceId: string | null, region: string | null) {
  const domain = domains.find(({ regions }) => regions.test(region ?? ''))?.domain
  if (domain === undefined || !/^i-[0-9a-f]{8,17}$/.test(instanceId ?? '')) return null
  const host = `https://${region}.${domain}`
  return {
    instance: `${host}/ec2/home?region=${region}#InstanceDetails:instanceId=${instanceId}`,
    session: `${host}/systems-manager/session-manager/${instanceId}?region=${region}`,
  }
}
