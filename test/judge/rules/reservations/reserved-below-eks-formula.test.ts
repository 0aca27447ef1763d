import { describe, expect, it } from 'vitest'
import { eksReservedCpuMillis, eksReservedMemoryMiB } from '#facts/eks/reserved-resources.ts'
import { reservedBelowEksFormula } from '#judge/rules/reservations/reserved-below-eks-formula.ts'
import type { NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf, state } from '#test/rule-outcome.ts'

const node = { status: { capacity: { cpu: '4' } } }

itJudgesExamples(reservedBelowEksFormula, {
  bad: { configuration: { maxPods: 110, kubeReserved: { cpu: '80m', memory: '893Mi' } }, node },
  good: { configuration: { maxPods: 58, kubeReserved: { cpu: '80m', memory: '893Mi' } }, node },
})

describe('reserved-below-eks-formula', () => {
  it.each([
    ['aws:///us-east-1a/i-0a1b', 'fail'],
    ['gce://project/zone/name', 'notApplicable'],
    ['azure:///subscriptions/1', 'notApplicable'],
  ])('of a node of %s: %s', (providerID, expected) => {
    const configuration = { maxPods: 110, kubeReserved: { cpu: '80m', memory: '893Mi' } }
    const own = { ...node, spec: { providerID } }
    expect(state(reservedBelowEksFormula, { configuration, node: own })).toBe(expected)
  })

  it('of a machine that is not of AWS: not applicable', () => {
    const configuration = { maxPods: 110, kubeReserved: { cpu: '80m', memory: '893Mi' } }
    const identity = { owner: 'self-managed' as const }
    expect(state(reservedBelowEksFormula, { configuration, node, identity })).toBe('notApplicable')
  })

  it.each([
    [1, 60],
    [2, 70],
    [4, 80],
    [5, 82],
    [8, 90],
    [16, 110],
    [32, 150],
    [48, 190],
    [64, 230],
    [96, 310],
  ])('%d cores: %d m', (cores, millis) => {
    expect(eksReservedCpuMillis(cores)).toBe(millis)
  })

  it.each([
    [17, 442],
    [29, 574],
    [58, 893],
    [110, 1465],
    [234, 2829],
    [250, 3005],
  ])('%d pods: %d Mi', (pods, mebibytes) => {
    expect(eksReservedMemoryMiB(pods)).toBe(mebibytes)
  })

  const node = { status: { capacity: { cpu: '4' } } }
  const reserved = (
    kubeReserved: Record<string, string>,
    more: NodeExample['configuration'] = {},
  ): NodeExample => ({ configuration: { maxPods: 58, kubeReserved, ...more }, node })

  it.each([
    ['the formula', reserved({ cpu: '80m', memory: '893Mi' }), 'pass'],
    ['a MiB less', reserved({ cpu: '80m', memory: '892Mi' }), 'fail'],
    ['a milli-core less', reserved({ cpu: '79m', memory: '893Mi' }), 'fail'],
    [
      'the rest for the system',
      reserved({ cpu: '40m', memory: '800Mi' }, { systemReserved: { cpu: '40m', memory: '93Mi' } }),
      'pass',
    ],
    ['whole cores', reserved({ memory: '893Mi' }, { reservedSystemCPUs: '0' }), 'pass'],
    ['fewer pods by cores', reserved({ cpu: '80m', memory: '343Mi' }, { podsPerCore: 2 }), 'pass'],
    ['no number of cores', { ...reserved({ cpu: '1', memory: '893Mi' }), node: {} }, 'unknown'],
    ['no memory at all', reserved({ cpu: '80m' }), 'notApplicable'],
  ] as const)('%s: %3$s', (_, example, expected) => {
    expect(state(reservedBelowEksFormula, example)).toBe(expected)
  })

  it('proposes what is missing, and keeps the rest', () => {
    expect(
      failingOf(reservedBelowEksFormula, reserved({ memory: '1Mi', 'ephemeral-storage': '1Gi' }))
        .fix?.config,
    ).toEqual({ kubeReserved: { cpu: '80m', memory: '893Mi', 'ephemeral-storage': '1Gi' } })
  })
})
