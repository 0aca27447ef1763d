/**
 * A fleet for a bench: its nodes differ in every number, time and list of images, so that nothing is saved by texts or numbers that repeat. The
 * lab's nodegroups have four configurations.
 */

import { isRawObject, type RawObject } from '#base/raw-object.ts'
import { randomOf } from '#lab/nodes/random.ts'
import { fleet } from '#lab/scenarios/fleet.ts'
import type { LabNode, Scenario } from '#lab/scenarios/scenario.ts'

const podsPerNode = 30
/** A kubelet lists 50 images of its node in the node's status. */
const imagesListed = 50
const imagesKnown = 3_000
const registry = '111122223333.dkr.ecr.us-east-1.amazonaws.com/team'

export function variedFleet(nodes: number): Scenario {
  const scenario = fleet({ nodes, podsPerNode })
  return {
    ...scenario,
    clusters: scenario.clusters.map(each => ({
      ...each,
      nodes: {
        names: () => each.nodes.names(),
        node(name) {
          const found = each.nodes.node(name)
          return found && varied(found, name)
        },
      },
    })),
  }
}

const varied = (node: LabNode, name: string): LabNode => ({
  ...node,
  node(at) {
    const made = node.node(at)
    const images = [...(made.status?.images ?? []), ...imagesFrom(randomOf(`${name}/images`))]
    return { ...made, status: { ...made.status, images: images.slice(0, imagesListed) } }
  },
  summary: at => withOtherNumbers(node.summary(at), randomOf(`${name}/summary`)),
})

function imagesFrom(random: () => number) {
  return Array.from({ length: imagesListed }, () => {
    const app = Math.trunc(random() * imagesKnown)
    const digest = String(app * 7919).padStart(64, 'a3f9c')
    return {
      names: [`${registry}/app-${app}@sha256:${digest}`, `${registry}/app-${app}:v${app % 40}.2`],
      sizeBytes: 20_000_000 + Math.trunc(random() * 900_000_000),
    }
  }).toSorted((one, other) => other.sizeBytes - one.sizeBytes)
}

/** What is measured differs by up to 2 %, and was measured within 10 s; sizes of disks stay. */
function withOtherNumbers(summary: RawObject, random: () => number): RawObject {
  const other = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map(item => other(item, key))
    if (isRawObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, other(v, name)]))
    if (key === 'time')
      return `${new Date(Date.parse(String(value)) - random() * 10_000).toISOString().slice(0, 19)}Z`
    const isFixed = typeof value !== 'number' || /^(?:capacityBytes|inodes|maxpid)$/.test(key)
    return isFixed ? value : Math.trunc(value * (1 - random() / 50))
  }
  return other(summary, '') as RawObject
}
