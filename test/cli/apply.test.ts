import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { pausingSignals } from '#cli/signals.ts'
import { remediationExitCode } from '#cli/terminal.ts'
import { folderStore } from '#clients/store/folder-store.ts'
import { defaultKeyFile, fileMacKey } from '#clients/store/key-file.ts'
import type { Approval } from '#model/plan.ts'
import { planText, sealedApproval } from '#remediate/plan/file.ts'
import { sealedStore } from '#remediate/seal.ts'
import { temporaryFolder } from '#test/cli.ts'
import { inProcess } from '#test/in-process.ts'
import { approvalOf, type Nature, planOf, pruningPlanOf, World } from '#test/remediation-world.ts'
import { fasterClock } from '#test/virtual-time.ts'

vi.setConfig({ testTimeout: 60_000 })

const hourMs = 3_600_000
const from = (delayMs: number) => new Date(Date.now() + delayMs).toISOString()

/** A plan, an approval and a store as files; nothing here reaches AWS. */
async function files(
  natures: Readonly<Record<number, Nature>> = {},
  changed: Partial<Approval> = {},
  plan = planOf([1, 2]),
) {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder, name)
  const world = new World(plan, natures)
  const approval = approvalOf(world.plan, { at: from(-hourMs), until: from(hourMs), ...changed })
  writeFileSync(at('plan.json'), planText(world.plan))
  const key = fileMacKey(defaultKeyFile())
  const store = sealedStore(folderStore(at('store')), key)
  writeFileSync(at('approval.json'), await sealedApproval(approval, key))
  writeFileSync(at('highwater.yaml'), '{}')
  const shared = ['--store', at('store'), '--policy', at('highwater.yaml')]
  return {
    plan: world.plan,
    at,
    world,
    store,
    /** As another process would have done it. */
    applied: () =>
      world.apply({ store, policy: { pauseMs: 0 }, effects: { clock: fasterClock(20) }, approval }),
    apply: (...args: string[]) =>
      inProcess(['apply', at('plan.json'), '--approval', at('approval.json'), ...shared, ...args]),
    rollback: (run: string, ...args: string[]) => inProcess(['rollback', run, ...shared, ...args]),
  }
}

describe('highwater apply', () => {
  it.each<[string, Partial<Approval>, RegExp]>([
    [
      'an approval that has expired',
      { until: from(-1) },
      /expired at .*: read the plan again and approve it anew/,
    ],
    ['the approval of another plan', { plan: 'f'.repeat(64) }, /The approval is for another plan/],
    [
      'an approval that does not hold yet',
      { at: from(hourMs), until: from(2 * hourMs) },
      /holds from/,
    ],
  ])('refuses %s', async (_, changed, message) => {
    const { apply } = await files({}, changed)
    expect(await apply()).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })

  it('refuses a plan that was changed after approval, before any request', async () => {
    const { at, apply } = await files()
    writeFileSync(at('plan.json'), readFileSync(at('plan.json'), 'utf8').replaceAll('69}', '68}'))
    expect(await apply()).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/not have its newSha256/),
    })
  })

  it.each([
    ['http://bucket/prefix', /is no store: write s3:\/\/bucket\/prefix, or a folder/],
    ['s3://Bucket_Of_Mine', /is no store/],
  ])('knows no store %s', async (store, message) => {
    const { apply } = await files()
    expect(await apply('--store', store)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(message),
    })
  })

  it('says what came of a plan that was applied, and sends nothing', async () => {
    const { world, plan, applied, apply } = await files()
    await applied()
    const commands = world.commands.length
    const { code, stdout, stderr } = await apply()
    expect([code, world.commands.length]).toEqual([0, commands])
    expect(stdout).toContain(
      `Run ${plan.id}: done\n3 nodes planned: 3 verified. Approved by Ada Lovelace\n(arn:aws:iam::111122223333:user/ada).`,
    )
    expect(stdout).toContain(`back: highwater rollback ${plan.id} --store`)
    expect(stderr).toMatch(/use --store s3:\/\/bucket\/prefix\./)
    expect(JSON.parse((await apply('--format', 'json')).stdout)).toMatchObject({
      schema: 'highwater.remediation/1',
      state: 'done',
    })
  })

  it('prints which nodes were rolled back, and why, and ends with 1', async () => {
    const { applied, apply } = await files({ 2: 'puts back' })
    await applied()
    const { code, stdout } = await apply()
    expect(code).toBe(1)
    const text = stdout.replace(/\s+/g, ' ')
    expect(text).toContain(
      'stopped: 1 of its nodes failed, where 0 may: prod/ip-10-0-0-2.ec2.internal: the kubelet does not stay',
    )
    expect(text).toContain('1 verified, 1 restored, 1 rolled-back.')
    expect(text).toContain('Put back by the node itself 1 node: the kubelet does not stay')
    expect(text).toContain('(prod/ip-10-0-0-3.ec2.internal)')
    expect(text).toContain('seen: 1 node read anew')
  })

  it('prints what pruning has freed, and ends with 0', async () => {
    const { world, store, apply } = await files({}, {}, pruningPlanOf([1]))
    await world.apply({ policy: { pauseMs: 0 } })
    for await (const key of world.store.list(''))
      await store.write(key, (await world.store.read(key))!.body, 'application/json')
    const { code, stdout } = await apply()
    expect([code, world.node(1).swaps]).toEqual([0, 2])
    const text = stdout.replace(/\s+/g, ' ')
    expect(text).toContain('1 node planned: 1 pruned.')
    expect(text).toContain(
      'Pruned, and as before again 1 node: freed 30.0 GiB: the image filesystem is at 60 %',
    )
  })

  it('requires an option to continue an unfinished run', async () => {
    const { world, applied, apply, plan } = await files()
    world.reasons = ['EKS is changing the cluster: it is UPDATING']
    await applied()
    expect(await apply()).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        new RegExp(
          `Run ${plan.id} was begun at .*: --resume goes on with it, highwater rollback ${plan.id}`,
        ),
      ),
    })
  })
})

describe('highwater rollback', () => {
  it.each([
    ['0123456789abcdef', /has no run 0123456789abcdef/],
    ['../../etc/passwd', /is no run: a run is called by 16 hexadecimal characters/],
  ])('knows no run %s', async (run, message) => {
    expect(await (await files()).rollback(run)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    })
  })

  it('requests nothing if the run has no steps left, and ends with 0', async () => {
    const { world, plan, applied, rollback } = await files({ 1: 'puts back' })
    await applied()
    const commands = world.commands.length
    const { code, stdout } = await rollback(plan.id)
    expect([code, world.commands.length]).toEqual([0, commands])
    expect(stdout).toContain(`Run ${plan.id}: rolled-back: as asked for`)
    expect(stdout).toContain('3 nodes planned: 1 restored, 2 skipped.')
  })
})

describe('the exit code of a rollback', () => {
  it.each([
    [true, 0],
    [undefined, 0],
    [false, 3],
  ])('where seen is %s is %i', async (seenBack, code) => {
    const world = new World(planOf([1]))
    await world.apply()
    const run = await world.rollBack()
    const { seenBack: _seen, ...step } = run.steps[0]!
    expect(
      remediationExitCode(
        { ...run, steps: [{ ...step, ...(seenBack !== undefined && { seenBack }) }] },
        'rolled-back',
      ),
    ).toBe(code)
  })
})

describe('Ctrl-C', () => {
  it('first pauses, then waits for nothing, then leaves at once; two at the same moment count as one', () => {
    const before = process.listenerCount('SIGTERM')
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => said.mockRestore())
    let nowMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    onTestFinished(() => clock.mockRestore())
    const left = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
    onTestFinished(() => left.mockRestore())
    const { stop, end, close } = pausingSignals(undefined)
    process.emit('SIGTERM')
    process.emit('SIGTERM')
    expect([stop.aborted, end.aborted]).toEqual([true, false])
    expect(said).toHaveBeenCalledWith(expect.stringContaining('Pausing: nothing more is'))
    nowMs += 1000
    process.emit('SIGTERM')
    expect([end.aborted, left.mock.calls]).toEqual([true, []])
    nowMs += 1000
    process.emit('SIGTERM')
    expect(left.mock.calls).toEqual([[143]])
    close()
    expect(process.listenerCount('SIGTERM')).toBe(before)
  })
})
