/** What the lab's S3 knows from one request to the next. */
import type { S3Scenario, Scenario } from '#lab/scenarios/scenario.ts'
import { folderStore } from './folder-store.ts'
import { memoryStore, type ObjectStore } from './object-store.ts'

export interface WorldS3 {
  scenario: S3Scenario
  objects: ObjectStore
  /** `bucket/key` of objects that a request deleted: the bucket keeps a delete marker. */
  deleted: Set<string>
  slowDownsLeft: number
}

/** Where several scenarios speak of S3, the last one holds. */
export function createS3(scenarios: readonly Scenario[], folder: string | undefined): WorldS3 {
  const usual: S3Scenario = {
    buckets: ['highwater-lab'],
    down: false,
    denied: [],
    slowDownFirst: 0,
    full: false,
    kms: null,
  }
  const scenario: S3Scenario = Object.assign(usual, ...scenarios.map(({ s3 }) => s3))
  const objects = folder === undefined ? memoryStore() : folderStore(folder)
  return { scenario, objects, deleted: new Set(), slowDownsLeft: scenario.slowDownFirst }
}
