import { describe, expect, it } from 'vitest'
import { foreignCleaner } from '#judge/rules/image-gc/foreign-cleaner.ts'
import { outcomeOf } from '#judge/run/outcome.ts'
import { type ReadMode, readModes } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { exampleSubject, type NodeExample } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'

const examplePod = (image: string, path?: string): NodeExample => ({
  pods: [
    {
      metadata: { namespace: 'ops', name: 'nightly' },
      spec: {
        containers: [{ name: 'main', image }],
        volumes: path === undefined ? [] : [{ name: 'socket', hostPath: { path } }],
      },
    },
  ],
})

itJudgesExamples(foreignCleaner, {
  bad: examplePod('ghcr.io/eraser-dev/remover:v1.4.1'),
  good: examplePod('ghcr.io/shop/web:1', '/run/containerd/containerd.sock'),
})

const pod = (
  name: string,
  image: string,
  path: string | null,
  phase = 'Running',
  job?: string,
) => ({
  pods: [
    {
      metadata: {
        ...{ namespace: 'ops', name },
        ...(job && { ownerReferences: [{ kind: 'Job', name: job, controller: true }] }),
      },
      spec: {
        containers: [{ name: 'main', image }],
        volumes: path === null ? [] : [{ name: 'socket', hostPath: { path } }],
      },
      status: { phase },
    },
  ],
})

const socket = '/run/containerd/containerd.sock'

describe('foreign-cleaner', () => {
  it.each([
    { ...pod('a', 'mcr.microsoft.com/oss/eraser/remover:v1', null), is: 'fail' },
    { ...pod('a', 'spotify/docker-gc', null), is: 'fail' },
    { ...pod('a', 'spotify/docker-gc', null, 'Succeeded'), is: 'pass' },
    { ...pod('a', 'ghcr.io/shop/remover:v1', null), is: 'pass' },
    { ...pod('node-image-prune-x7', 'alpine:3', socket), is: 'fail' },
    { ...pod('node-image-prune-x7', 'alpine:3', null), is: 'pass' },
    { ...pod('node-image-prune-x7', 'alpine:3', '/var/log'), is: 'pass' },
    { ...pod('node-image-prune-x7', 'alpine:3', '/run/containerd'), is: 'fail' },
    { ...pod('node-image-prune-x7', 'alpine:3', '/'), is: 'fail' },
    { ...pod('log-cleaner-x7', 'alpine:3', '/'), is: 'pass' },
    { ...pod('prune-29384710-x7', 'alpine:3', socket, 'Succeeded', 'prune-29384710'), is: 'fail' },
    { ...pod('prune-once-x7', 'alpine:3', socket, 'Succeeded', 'prune-once'), is: 'pass' },
    { ...pod('web-29384710-x7', 'alpine:3', socket, 'Succeeded', 'web-29384710'), is: 'pass' },
    { ...pod('falco-4k2', 'falcosecurity/falco:0.40', socket), is: 'pass' },
  ])('of $pods.0.metadata.name with $pods.0.spec.containers.0.image: $is', ({ pods, is }) => {
    expect(outcomeOf(foreignCleaner, exampleSubject({ pods }), defaultPolicy).state).toBe(is)
  })

  it.each([
    { command: 'crictl rmi --prune', is: 'fail' },
    { command: 'docker system prune -af', is: 'fail' },
    { command: 'nerdctl --namespace k8s.io image prune --all', is: 'fail' },
    { command: 'ctr -n k8s.io images rm web:1', is: 'fail' },
    { command: 'crictl rmi --prune"', is: 'fail' },
    { command: 'docker rm old', is: 'pass' },
    { command: 'docker volume prune -f', is: 'pass' },
    { command: 'ctr containers rm 1', is: 'pass' },
  ])('of a job with $command: $is', ({ command, is }) => {
    const host = { cleaners: [{ path: '/etc/cron.d/clean', command }] }
    expect(outcomeOf(foreignCleaner, exampleSubject({ host }), defaultPolicy).state).toBe(is)
  })

  it('of unread pods is unknown, unless a job of the host deletes images', () => {
    const host = { cleaners: [{ path: '/etc/cron.d/clean', command: 'crictl rmi --prune' }] }
    const stateOf = (example: NodeExample) =>
      outcomeOf(foreignCleaner, exampleSubject({ ...example, pods: null }), defaultPolicy).state
    expect([stateOf({}), stateOf({ host })]).toEqual(['unknown', 'fail'])
  })

  it('of an unread host is unknown, if its mode reads hosts', () => {
    const stateOf = (mode: ReadMode, host: object | null) => {
      const subject = { ...exampleSubject({ host: {} }), mode, host }
      return outcomeOf(foreignCleaner, subject, defaultPolicy).state
    }
    expect(readModes.map(mode => stateOf(mode, null))).toEqual([
      ...['pass', 'unknown', 'unknown', 'pass'],
    ])
    expect(readModes.map(mode => stateOf(mode, {}))).toEqual(Array(4).fill('pass'))
  })
})
