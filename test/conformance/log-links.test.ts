import { describe, expect, it } from 'vitest'
import {
  type ContainerGcInput,
  evictContainers,
  type RuntimeContainer,
} from '#replay/container-gc/garbage-collect.ts'
import { evictLogLinks, type LogLink } from './log-links.ts'

const container = (
  id: string,
  createdAtNs: number,
  more: Partial<RuntimeContainer> = {},
): RuntimeContainer => ({
  id,
  podUid: 'a',
  name: 'app',
  sandboxId: 'box',
  state: 'exited',
  createdAtNs: BigInt(createdAtNs),
  ...more,
})

function removedLinks(
  links: LogLink[],
  given: Partial<ContainerGcInput>,
  maxPerPodContainer: number,
): string[] {
  const input: ContainerGcInput = {
    policy: { minAgeNs: 0n, maxPerPodContainer, maxContainers: -1 },
    nowNs: 1_000_000n,
    allSourcesReady: true,
    evictNonDeletedPods: false,
    podState: () => 'running',
    containers: [],
    sandboxes: [],
    podLogDirs: [],
    ...given,
  }
  return evictLogLinks(input, evictContainers(input), links)
}

describe('log links', () => {
  const link = (id: string, isDangling = true) => ({
    path: `/var/log/containers/pod_ns_app-${id}.log`,
    isDangling,
  })
  const of = (links: ReturnType<typeof link>[], containers: RuntimeContainer[] = []) => {
    return removedLinks(links, { containers, allSourcesReady: false }, 5)
  }

  it.each([
    { what: 'that leads somewhere', links: [link('aaaaaa', false)], isRemoved: false },
    { what: 'to an unknown container', links: [link('aaaaaa')], isRemoved: true },
    { what: 'with an id that is too short to ask for', links: [link('aaaaa')], isRemoved: true },
    {
      what: 'with no name of a log',
      links: [{ path: '/var/log/containers/aaaaaa.txt', isDangling: true }],
      isRemoved: true,
    },
    { what: 'to a dead container', links: [link('exited')], isRemoved: true },
    { what: 'to a running one, between two logs', links: [link('running')], isRemoved: false },
    { what: 'to one that has not run', links: [link('created')], isRemoved: false },
    { what: 'of unknown state', links: [link('unknown')], isRemoved: false },
  ])('one $what is removed: $isRemoved', ({ links, isRemoved }) => {
    const states = ['exited', 'running', 'created', 'unknown'] as const
    const containers = states.map(state => container(state, 1, { state }))
    expect(of(links, containers)).toEqual(isRemoved ? links.map(({ path }) => path) : [])
  })

  it('goes with its container, even where the runtime then fails to remove it', () => {
    const containers = [
      container('1', 1),
      container('exited', 1),
      container('stopped', 1, { state: 'unknown' as const }),
    ]
    const links = [link('exited', false), link('stopped', false)]
    expect(removedLinks(links, { containers }, 0)).toHaveLength(2)
    const failures = { removeContainer: ['exited'], stopContainer: ['stopped'] }
    expect(removedLinks(links, { containers, failures }, 0)).toEqual([links[0]?.path])
  })

  it('leads nowhere once its container is removed', () => {
    const containers = [container('abcdef', 1)]
    const podState = () => 'deleted' as const
    expect(removedLinks([link('abcdef')], { containers, podState }, 1)).toHaveLength(1)
  })
})
