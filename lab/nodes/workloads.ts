/** More workloads, as many as the images of a disk leave room for: no two nodes run the same. */
import { imagesTargetBytes, unpackedBytesOf, unusedBytes, writtenBytes } from './images.ts'
import type { PodProfile } from './pod-profile.ts'
import type { NodeProfile } from './profile.ts'
import { digits, randomOf, suffixOf } from './random.ts'

const ecr = '111122223333.dkr.ecr.us-east-1.amazonaws.com'

interface Workload {
  namespace: string
  app: string
  image: string
  memoryMiB: number
  logsMiB: number
}

const scores = ['churn', 'demand', 'fraud', 'price', 'returns'].map(
  (what, index): Workload => ({
    namespace: 'ml',
    app: `score-${what}`,
    image: `${ecr}/ml/score-${what}:${index + 3}`,
    memoryMiB: 610 + 40 * index,
    logsMiB: 7,
  }),
)
const others: readonly Workload[] = [
  ['ml', 'recommender', 'ml/recommender:14', 540, 15],
  ['data', 'etl', 'data/etl:3.5.2', 420, 33],
  ['shop', 'search', 'shop/search:8.15.0', 690, 27],
  ['web', 'storefront', 'web/storefront:812', 210, 22],
].map(([namespace, app, image, memoryMiB, logsMiB]) => ({
  namespace: String(namespace),
  app: String(app),
  image: `${ecr}/${image}`,
  memoryMiB: Number(memoryMiB),
  logsMiB: Number(logsMiB),
}))

/** The pods, and more in front of those that have ended. */
export function withWorkloads(
  pods: readonly PodProfile[],
  place: Pick<NodeProfile, 'name' | 'nodefs' | 'imagefs' | 'disk'>,
): PodProfile[] {
  const isRunning = ({ phase }: PodProfile) => phase === 'Running'
  return [
    ...pods.filter(isRunning),
    ...workloadsBeside(pods, place).map(workload => podOf(workload, place.name)),
    ...pods.filter(pod => !isRunning(pod)),
  ]
}

function workloadsBeside(
  pods: readonly PodProfile[],
  place: Pick<NodeProfile, 'name' | 'nodefs' | 'imagefs' | 'disk'>,
): Workload[] {
  const images = new Set(pods.flatMap(pod => pod.containers.map(({ image }) => image)))
  let left =
    imagesTargetBytes(place) -
    unusedBytes(place) -
    writtenBytes(pods) -
    [...images].reduce((sum, name) => sum + unpackedBytesOf(name), 0)
  const start = parseInt(digits(place.name).slice(0, 2), 16) % scores.length
  const all = [...scores.slice(start), ...scores.slice(0, start), ...others]
  return all.filter(({ image }) => {
    if (images.has(image) || unpackedBytesOf(image) > left) return false
    left -= unpackedBytesOf(image)
    return true
  })
}

function podOf({ namespace, app, image, memoryMiB, logsMiB }: Workload, node: string): PodProfile {
  const hash = suffixOf(`template/${image}`, 10)
  const random = randomOf(`use/${node}/${app}`)
  const varied = (mib: number) => Math.round(mib * (0.75 + random() / 2))
  return {
    namespace,
    name: `${app}-${hash}-${suffixOf(`${node}/${app}`)}`,
    owner: { kind: 'ReplicaSet', name: `${app}-${hash}` },
    labels: { app, 'pod-template-hash': hash },
    containers: [
      {
        name: app,
        image,
        memoryMiB: varied(memoryMiB),
        rootfsMiB: varied(5),
        logsMiB: varied(logsMiB),
        requests: { cpu: '100m', memory: '256Mi' },
      },
    ],
    phase: 'Running',
  }
}
