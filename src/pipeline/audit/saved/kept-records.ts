/** Writes the records of an audit to a file. If the disk fails, the snapshot is lost, not the audit. */
import { messageOf } from '#base/operator-error.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import type { Delivery } from '#model/report.ts'
import { openSnapshot, type SnapshotWriter } from '#snapshot/write.ts'

export interface KeptRecords extends Omit<SnapshotWriter, 'path'> {
  /** Path of the file; null: none requested, or writing failed. */
  keptAt(): string | null
  /** Why the file is missing; empty: it is not missing, or none was requested. */
  failure(): Delivery[]
}

/** @param writer null: no file is written */
export function keepRecords(writer: SnapshotWriter | null): KeptRecords {
  let failed: string | null = null
  const attempt = async (step: (writer: SnapshotWriter) => Promise<void>) => {
    if (!writer || failed !== null) return
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
    keptAt: () => (!writer || failed !== null ? null : writer.path),
    failure: () =>
      !writer || failed === null
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

/** @param onNode called for each node that was read @throws what the source throws, and the file system's errors; then nothing is left */
export async function keepFleet(
  records: AsyncIterable<SnapshotRecord>,
  path: string,
  onNode: () => void = () => undefined,
) {
  const snapshot = openSnapshot(path)
  try {
    for await (const record of records) {
      await snapshot.write(record)
      if (record.kind === 'Node') onNode()
    }
    await snapshot.close()
  } catch (error) {
    await snapshot.discard()
    throw error
  }
}
