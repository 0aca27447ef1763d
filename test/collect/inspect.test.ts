import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type InspectAnswer, readAnswer, whyOtherNode } from '#collect/inspect/answer.ts'

const instance = 'i-0123456789abcdef0'
const document = {
  schema: 'highwater.inspect/1',
  instanceId: instance,
  nodeName: 'ip-10-0-0-1',
  at: '2026-11-21T10:00:00Z',
  host: {
    schema: 'highwater.host/1',
    kubelet: {
      startedAt: '2026-11-20T10:00:00Z',
      commandLine: ['kubelet', '--v=2'],
      files: [
        {
          path: '/etc/kubernetes/kubelet/config.json',
          role: 'config',
          sha256: 'a'.repeat(64),
          content: { maxPods: 58 },
        },
      ],
    },
    kernel: { release: '6.1.158', cgroupVersion: 2 },
    logLines: ['a line'],
    unread: [{ what: 'logs', why: 'no time was left' }],
  },
  runtime: {
    images: [{ id: 'sha256:a', repoTags: ['a:1'], size: '100', pinned: true }],
    containers: [],
  },
  configz: {
    kubeletconfig: {
      maxPods: 58,
      evictionPressureTransitionPeriod: '5m0s',
      imageMinimumGCAge: '2m0s',
      nodeStatusUpdateFrequency: '10s',
    },
  },
}
type Document = typeof document
const text = (value: unknown) => `${JSON.stringify(value)}\n`
const withHost = (changed: Record<string, unknown>) =>
  text({ ...document, host: { ...document.host, ...changed } })

function packed(value: string, changed: Record<string, unknown> = {}) {
  const bytes = Buffer.from(value)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return text({
    schema: document.schema,
    encoding: 'gzip+base64',
    bytes: bytes.length,
    sha256,
    data: gzipSync(bytes).toString('base64'),
    ...changed,
  })
}

function known(output: string): InspectAnswer {
  const answer = readAnswer(output, instance)
  if (!answer.isKnown) throw new Error(answer.reason)
  return answer
}
function reasonOf(output: string, asked = instance): string {
  const answer = readAnswer(output, asked)
  if (answer.isKnown) throw new Error('it is known')
  return answer.reason.replace('what the inspect script printed cannot be used: ', '')
}
const unread = (answer: InspectAnswer) =>
  (answer.host.unread as Document['host']['unread']).map(({ what, why }) => `${what}: ${why}`)

describe('an answer', () => {
  it.each<[string, string, string[], boolean]>([
    ['ip-10-0-0-1', 'ip-10-0-0-1', [], false],
    ['', 'ip-10-0-0-1', [], false],
    ['IP-10-0-0-1', 'ip-10-0-0-1.ec2.internal', [], false],
    ['ip-10-0-0-1.ec2.internal', 'ip-10-0-0-1', [], false],
    ['ip-10-0-0-2', 'ip-10-0-0-1', [], true],
    ['ip-10-0-0-1', 'ip-10-0-0-10', [], true],
    ['web', 'ip-10-0-0-1', ['kubelet', '--cloud-provider=aws'], false],
    ['web', 'ip-10-0-0-1', ['kubelet', '--cloud-provider=aws', '--hostname-override=web'], true],
    ['web', 'ip-10-0-0-1', ['kubelet', '--cloud-provider=external'], true],
  ])('of %j says nothing of %j (%j): %s', (nodeName, node, commandLine, isOther) => {
    const answer = known(
      text({
        ...document,
        nodeName,
        host: { ...document.host, kubelet: { files: [], commandLine } },
      }),
    )
    expect(whyOtherNode(answer, node)).toEqual(
      isOther ? expect.stringContaining(`"${nodeName}", not ${node}`) : null,
    )
  })

  it('is read whole, plain or packed', () => {
    const expected = {
      isKnown: true,
      instanceId: instance,
      nodeName: 'ip-10-0-0-1',
      at: document.at,
      host: document.host,
      runtime: document.runtime,
      configz: document.configz,
    }
    expect(readAnswer(text(document), instance)).toEqual(expected)
    expect(readAnswer(packed(text(document)), instance)).toEqual(expected)
  })

  it.each([
    ['ip-10-0-0-1', true],
    ['ip-10-0-0-2.ec2.internal', false],
  ])('is that of the node %s: %j', (node, isKnown) => {
    const answer = readAnswer(text(document), instance, node)
    expect(answer).toMatchObject(
      isKnown
        ? { isKnown }
        : { reason: expect.stringContaining('node "ip-10-0-0-1", not ip-10-0-0-2') },
    )
    expect(readAnswer(text({ ...document, nodeName: '' }), instance, node)).toMatchObject({
      isKnown: true,
    })
  })

  it('keeps nothing that was not requested', () => {
    const runtime = {
      images: [{ id: 'a', spec: { annotations: { a: 'hunter2' } } }],
      info: 'hunter2',
    }
    const answer = known(
      text({
        ...document,
        env: 'hunter2',
        runtime,
        host: { ...document.host, anything: 'hunter2' },
      }),
    )
    expect(JSON.stringify(answer)).not.toContain('hunter2')
  })

  it('has no time and no runtime where the node printed none', () => {
    expect(known(text({ ...document, at: null, runtime: null, configz: undefined }))).toMatchObject(
      { at: null, runtime: null, configz: null },
    )
    expect(known(text({ ...document, at: 'yesterday', runtime: {} }))).toMatchObject({
      at: null,
      runtime: null,
    })
  })

  it('takes YAML as the kubelet does', () => {
    const files = (content: string) => [{ path: '/c', role: 'config', content }]
    const contentOf = (content: string) => {
      const answer = known(withHost({ kubelet: { files: files(content) } }))
      return {
        content: (answer.host.kubelet as { files: { content: unknown }[] }).files[0]?.content,
        unread: unread(answer).slice(1),
      }
    }
    expect(
      contentOf('maxPods: 58\nserializeImagePulls: no\nevictionHard:\n  nodefs.available: 10%\n'),
    ).toEqual({
      content: {
        maxPods: 58,
        serializeImagePulls: false,
        evictionHard: { 'nodefs.available': '10%' },
      },
      unread: [],
    })
    expect(contentOf('maxPods: 1\nmaxPods: 2')).toMatchSnapshot()
    expect(contentOf('- a')).toMatchSnapshot()
    expect(contentOf('a: &a [1,1]\nb: *a')).toMatchSnapshot()
  })

  it('spends one budget on all files of a node', () => {
    const files = Array.from({ length: 195 }, (_, index) => ({
      path: `/etc/kubernetes/kubelet/config.json.d/${index}.conf`,
      role: 'drop-in',
      content: index === 0 ? '}'.repeat(65_000) : 'a: [b]\n'.repeat(9_000),
    }))
    const before = process.cpuUsage()
    const answer = readAnswer(withHost({ kubelet: { files } }), instance)
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10)
    expect(answer).toMatchObject({ isKnown: true })
    const reasons = 'host' in answer ? JSON.stringify(answer.host.unread) : ''
    expect(reasons).toContain('it is no YAML')
    expect(reasons).toContain('it has more values than are read')
  })

  it('does not unpack 8 MB of files from an answer of 21,000 characters', () => {
    const files = Array.from({ length: 123 }, (_, index) => ({
      path: `/etc/kubernetes/kubelet/config.json.d/${index}.conf`,
      role: 'drop-in',
      content: '}'.repeat(65_000),
    }))
    expect(readAnswer(packed(withHost({ kubelet: { files } })), instance)).toMatchObject({
      isKnown: false,
      reason: expect.stringContaining('more than 100 times as long as its gzip'),
    })
  })

  it.each([
    ['CRLF', 'maxPods: 29\r\ncontainerLogMaxFiles: 5\r\n'],
    [
      'CRLF but for the last, as a script that cuts the end of a text leaves it',
      'maxPods: 29\r\ncontainerLogMaxFiles: 5\r',
    ],
    ['CR', 'maxPods: 29\rcontainerLogMaxFiles: 5'],
    ['CRLF after a byte order mark', '\uFEFFmaxPods: 29\r\ncontainerLogMaxFiles: 5\r'],
  ])('takes lines that end with %s as the kubelet does', (_, content) => {
    const files = [{ path: '/etc/a.conf', role: 'drop-in', content }]
    const { host } = known(withHost({ kubelet: { files } }))
    expect(host.kubelet).toEqual({
      files: [{ ...files[0], content: { maxPods: 29, containerLogMaxFiles: 5 } }],
    })
  })

  it.each(['\u0085', '\u2028', '\u2029'])(
    'says that it does not read a file with the end of line %j',
    end => {
      const answer = known(
        withHost({
          kubelet: {
            files: [{ path: '/etc/a.conf', role: 'drop-in', content: `maxPods: 29${end}a: 1` }],
          },
        }),
      )
      expect(answer.host.kubelet).toMatchObject({ files: [{ content: null }] })
      expect(unread(answer)).toContainEqual(expect.stringContaining('beyond CR and LF'))
    },
  )

  it('keeps the settings of Bottlerocket that the node has', () => {
    const kubernetes = { 'eviction-hard': { 'memory.available': '200Mi' }, 'max-pods': 29 }
    expect(known(withHost({ bottlerocket: { kubernetes } })).host).toMatchObject({
      bottlerocket: { kubernetes },
    })
  })

  it('has the mirrors of Bottlerocket’s settings, in both forms that they had', () => {
    const mirrorsOf = (mirrors: unknown) =>
      (
        known(withHost({ bottlerocket: { containerRegistry: { mirrors } } })).host.containerd as {
          mirrors: unknown
        }
      ).mirrors
    const expected = [{ registry: 'docker.io', hosts: ['https://mirror.example.com'] }]
    expect(
      mirrorsOf([{ registry: 'docker.io', endpoint: ['https://mirror.example.com'] }]),
    ).toEqual(expected)
    expect(mirrorsOf({ 'docker.io': ['https://mirror.example.com'] })).toEqual(expected)
  })
})

describe('a part that is malformed', () => {
  it.each([
    ['kubelet', { files: [{ path: '/c', role: 'secret', content: null }] }, 'files.0.role'],
    ['kernel', { release: '6.1', cgroupVersion: 3 }, 'cgroupVersion'],
    [
      'filesystems',
      [{ role: 'nodefs', device: 'd', mount: '/', capacityBytes: -1, availableBytes: 0 }],
      '0.capacityBytes',
    ],
    ['logLines', Array.from({ length: 41 }, () => 'x'), 'it'],
    ['logLines', ['x'.repeat(10_000_000)], '0'],
    ['podLogDirectories', [{}], '0'],
    ['unread', 'none', 'it'],
  ])('host.%s is dropped whole and named (%#)', (name, value, where) => {
    const answer = known(withHost({ [name]: value }))
    expect(answer.host[name]).toEqual(name === 'unread' ? expect.any(Array) : undefined)
    expect(unread(answer)).toContain(
      `host.${name}: not of the form that the script prints ("${where}"), so all of it was dropped`,
    )
  })

  it('of the runtime, or a configz that is none, likewise', () => {
    const answer = known(
      text({
        ...document,
        runtime: { images: [{ id: 'a' }, { id: 1 }], containers: [] },
        configz: { kubeletconfig: { maxPods: 'many' } },
      }),
    )
    expect(answer).toMatchObject({ runtime: { containers: [] }, configz: null })
    expect(answer.runtime).not.toHaveProperty('images')
    expect(unread(answer).slice(1)).toMatchSnapshot()
    expect(unread(known(text({ ...document, runtime: [] })))).toContainEqual(
      expect.stringContaining('script prints ("no object")'),
    )
  })
})

describe('a number that cannot be', () => {
  const disk = {
    role: 'nodefs',
    device: '/dev/a',
    mount: '/',
    capacityBytes: 100,
    availableBytes: 40,
    inodes: 10,
    inodesFree: 5,
  }
  it.each([
    ['filesystems', [{ ...disk, capacityBytes: 0, availableBytes: 0 }], '0.capacityBytes'],
    ['filesystems', [{ ...disk, availableBytes: -5 }], '0.availableBytes'],
    ['filesystems', [{ ...disk, availableBytes: 101 }], '0.availableBytes'],
    ['filesystems', [{ ...disk, inodesFree: 11 }], '0.inodesFree'],
    ['filesystems', [disk, { ...disk, mount: '/data' }], 'it'],
    ['kernel', { memoryCgroups: 2 ** 53 - 1 }, 'memoryCgroups'],
    ['kernel', { dyingMemoryCgroups: 2 ** 40 }, 'dyingMemoryCgroups'],
    ['kubelet', { startedAt: '2026-99-99T00:00:00Z', files: [] }, 'startedAt'],
    ['kubelet', { startedAt: '2026-02-30T00:00:00Z', files: [] }, 'startedAt'],
  ])('costs host.%s, which is named (%#)', (name, value, where) => {
    const answer = known(withHost({ [name]: value }))
    expect(answer.host).not.toHaveProperty(name)
    expect(unread(answer)).toContain(
      `host.${name}: not of the form that the script prints ("${where}"), so all of it was dropped`,
    )
  })

  it.each([
    [{ ...disk, availableBytes: 100, inodesFree: 10 }],
    [{ ...disk, availableBytes: 0, inodesFree: 0 }],
    [{ ...disk, inodes: 0, inodesFree: 0 }],
  ])('is none at its limits: %j', full => {
    expect(known(withHost({ filesystems: [full] })).host.filesystems).toEqual([full])
  })

  it.each([
    ['2026-11-21T10:05:00Z', document.at, null],
    [
      '2026-11-21T10:05:01Z',
      document.at,
      "the kubelet's start: 2026-11-21T10:05:01Z is after 2026-11-21T10:00:00Z, the time of the node's answer",
    ],
    [
      '2999-01-01T00:00:00Z',
      document.at,
      "the kubelet's start: 2999-01-01T00:00:00Z is after 2026-11-21T10:00:00Z, the time of the node's answer",
    ],
    [
      '2026-11-20T10:00:00Z',
      '2026-13-01T00:00:00Z',
      "the kubelet's start: the node reported no time of its own to compare it with",
    ],
  ])('a start of the kubelet at %s, read at %s: %j', (startedAt, at, why) => {
    const { files } = document.host.kubelet
    const answer = known(
      text({ ...document, at, host: { ...document.host, kubelet: { startedAt, files } } }),
    )
    expect(answer.host.kubelet).toEqual(why === null ? { startedAt, files } : { files })
    expect(unread(answer).slice(1)).toEqual(why === null ? [] : [why])
  })
})

describe('a running configuration', () => {
  const { evictionPressureTransitionPeriod, ...cut } = document.configz.kubeletconfig
  it.each([
    [
      'empty',
      {},
      expect.stringContaining('no kubelet printed this: evictionPressureTransitionPeriod, '),
    ],
    [
      'of fields that no kubelet knows',
      { hello: 1 },
      expect.stringContaining('imageMinimumGCAge, nodeStatusUpdateFrequency are missing'),
    ],
    [
      'cut',
      cut,
      'no kubelet printed this: evictionPressureTransitionPeriod is missing, which every one prints',
    ],
  ])('that is %s is not believed', (_, kubeletconfig, reason) => {
    const answer = known(text({ ...document, configz: { kubeletconfig } }))
    expect(answer.configz).toBeNull()
    const [, why] = unread(answer).at(-1)?.split('the running configuration: configz: ') ?? []
    expect(why).toEqual(reason)
  })
})

describe('what is no answer', () => {
  const nested = (depth: number) =>
    `{"schema":"highwater.inspect/1","host":${'['.repeat(depth)}${']'.repeat(depth)}}`
  it.each([
    ['nothing', '', 'it is empty'],
    ['words', 'sh: crictl: not found', 'it is no JSON'],
    ['binary garbage', Buffer.from([0x1f, 0x8b, 0, 255, 254]).toString('latin1'), 'it is no JSON'],
    [
      'one cut off in the middle',
      text(document).slice(0, 300),
      'it breaks off or is damaged within its 300 characters',
    ],
    [
      'a packed one cut off',
      packed(text(document)).slice(0, 200),
      'it breaks off or is damaged within its 200 characters',
    ],
    ['two', text(document) + text(document), expect.stringContaining('breaks off or is damaged')],
    ['a list', '[1]', 'it is no JSON object'],
    [
      'another version',
      text({ ...document, schema: 'highwater.inspect/2' }),
      'it is of schema "highwater.inspect/2"; this version reads highwater.inspect/1',
    ],
    [
      'another version of the host',
      withHost({ schema: 'highwater.host/2' }),
      'its host is of schema "highwater.host/2"; this version reads highwater.host/1',
    ],
    ['one without host', text({ ...document, host: null }), 'it has no "host"'],
    [
      'another node’s',
      text({ ...document, instanceId: 'i-0fedcba9876543210' }),
      `it comes from "i-0fedcba9876543210", not from ${instance}`,
    ],
    [
      'nobody’s',
      text({ ...document, instanceId: undefined }),
      `it comes from none, not from ${instance}`,
    ],
    [
      'a key twice',
      text(document).replace('"nodeName"', '"a\\u0074":"x","nodeName"'),
      'the key "at" stands twice in one object',
    ],
    [
      'a key twice, deep',
      text(document).replace('"release"', '"release":"5","release"'),
      'the key "release" stands twice in one object',
    ],
    ['a bottomless one', nested(100_000), 'it is nested deeper than 64'],
    ['40 MB', `"${'x'.repeat(40_000_000)}"`, 'it has 40000002 characters: no answer is that long'],
  ])('%s is not known', (_, output, reason) => {
    expect(reasonOf(output)).toEqual(reason)
  })

  const whole = text(document)
  const bomb = Buffer.alloc(64 * 1024 * 1024, 'x')
  it.each([
    ['another encoding', packed(whole, { encoding: 'zstd' }), 'its encoding "zstd" is not known'],
    ['no base64', packed(whole, { data: 'a*b=' }), 'its data is no base64'],
    ['no data', packed(whole, { data: undefined }), 'its data is no base64'],
    ['base64 that is no gzip', packed(whole, { data: 'aGVsbG8=' }), 'its data cannot be unpacked'],
    [
      'a gzip that breaks off',
      packed(whole, { data: gzipSync(whole).subarray(0, 100).toString('base64') }),
      expect.stringMatching(/no base64|cannot be unpacked/),
    ],
    [
      'more than it says',
      packed(whole, { bytes: 10 }),
      'it says that it has 10 bytes, and has more',
    ],
    [
      'less than it says',
      packed(whole, { bytes: 10_000 }),
      `it says that it has 10000 bytes, and has ${Buffer.byteLength(whole)}`,
    ],
    ['no length', packed(whole, { bytes: '1' }), 'it does not say how long it is'],
    [
      'a length beyond all',
      packed(whole, { bytes: 2 ** 40 }),
      'it says that it has 1099511627776 bytes: no answer is that long',
    ],
    [
      'a bomb',
      packed(whole, { data: gzipSync(bomb).toString('base64'), bytes: 1000 }),
      'it says that it has 1000 bytes, and has more',
    ],
    [
      'another hash',
      packed(whole, { sha256: 'a'.repeat(64) }),
      'its SHA-256 differs from the stated one',
    ],
    ['packed twice', packed(packed(whole)), 'it is packed twice'],
    [
      'another node’s inside',
      packed(whole.replace(instance, 'i-0fedcba9876543210')),
      `it comes from "i-0fedcba9876543210", not from ${instance}`,
    ],
  ])('packed, %s: not known', (_, output, reason) => {
    expect(reasonOf(output)).toEqual(reason)
  })
})
