/** A snapshot of a writer that did not know a source: the source is not unread in it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { rules } from '#judge/rules/index.ts'
import { promisedSources, sources } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { judgeRecords } from '#pipeline/audit/judge-records.ts'
import { readSnapshot } from '#snapshot/read.ts'
import { savedSnapshot } from '#test/saved-snapshot.ts'

async function coverageOf(parts: readonly string[] | undefined, unread: string[]) {
  const path = savedSnapshot([{ name: 'ip-a', unread }])
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

const known = [...sources]
const { proxy } = promisedSources
afterEach(() => {
  Object.assign(promisedSources, { proxy })
  Reflect.apply(known.splice, sources, [known.length])
})

it.each([
  ['knew all sources', known],
  ['names no parts', undefined],
  ['says that it knew none', []],
])('counts a node without a source as unread if the writer %s', async (_, parts) => {
  expect(await coverageOf(parts, ['summary'])).toEqual({
    coverage: ['partlyRead'],
    inputErrors: [],
  })
})

it.each([
  ['knew it', [...known, 'kernel'], 'partlyRead'],
  ['names others', known, 'read'],
  ['names no parts', undefined, 'read'],
])(
  'counts a node without a source of a later version if the writer %s',
  async (_, parts, state) => {
    Object.assign(promisedSources, { proxy: [...known.slice(0, 4), 'kernel'] })
    Reflect.apply(known.push, sources, ['kernel'])
    expect(await coverageOf(parts, [])).toEqual({ coverage: [state], inputErrors: [] })
  },
)
