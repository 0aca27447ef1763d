/** The gate says what a real kubelet did with the same file. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nodeIdentity } from '#facts/eks/node-identity.ts'
import type { NodeRecord } from '#model/input/record.ts'
import { openBudget, readChangedFile } from '#pipeline/gate/changed-file.ts'
import { rollOut } from '#pipeline/gate/rollout.ts'
import { nodeInput } from '#snapshot/input.ts'
import { gated, gateSnapshot } from '#test/gate-changes.ts'
import { gateWorld } from '#test/gate-world.ts'

interface Verdict {
  name: string
  form: 'main' | 'drop-in'
  file: string
  /** Null: the kubelet started. */
  refusal: string | null
  runs: Record<string, unknown> | null
}

const recorded: Verdict[] = JSON.parse(
  readFileSync(new URL('../../fixtures/real/gate-verdicts.json', import.meta.url), 'utf8'),
)
const empty = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'

/** For nodes of the kubelet's minor. */
const textsOf = ({ form, file }: Verdict) =>
  form === 'main'
    ? [{ file: 'spot/kubelet.yaml', text: file, base: null }]
    : [
        { file: 'spot/kubelet.yaml', text: empty, base: null },
        { file: 'spot/kubelet.conf.d/50-disk.conf', text: file, base: null },
      ]

it.each(recorded.filter(({ refusal }) => refusal !== null))('refuses $name', async verdict => {
  const { problems, verdict: said } = await gated(gateSnapshot(), textsOf(verdict))
  const refusals = problems.filter(({ kind }) => kind === 'refused')
  expect({ said, refusals: refusals.length }).toEqual({ said: 'refused', refusals: 1 })
  expect(verdict.refusal).toContain(refusals[0]?.text)
})

it.each(recorded.filter(({ runs }) => runs !== null))('starts with $name', async verdict => {
  const { verdict: said } = await gated(gateSnapshot(), textsOf(verdict))
  expect(said).not.toBe('refused')
  const node = gateWorld()
    .map(line => JSON.parse(line))
    .find(record => record.node?.metadata.name === 'spot-0')
  const input = nodeInput(node as NodeRecord)
  const parts = textsOf(verdict).flatMap(
    ({ file, text }) => readChangedFile(file, text, openBudget()).parts,
  )
  const after = rollOut(input, nodeIdentity(input.node), {
    parts,
    gone: [],
    isAppended: false,
    starts: new Map(),
  })
  expect(after.input?.configuration?.fields).toMatchObject(verdict.runs ?? {})
})

it('names the field that a whole file does not have', async () => {
  const verdict = recorded.find(({ name }) => name === 'a good file')
  if (verdict === undefined) throw new Error('no good file was recorded')
  const { problems } = await gated(gateSnapshot(), textsOf(verdict))
  const stops = problems.filter(problem => problem.stops)
  expect(stops).toMatchObject([
    { kind: 'settings-lost', line: 1, text: expect.stringContaining('kubeReserved') },
    { field: 'kubeReserved.memory', line: 1, values: { after: [null] } },
  ])
  expect(verdict.runs).not.toHaveProperty('kubeReserved')
})

it('says of the accepted files what they change', async () => {
  const kindsOf = async (name: string) => {
    const verdict = recorded.find(one => one.name === name)
    if (verdict === undefined) throw new Error(`nothing was recorded of ${name}`)
    const { problems } = await gated(gateSnapshot(), textsOf(verdict))
    return new Set(problems.filter(({ stops }) => stops).map(({ kind }) => kind))
  }
  expect(await kindsOf('a lost signal')).toContain('threshold-lost')
  expect(await kindsOf('ten bytes')).toEqual(new Set(['settings-lost', 'worse']))
})
