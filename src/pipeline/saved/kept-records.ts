/** Writes the records of an audit to a file. If the disk fails, the snapshot is lost, not the audit. */
import { messageOf } from '#model/error-message.ts'
import type { SnapshotRecord } from '#model/record.ts'
import type { Delivery } from '#model/report.ts'
import type { SnapshotWriter } from '#snapshot/write.ts'

export interface KeptRecords {
  write(record: SnapshotRecord): Promise<void>
  close(): Promise<void>
  discard(): Promise<void>
  /** Path of the file; null: none requested, or writing failed. */
  keptAt(): string | null
  /** Why the file is missing; empty: it is not missing, or none was requested. */
  failure(): Delivery[]
}

/** @param writer null: no file is written */
export function keepRecords(writer: SnapshotWriter | null): KeptRecords {
  let failed: string | null = null
  const attempt = async (step: (writer: SnapshotWriter) => Promise<void>) => {
    if (writer === null || failed !== null) return
    try {
      await step(writer)
    } catch (error) {
      failed = messageOf(error)
      await writer.discard().catch(() => undefined)
    }
  }
  return {
    write: record => attempt(open => open.write(record)),
    close: () => attempt(open => open.close()),
    discard: () => attempt(open => open.discard()),
    keptAt: () => (writer === null || failed !== null ? null : writer.path),
    failure: () =>
      writer === null || failed === null
        ? []
        : [
            {
              channel: 'snapshot',
              location: null,
              link: null,
              error: `${writer.path} could not be written (${failed}): free space there, or choose another place`,
            },
          ],
  }
}
