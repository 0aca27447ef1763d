/** The functions of a fan-out read the policy from their run's record in the bucket: it gets no more rights there than in one function. */
import { expect, it } from 'vitest'
import { policyTerms } from '#pipeline/audit/shelves.ts'
import { type FanOutContext, type FanOutRun, runPolicy } from '#pipeline/fan-out/files.ts'
import { parsePolicy } from '#policy/parse.ts'
import { parseSettings } from '#settings.ts'
import { memoryStore } from '#test/remediation-world.ts'

const policyOf = (policy: string, environment: Record<string, string> = {}) =>
  runPolicy(
    { policy } as FanOutRun,
    {
      runtime: {
        parsePolicy: (text: string, file: string) => parsePolicy(text, file, policyTerms),
      },
      store: memoryStore(),
      settings: parseSettings(environment),
    } as unknown as FanOutContext,
  )

it("shows the function's own token to no kubelet that the stack does not name", () => {
  const { modes, kubelet } = policyOf('modes: [{ mode: kubelet }]\nkubelet: { useOwnToken: true }')
  expect(kubelet.useOwnToken).toBe(false)
  expect(modes.map(({ mode }) => mode)).not.toContain('kubelet')
})

it('takes no role of another account', () => {
  const role = 'arn:aws:iam::444455556666:role/evil'
  expect(policyOf(`accounts: [{ roleArn: '${role}' }]`).accounts).not.toContainEqual(
    expect.objectContaining({ roleArn: role }),
  )
})
