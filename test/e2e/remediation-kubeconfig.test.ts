/** The same change through a kubeconfig: EKS is asked for the cluster behind it, and one cluster under two names has one lease. */
import '#test/short-waits.ts'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { RemediationRun } from '#model/plan.ts'
import { inProcess } from '#test/in-process.ts'
import { RemediationLab } from '#test/remediation-lab.ts'

it('plans and applies by its context, with the lease that its name in EKS has', {
  timeout: 300_000,
}, async () => {
  const fleet = await RemediationLab.start({ nodes: 2 }, {}, args => inProcess(args))
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await fleet.close()
  })
  for (const [name, value] of Object.entries(fleet.lab.environment)) vi.stubEnv(name, value)
  const kubeconfig = fleet.at('kubeconfig')
  const config = JSON.parse(fleet.lab.kubeconfig) as { contexts: { name: string }[] }
  for (const context of config.contexts) context.name = `${context.name}-by-context`
  writeFileSync(kubeconfig, JSON.stringify(config))
  const reach = ['--kubeconfig', kubeconfig, '--context', 'shop-by-context']
  const { plan } = await fleet.plan('plan', ...reach)
  expect(plan.steps.map(({ cluster }) => cluster)).toEqual(['shop-by-context'])
  await fleet.approve(plan)
  const measurements = () =>
    fleet.lab.commands().filter(({ document }) => document === 'Highwater-InspectDisks').length
  const measured = measurements()
  expect(measured).toBeGreaterThan(0)
  const applied = await fleet.apply('plan', ...reach)
  expect(applied).toMatchObject({ code: 0 })
  // A plan that runs reads settings and health only.
  expect(measurements()).toBe(measured)
  const run = JSON.parse(applied.stdout) as RemediationRun
  expect(run.steps.map(({ state }) => state)).toEqual(['verified'])
  // EKS knew it by its address, so nothing is left to be said.
  expect(run.unasked).toBeUndefined()

  const byName = await fleet.plan(
    'other',
    '--cluster',
    'shop',
    '--set',
    'imageGCHighThresholdPercent=72',
  )
  await fleet.approve(byName.plan, 'other')
  const again = JSON.parse((await fleet.apply('other')).stdout) as RemediationRun
  expect(again.clusters?.shop).toBe(run.clusters?.['shop-by-context'])
  const leases = join(fleet.at('store'), 'remediation', 'leases')
  expect(readdirSync(leases)).toEqual([`${run.clusters?.['shop-by-context']}.json`])
  expect(
    JSON.parse(readFileSync(join(leases, readdirSync(leases)[0] ?? ''), 'utf8')),
  ).toMatchObject({ holder: null, cluster: 'shop' })
})
