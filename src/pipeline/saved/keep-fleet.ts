/** Writes a live fleet to a file, so that it can be read more than once. */
import type { SnapshotRecord } from '#model/record.ts'
import { openSnapshot } from '#snapshot/write.ts'

/** @param onNode called for each node that was read @throws what the source throws, and the file system's errors; then nothing is left */
export async function keepFleet(
  records: AsyncIterable<SnapshotRecord>,
  path: string,
  onNode: () => void = () => undefined,
): Promise<void> {
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
