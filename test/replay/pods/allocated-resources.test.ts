import { describe, expect, it } from 'vitest'
import { usesAllocatedResources, withAllocatedResources } from '#replay/prepare.ts'
import { kubeletOf } from '#replay/times.ts'

const requests = (memory: string) => ({ requests: { memory, 'ephemeral-storage': '1Gi' } })
const podOf = (status: object) => ({
  spec: { containers: [{ name: 'web', resources: requests('1Gi') }] },
  status: { containerStatuses: [{ name: 'web', ...status }] },
})
const requested = (status: object) =>
  withAllocatedResources(podOf(status)).spec?.containers?.[0]?.resources?.requests

describe('resources of a pod that is being resized', () => {
  it.each([
    ['of the status', { resources: { requests: { memory: '2Gi' } } }, '2Gi'],
    ['allocated', { resources: requests('3Gi'), allocatedResources: { memory: '2Gi' } }, '2Gi'],
    ['of the manifest without any', {}, '1Gi'],
  ])('are those %s', (_, status, memory) => {
    expect(requested(status)).toEqual({ memory, 'ephemeral-storage': '1Gi' })
  })

  it('change nothing that cannot be resized', () => {
    const status = { resources: { requests: { 'ephemeral-storage': '9Gi' } } }
    expect(requested(status)).toEqual(requests('1Gi').requests)
  })

  it('count from 1.33 on, and in 1.32 with the gate', () => {
    const uses = (version: string, isOn?: boolean) =>
      usesAllocatedResources(
        kubeletOf(version, isOn === undefined ? null : { InPlacePodVerticalScaling: isOn }),
      )
    expect(['v1.31.14', 'v1.32.13', 'v1.33.13', 'v1.36.3'].map(one => uses(one))).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect([uses('v1.31.14', true), uses('v1.32.13', true), uses('v1.33.13', false)]).toEqual([
      false,
      true,
      false,
    ])
  })
})
