import { describe, expect, it } from 'vitest'
import type { NodeRecord } from '#model/input/record.ts'
import { prune } from '#snapshot/prune.ts'

const hash = 'a'.repeat(64)

/** What is kept of a node's host; cutting it a second time has to change nothing. */
function kept(host: Record<string, unknown>): Record<string, unknown> {
  const record = {
    kind: 'Node',
    cluster: 'c',
    node: { metadata: { name: 'a' } },
    host,
  } as unknown as NodeRecord
  const once = prune(record)
  expect(prune(JSON.parse(JSON.stringify(once)))).toEqual(once)
  return once.host as Record<string, unknown>
}
const ofCommandLine = (...commandLine: string[]) =>
  (kept({ kubelet: { commandLine } }).kubelet as { commandLine: string[] }).commandLine
const ofLine = (line: string) => (kept({ logLines: [line] }).logLines as string[])[0]
const ofEnvironment = (content: string) => {
  const { files } = kept({ kubelet: { files: [{ path: '/e', role: 'environment', content }] } })
    .kubelet as { files: { content: string }[] }
  return files[0]?.content
}
const ofDirectives = (directives: unknown) =>
  (
    kept({ logrotate: [{ path: '/etc/logrotate.d/a', sha256: hash, directives }] })
      .logrotate as unknown[]
  )[0]

describe('the kubelet’s command line', () => {
  it.each([
    [['--manifest-url=https://u:hunter2@h/p?token=hunter2'], ['--manifest-url=(removed)']],
    [['--manifest_url=https://h/p?t=hunter2'], ['--manifest_url=(removed)']],
    [['--manifest-url-header=X-Auth:hunter2'], ['--manifest-url-header=(removed)']],
    [
      ['--manifest-url-header', 'Authorization:Bearer hunter2', '--v=2'],
      ['--manifest-url-header', '(removed)', '--v=2'],
    ],
    [['--http-proxy=http://u:hunter2@proxy:3128'], ['--http-proxy=http://proxy:3128']],
    [
      ['--http-proxy', 'http://u:hunt@er2@proxy'],
      ['--http-proxy', 'http://proxy'],
    ],
    [
      ['--bootstrap-token', '-hunter2', '--v=2'],
      ['--bootstrap-token', '(removed)', '--v=2'],
    ],
    [
      ['--bootstrap-token', 'hunter2', '-hunter3'],
      ['--bootstrap-token', '(removed)', '-hunter3'],
    ],
    [['--auth=hunter2'], ['--auth=(removed)']],
    [
      ['--registry-auth', 'hunter2'],
      ['--registry-auth', '(removed)'],
    ],
    [
      ['--authentication-token-webhook', '-v=2'],
      ['--authentication-token-webhook', '-v=2'],
    ],
    [
      ['--bootstrap-token', '--v=2'],
      ['--bootstrap-token', '--v=2'],
    ],
    [
      ['--pod-manifest-path=/etc/m', '--config=/c@d'],
      ['--pod-manifest-path=/etc/m', '--config=/c@d'],
    ],
    [
      ['--container-runtime-endpoint=unix:///run/c.sock'],
      ['--container-runtime-endpoint=unix:///run/c.sock'],
    ],
  ])('%j is kept as %j', (raw, expected) => {
    expect(ofCommandLine('kubelet', ...raw)).toEqual(['kubelet', ...expected])
  })

  it.each([
    [
      "KUBELET_ARGS='--manifest-url-header=Authorization:Basic hunter2 --v=2'",
      "KUBELET_ARGS='--manifest-url-header=(removed) --v=2'",
    ],
    [
      'KUBELET_ARGS=--manifest-url=https://h/p?token=hunter2 --v=2',
      'KUBELET_ARGS=--manifest-url=(removed) --v=2',
    ],
    ['KUBELET_ARGS="--auth=hunter2"', 'KUBELET_ARGS="--auth=(removed)"'],
    [
      'KUBELET_EXTRA_ARGS=--http-proxy=http://u:hunt@er2@proxy:3128',
      'KUBELET_EXTRA_ARGS=--http-proxy=http://proxy:3128',
    ],
  ])('in an environment file %s is kept as %s', (raw, expected) => {
    expect(ofEnvironment(raw)).toBe(expected)
  })

  it('gives up the address of static pods under the name that it has in a file, too', () => {
    const content = {
      staticPodURL: 'https://h/p?token=hunter2',
      containerRuntimeEndpoint: 'tcp://u:hunter2@h',
      maxPods: 5,
    }
    expect(kept({ kubelet: { files: [{ path: '/c', role: 'config', content }] } }).kubelet).toEqual(
      {
        files: [
          {
            path: '/c',
            role: 'config',
            content: { containerRuntimeEndpoint: 'tcp://h', maxPods: 5 },
          },
        ],
      },
    )
  })
})

describe('an address', () => {
  it.each([
    ['https://bob:hunter2@h/v2', 'https://h/v2'],
    ['https://bob:hun@ter2@h/v2', 'https://h/v2'],
    ['https://bob:hun/ter2@h/v2', 'https://h/v2'],
    ['https://bob:h@un/ter2@h/v2', 'https://h/v2'],
    ['https://hunter2@h', 'https://h'],
    ['https://h/v2?token=hunter2', 'https://h/v2?(removed)'],
    ['https://h/v2?X-Amz-Signature=hunter2', 'https://h/v2?(removed)'],
    ['https://h:5000/v2/app@sha256:ab', 'https://h:5000/v2/app@sha256:ab'],
    ['https://[::1]:5000/v2/app@sha256:ab', 'https://[::1]:5000/v2/app@sha256:ab'],
    ['https://h/v2', 'https://h/v2'],
  ])('%s of a mirror is kept as %s', (raw, expected) => {
    const mirrors = [{ registry: 'r', server: raw, hosts: [raw], header: 'hunter2' }]
    const clean = { registry: 'r', server: expected, hosts: [expected] }
    expect(kept({ containerd: { mirrors } }).containerd).toEqual({ mirrors: [clean] })
    const bottlerocket = { containerRegistry: { mirrors: [{ registry: 'r', endpoint: [raw] }] } }
    expect(kept({ bottlerocket }).bottlerocket).toEqual({
      containerRegistry: { mirrors: [{ registry: 'r', endpoint: [expected] }] },
    })
  })

  it('does not swallow the one after it', () => {
    expect(ofLine('http://a:hunter2@h1,http://b:hunter2@h2 x@y')).toBe('http://h1,http://h2 x@y')
  })
})

describe('a log line', () => {
  it.each([
    ['auth=Basic hunter2 x', 'auth=(removed) x'],
    ['{"auth":"hunter2","a":1}', '{"auth":(removed),"a":1}'],
    ['token abcdef.0123456789abcdef is not known', 'token (removed) is not known'],
    ['GET https://h/o?a=1&X-Amz-Signature=hunter2 403', 'GET https://h/o?(removed) 403'],
    ['pass: hunter2', 'pass: (removed)'],
    ['pwd=hunter2 user=a', 'pwd=(removed) user=a'],
    ['key -----BEGIN RSA PRIVATE KEY-----\nhunter2', 'key (removed)'],
  ])('%s is kept as %s', (raw, expected) => {
    expect(ofLine(raw)).toBe(expected)
  })

  it.each([
    'pull of docker-pullable://h/app@sha256:ab passed: 3, author=a',
    'eviction_manager.go:613] kubelet.internal attempting to reclaim',
  ])('%s is kept as it is', line => {
    expect(ofLine(line)).toBe(line)
  })
})

describe('a file of logrotate', () => {
  it.each([
    [
      '/etc/rc.local calls logrotate, for what is not known',
      '/etc/rc.local calls logrotate, for what is not known',
    ],
    ['/etc/cron.d/a: token=hunter2', '/etc/cron.d/a: token=(removed)'],
    [null, null],
    [{ a: 'hunter2' }, undefined],
  ])('may be run by what is not known: %j is kept as %j', (unsure, expected) => {
    expect(
      (kept({ logrotateRuns: { by: null, unsure } }).logrotateRuns as { unsure?: unknown }).unsure,
    ).toBe(expected)
  })

  it.each([
    ['2026-11-18T09:30:00Z', '2026-11-18T09:30:00Z'],
    [null, null],
    ['hunter2', undefined],
  ])('changed at %j keeps %j', (modifiedAt, expected) => {
    const { logrotate } = kept({ logrotate: [{ path: '/a', modifiedAt, directives: {} }] }) as {
      logrotate: { modifiedAt?: unknown }[]
    }
    expect(logrotate[0]?.modifiedAt).toBe(expected)
  })

  it('keeps what logrotate knows, and of scripts only that they are there', () => {
    const directives = {
      patterns: ['/var/log/a/*.log', '~/b'],
      daily: true,
      rotate: 5,
      maxsize: '100M',
      su: 'root adm',
      tabooext: ['.a', '.b'],
    }
    expect(ofDirectives({ ...directives, postrotate: 'curl -H token:hunter2' })).toEqual({
      path: '/etc/logrotate.d/a',
      sha256: hash,
      directives: { ...directives, postrotate: true },
    })
  })

  it.each([
    ['a link to the passwords', { 'root:$6$hunter2': true, daemon: 'hunter2' }],
    ['a kubeconfig', { 'apiVersion:': 'v1', 'token:': 'hunter2', users: ['hunter2'] }],
    ['what sets a variable', { export: 'AWS_SECRET_ACCESS_KEY=hunter2', patterns: 'hunter2' }],
  ])('that is none, but %s, leaves nothing, and no hash', (_, directives) => {
    expect(ofDirectives(directives)).toEqual({ path: '/etc/logrotate.d/a', directives: {} })
  })

  it.each([
    ['maxsize', `${'hunter2'.repeat(3)}`, '(removed)'],
    ['maxsize', '100Mi', '100Mi'],
    ['rotate', -1, -1],
    ['rotate', { a: 'hunter2' }, '(removed)'],
    ['mail', 'ops@example.com', 'ops@example.com'],
    ['compressoptions', '-9 --password=hunter2', '-9 --password=(removed)'],
    ['compressoptions', 'x'.repeat(301), '(removed)'],
    ['mail', '$6$hunter2', '(removed)'],
    ['include', 'ftp://u:hunter2@h/a', 'ftp://h/a'],
  ])('%s %j is kept as %j', (name, value, expected) => {
    expect(ofDirectives({ [name]: value })).toMatchObject({
      sha256: hash,
      directives: { [name]: expected },
    })
  })
})

it('of an insight whose text is cut before what shows the secret', () => {
  const status = "could not: printf '%s' hunter2 | docker login --username bob --password-stdin"
  const insights = [{ insightStatus: { status, reason: 'a' } }]
  expect(JSON.stringify(prune({ kind: 'Cluster', cluster: 'c', insights }))).not.toContain(
    'hunter2',
  )
})
