import { type EksCluster, plainClusterName } from '#model/input/record.ts'

export interface CommandPlace {
  context: string
  /** Null: the cluster is not on EKS. */
  region: string | null
  /** The cluster's name without account and region. */
  name: string
}

/** Source: AWS service authorization reference, EKS: `arn:aws:eks:REGION:ACCOUNT:cluster/NAME`. */
const clusterArn = /^arn:[\w-]+:eks:([a-z0-9-]+):(\d{12}):cluster\//

/**
 * @param contextNames policy: `{name}`, `{region}`, `{account}` and `{arn}` stand for the cluster's.
 * A cluster without one of these values (from a kubeconfig) uses its name as context.
 */
export function placeOfCluster(
  cluster: string,
  eks: EksCluster | null,
  contextNames: string,
): CommandPlace {
  const arn = eks?.arn ?? ''
  const [, region, account] = clusterArn.exec(arn) ?? []
  const name = plainClusterName(cluster)
  const values: Record<string, string | undefined> = {
    name,
    region,
    account,
    arn: arn || undefined,
  }
  const isKnown = [...contextNames.matchAll(/\{(\w+)\}/g)].every(([, key = '']) => values[key])
  return {
    context: isKnown ? contextNames.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? '') : name,
    region: region ?? null,
    name,
  }
}
