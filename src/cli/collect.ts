/** `highwater collect`: read a fleet into a snapshot, to audit it later or elsewhere. */
import { dirname } from 'node:path'
import { Command } from 'commander'
import type { ReadError } from '#model/input/record.ts'
import { openSnapshot } from '#snapshot/write.ts'
import { makeFolder } from './folder.ts'
import { addFleetOptions, exitAction, type FleetOptions } from './options.ts'
import { liveRecords, openReading } from './source.ts'
import { exitCode, nodesOf } from './terminal.ts'

interface CollectArguments extends FleetOptions {
  out: string
}

export function collectCommand() {
  const command = new Command('collect').option(
    '--out <file>',
    'the snapshot file; gzipped if the name ends in .gz',
    'snapshot.ndjson.gz',
  )
  return addFleetOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  highwater collect --out today.ndjson.gz
  highwater collect --cluster prod --out prod.ndjson.gz

Exit codes: 0 everything was read; 2 bad usage; 3 something was not read; 4
failed.`,
    )
    .action(exitAction(collectInto))
}

async function collectInto(options: CollectArguments): Promise<number> {
  const reading = openReading(options)
  makeFolder(dirname(options.out))
  const snapshot = openSnapshot(options.out)
  let nodes = 0
  // Nodes whose volumes one request to EC2 lists share its error.
  const failures = new Set<ReadError>()
  try {
    for await (const record of liveRecords(options, reading.live)) {
      await snapshot.write(record)
      if ('errors' in record) for (const error of record.errors ?? []) failures.add(error)
      if (record.kind !== 'Node') continue
      nodes += 1
      reading.nodeRead()
    }
    await snapshot.close()
  } catch (error) {
    await snapshot.discard()
    throw error
  } finally {
    reading.end()
  }
  const failed = failures.size
  process.stdout.write(
    `${nodesOf(nodes)} in ${options.out}${failed === 0 ? '' : `; ${failed} request${failed === 1 ? '' : 's'} failed; the snapshot has the reasons`}\n`,
  )
  return failed === 0 ? exitCode.ok : exitCode.unread
}
