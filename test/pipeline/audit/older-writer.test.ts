/** A snapshot of a writer that did not know a source: the source is not unread in it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { defaultPolicy } from '#model/policy.ts'
import { judgeRecords } from '#pipeline/audit/judge-records.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

async function coverageOf(parts?: readonly string[]) {
  const path = savedSnapshot([{ name: 'ip-a', unread: ['summary'] }])
  const [header = '', ...records] = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, [JSON.stringify({ ...JSON.parse(header), parts }), ...records].join('\n'))
  const { nodes, inputErrors } = await judgeRecords(readSnapshot(path), {
    policy: defaultPolicy,
    rules,
    snapshot: { write: async () => undefined },
    isEveryNodeNamed: true,
  })
  return { coverage: nodes.map(({ coverage }) => coverage), inputErrors }
}

it.each([
  ['knew all sources', ['node', 'pods', 'configz', 'summary', 'host', 'runtime'], 'partlyRead'],
  ['names no parts', undefined, 'partlyRead'],
  ['did not know one', ['node', 'pods', 'configz'], 'read'],
])('counts a node without a source as unread if the writer %s', async (_, parts, state) => {
  expect(await coverageOf(parts)).toEqual({ coverage: [state], inputErrors: [] })
})
