/** `highwater collect`: read a fleet into a snapshot, to audit it later or elsewhere. */
import { dirname } from 'node:path'
import { Command } from 'commander'
import { prune } from '#snapshot/prune.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { exitCode } from './exit-code.ts'
import { makeFolder } from './folder.ts'
import { addFleetOptions, exiting, type FleetOptions } from './options.ts'
import { liveRecords, openReading } from './source.ts'

interface CollectArguments extends FleetOptions {
  out: string
}

export function collectCommand(): Command {
  const command = new Command('collect').option(
    '--out <file>',
    'the snapshot file; gzipped if the name ends in .gz',
    'snapshot.ndjson.gz',
  )
  return addFleetOptions(command).action(exiting(collectInto))
}

async function collectInto(options: CollectArguments): Promise<number> {
  const reading = openReading(options)
  makeFolder(dirname(options.out))
  const snapshot = openSnapshot(options.out)
  const read = { nodes: 0, errors: 0 }
  try {
    for await (const record of liveRecords(options, reading.live)) {
      await snapshot.write(prune(record))
      if ('errors' in record) read.errors += record.errors?.length ?? 0
      if (record.kind !== 'Node') continue
      read.nodes += 1
      reading.nodeRead()
    }
    await snapshot.close()
  } catch (error) {
    await snapshot.discard()
    throw error
  } finally {
    reading.end()
  }
  process.stdout.write(
    `${read.nodes} nodes in ${options.out}${read.errors === 0 ? '' : `; ${read.errors} requests failed; the snapshot has the reasons`}\n`,
  )
  return read.errors === 0 ? exitCode.ok : exitCode.unread
}
