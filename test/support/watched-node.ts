/** One node of the scenario `remediation`, as its cluster shows it, and the changes that are sent to it. */

import type { RawObject } from '#base/raw-object.ts'
import type { Lab } from '#lab/lab.ts'
import type { RemediationNode } from '#lab/scenarios/remediation.ts'
import type { KubernetesNode, KubernetesPod } from '#model/input/record.ts'
import { type Change, fileOf, imageGcAt, mainFileOf, send, sha256 } from './lab-changes.ts'

/** What `GET path` on the API server of a cluster is answered. */
export type AskCluster = (
  cluster: string,
  path: string,
) => Promise<{ status: number; json: RawObject }>

export class WatchedNode {
  readonly lab: Lab
  readonly node: RemediationNode
  readonly #ask: AskCluster

  constructor(lab: Lab, node: RemediationNode, ask: AskCluster) {
    this.lab = lab
    this.node = node
    this.#ask = ask
  }

  ask(path: string) {
    return this.#ask(this.node.cluster, path)
  }
  /** What it runs with; a status where the API server has no answer of it. */
  async configz(): Promise<RawObject | number> {
    const { status, json } = await this.ask(`/api/v1/nodes/${this.node.name}/proxy/configz`)
    return status === 200 ? (json as { kubeletconfig: RawObject }).kubeletconfig : status
  }
  async thresholds(): Promise<unknown[] | number> {
    const configz = await this.configz()
    return typeof configz === 'number'
      ? configz
      : [configz.imageGCHighThresholdPercent, configz.imageGCLowThresholdPercent]
  }
  async object(): Promise<KubernetesNode> {
    return (await this.ask(`/api/v1/nodes/${this.node.name}`)).json as KubernetesNode
  }
  async ready() {
    return (await this.object()).status?.conditions?.find(({ type }) => type === 'Ready')
  }
  async pods(): Promise<KubernetesPod[]> {
    const { json } = await this.ask(`/api/v1/pods?fieldSelector=spec.nodeName%3D${this.node.name}`)
    return (json as { items: KubernetesPod[] }).items
  }

  /** Image GC at these percentages, made for the file that is there. */
  async change(high = 70, low = 50): Promise<Change> {
    const { nodegroup } = this.node
    const main = mainFileOf[nodegroup]
    if (main === undefined) return imageGcAt(nodegroup, high, low)
    if (this.lab.machineOf(this.node.instanceId) === null) {
      // The first command makes the machine stand; it is made for another file, and refused.
      const { document, parameters } = imageGcAt(nodegroup, high, low, '{}')
      await send(this.lab, this.node, document, {
        ...parameters,
        OldSha256: sha256('nobody has it'),
        Run: 'run-that-is-refused',
      })
    }
    return imageGcAt(nodegroup, high, low, this.file(main) ?? '')
  }
  file(path: string): string | null {
    return fileOf(this.lab, this.node, path)
  }
  send({ document, parameters }: Change, more: Record<string, string> = {}) {
    return send(this.lab, this.node, document, { ...parameters, ...more })
  }
  /** The command goes out, and its sender waits only until `until` resolves. */
  async leave({ document, parameters }: Change, until: () => Promise<void>): Promise<void> {
    const leaving = new AbortController()
    const pendingOutcome = send(this.lab, this.node, document, parameters, {
      signal: leaving.signal,
    }).then(
      ({ outcome }) => outcome,
      () => null,
    )
    await until()
    leaving.abort()
    const outcome = await pendingOutcome
    if (outcome !== null) throw new Error(`an answer came: ${outcome}`)
  }
}
