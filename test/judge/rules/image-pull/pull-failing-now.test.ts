import { describe, expect, it } from 'vitest'
import { pullCause } from '#facts/kubelet/event-messages.ts'
import { pullFailingNow } from '#judge/rules/image-pull/pull-failing-now.ts'
import { manifestOf } from '#test/at-the-door.ts'
import { sharedFilesystems } from '#test/example.ts'
import { itJudgesExamples } from '#test/rule-examples.ts'
import { failingOf as failingIn, failingOf, state, state as stateOf } from '#test/rule-outcome.ts'
import { event, hubLimit, minutesAgo, pullOf } from '#test/rules/events.ts'

const pod = (state: object, image = 'shop/web:1') => ({
  metadata: { namespace: 'shop', name: 'web' },
  status: { containerStatuses: [{ name: 'web', image, state }] },
})

itJudgesExamples(pullFailingNow, {
  bad: {
    pods: [
      pod({
        waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "shop/web:1"' },
      }),
    ],
  },
  good: { pods: [pod({ waiting: { reason: 'ContainerCreating' } })] },
})

describe('why a pull failed', () => {
  it.each([
    [hubLimit, 'rate limit (429)'],
    ['toomanyrequests: Rate exceeded', 'rate limit (429)'],
    ['unexpected status code: 429', 'rate limit (429)'],
    ['failed to resolve reference "a/b:429": a/b:429: not found', 'not found'],
    ['manifest unknown: manifest unknown', 'not found'],
    ['Container image "a" is not present with pull policy of Never', 'not found'],
    [
      'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      'missing or denied',
    ],
    [
      'pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials',
      'no basic auth credentials',
    ],
    ['unexpected status from HEAD request: 403 Forbidden', 'denied'],
    [
      'denied: Your authorization token has expired. Reauthenticate and try again.',
      'expired credentials',
    ],
    ['pull QPS exceeded', 'limit of the kubelet'],
    ['dial tcp 10.0.0.1:443: i/o timeout', 'timeout'],
    ['context deadline exceeded', 'deadline exceeded'],
    ['failed to extract layer sha256:0d5: context canceled', 'deadline exceeded'],
    ['failed to do request: Head "https://r.example/v2/": context deadline exceeded', 'timeout'],
    ['net/http: request canceled (Client.Timeout exceeded while awaiting headers)', 'timeout'],
    [
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
      'certificate (x509)',
    ],
    ['write /var/lib/containerd/ingest: no space left on device', 'no space left'],
    [
      'unexpected status code https://harbor.example/v2/app/blobs/sha256:0d5: 500 Internal Server Error - Server message: unknown: filesystem: mkdir /storage/docker: no space left on device',
      'registry error (5xx)',
    ],
    ['received unexpected HTTP status: 503 Service Unavailable', 'registry error (5xx)'],
    [
      'pulling from host registry-1.docker.io failed with status code [manifests 4.5.6]: 503 Service Unavailable',
      'registry error (5xx)',
    ],
    ['unexpected status from HEAD request to https://r.example:5000/v2/a: 403 Forbidden', 'denied'],
    ['write C:\\Windows\\TEMP\\blob: There is not enough space on the disk.', 'no space left'],
    [
      'failed reading status of resume write: stat /var/lib/containerd/a/data: no such file or directory: not found',
      'file of the node',
    ],
    ['dial tcp: lookup registry on 10.0.0.2:53: no such host', 'out of reach'],
    [
      'failed commit on ref "layer-sha256:8f3d": unexpected commit digest sha256:1c2e, expected sha256:8f3d: failed precondition',
      'wrong content',
    ],
    ['Error: ErrImagePull', null],
  ])('%s: %s', (message, expected) => {
    expect(pullCause(message, null)).toBe(expected)
  })

  it("is not read out of the image's own name", () => {
    expect(
      pullCause('Failed to pull image "denied/not-found:1": EOF', 'denied/not-found:1'),
    ).toBeNull()
  })
})

it('names the pull that fails beside many that a rate limit refuses', () => {
  const waits = (name: string, message: string) => ({
    ...pod({ waiting: { reason: 'ErrImagePull', message } }),
    metadata: { namespace: 'shop', name },
  })
  const limited = Array.from({ length: 12 }, (_, index) => waits(`web-${index}`, hubLimit))
  const { seen } = failingIn(pullFailingNow, { pods: [...limited, waits('db', 'no such host')] })
  expect(seen).toContain('out of reach, first for pod shop/db')
  expect(stateOf(pullFailingNow, { pods: limited })).toBe('pass')
})

it('pins no image of which the registry sends other content', () => {
  const message = 'failed commit on ref "layer-sha256:8f3d": unexpected commit digest sha256:1c2e'
  const waiting = { reason: 'ErrImagePull', message }
  const { steps, seen } = failingIn(pullFailingNow, { pods: [pod({ waiting })] })
  expect(steps).toEqual([{ id: 'read-pull-events' }])
  expect(seen).toContain('has a damaged copy')
})

it('says what image GC takes where the registry is out of reach', () => {
  const waiting = { reason: 'ErrImagePull', message: 'no such host' }
  const seenAt = (triggered: boolean, message = waiting.message) =>
    failingIn(pullFailingNow, {
      pods: [pod({ waiting: { ...waiting, message } })],
      imageGC: { triggered },
    }).seen
  expect(seenAt(true)).toContain('Free the disk first, or pin them (io.cri-containerd.pinned)')
  expect(seenAt(false)).not.toContain('Image GC')
  expect(seenAt(true, 'denied: 403 Forbidden')).not.toContain('Image GC')
  expect(seenAt(true, 'context deadline exceeded')).toMatch(/slow disk/)
  expect(seenAt(true, 'context deadline exceeded')).not.toContain('Image GC')
})

it('names all images that no registry gives back, and the pressure before', () => {
  const waits = (name: string) => ({
    metadata: { namespace: 'shop', name },
    status: {
      containerStatuses: [
        {
          ...{ name, image: `acme/${name}:1` },
          state: { waiting: { reason: 'ErrImagePull', message: 'no such host' } },
        },
      ],
    },
  })
  const pods = ['a', 'b', 'c', 'd'].map(waits)
  const pressure = event({ reason: 'NodeHasDiskPressure', message: 'Node status is now', ago: 48 })
  const told = failingOf(pullFailingNow, { pods, events: [pressure] })
  expect(told.seen).toContain('4 images cannot be pulled: acme/a:1, acme/b:1, acme/c:1 and 1 more.')
  expect(told.seen).toContain(
    'If they were on the node before, image GC likely deleted them: the node was under DiskPressure',
  )
  expect(told.steps?.[0]).toMatchObject({ id: 'import-image' })
  expect(failingOf(pullFailingNow, { pods }).seen).not.toContain('image GC')
})

it.each([
  ['docker.io/acme/web:1', { id: 'grant-pull', place: 'docker.io', variant: 'other' }],
  [
    '111122223333.dkr.ecr.us-east-1.amazonaws.com/web:1',
    { id: 'grant-pull', place: '111122223333.dkr.ecr.us-east-1.amazonaws.com' },
  ],
])('speaks of ECR only of images from there: %s', (image, step) => {
  for (const message of ['403 Forbidden', 'does not exist or may require authorization']) {
    const waiting = { reason: 'ErrImagePull', message }
    const status = { containerStatuses: [{ name: 'web', image, state: { waiting } }] }
    const pods = [{ metadata: { namespace: 'shop', name: 'web' }, status }]
    expect(failingIn(pullFailingNow, { pods }).steps).toContainEqual(step)
  }
})

it('frees what holds the disk before a pull can succeed', () => {
  const filesystems = { imagefs: { ...sharedFilesystems.nodefs!, availableBytes: 2 ** 31 } }
  const failingOn = (holder: 'container-logs' | 'images-in-use', message: string) =>
    failingOf(pullFailingNow, {
      ...{ filesystems, held: { [holder]: 70 }, imageGC: { triggered: true } },
      pods: [pod({ waiting: { reason: 'ErrImagePull', message } })],
    })
  const full = 'write /var/lib/containerd/ingest: no space left on device'
  expect(failingOn('container-logs', full)).toMatchObject({
    cause: { kind: 'holder', holder: 'container-logs' },
    steps: [{ id: 'look-on-node' }, { id: 'restart-pod' }, { id: 'ask-owner' }],
  })
  expect(failingOn('images-in-use', full).cause).toMatchObject({ what: 'too-small' })
  // The registry does not have what image GC deletes.
  expect(failingOn('container-logs', 'no such host').steps?.map(({ id }) => id)).toEqual([
    ...['look-on-node', 'import-image', 'pin-images', 'read-pull-events'],
  ])
})

it('asks for a larger disk where an image finds no room', () => {
  const message = 'write /var/lib/containerd/ingest: no space left on device'
  const waiting = (text: string) => pod({ waiting: { reason: 'ErrImagePull', message: text } })
  const filesystems = { imagefs: { ...sharedFilesystems.nodefs!, availableBytes: 2 ** 31 } }
  const pods = [waiting(''), waiting(message)]
  expect(failingOf(pullFailingNow, { pods, filesystems })).toMatchObject({
    title: 'The disk has no room for an image, and its pull fails',
    cause: { kind: 'device', what: 'too-small' },
    steps: [{ id: 'larger-disk' }],
  })
})

it.each([
  [85, [{ id: 'prune-images' }, { id: 'set-fields' }, { id: 'larger-disk' }]],
  [60, [{ id: 'larger-disk' }]],
])('starts image GC earlier than at %d for unused images, never later', (high, steps) => {
  const message = 'write /var/lib/containerd/ingest: no space left on device'
  const names = [1, 2, 3, 4].map(build => ({
    names: [`shop/web:${build + 1}`],
    sizeBytes: 2 ** 30,
  }))
  const subject = {
    pods: [pod({ waiting: { reason: 'ErrImagePull', message } })],
    node: { status: { images: names } },
    filesystems: { imagefs: { ...sharedFilesystems.nodefs!, availableBytes: 2 ** 31 } },
    configuration: { imageGCHighThresholdPercent: high },
  }
  expect(failingOf(pullFailingNow, subject as never)).toMatchObject({ steps })
})

it('names the image that is larger than what is free', () => {
  const message = 'failed to extract layer: write /var/lib/containerd/a: no space left on device'
  const waiting = pod({ waiting: { reason: 'ErrImagePull', message } })
  expect(failingOf(pullFailingNow, { pods: [waiting] })).toMatchObject({
    seen: expect.stringMatching(/^no space is left for \S+ of pod \S+, and 60\.0 GiB are free now/),
    steps: [{ id: 'larger-disk', variant: 'image' }, { id: 'read-pull-events' }],
  })
})

it('does not ask for an image whose pull fails at a file of the node', () => {
  const message = 'stat /var/lib/containerd/ingest/a/data: no such file or directory: not found'
  const waiting = pod({ waiting: { reason: 'ImagePullBackOff', message } })
  expect(failingOf(pullFailingNow, { pods: [waiting] })).toMatchObject({
    cause: { event: 'pull-fails', subject: null },
    steps: [{ id: 'read-pull-events' }, { id: 'replace-node' }],
  })
})

describe('a node without a sandbox image', () => {
  const refusal = (image: string, of = 'kube-system/aws-node-7xk2p') =>
    pullOf(`Failed to create pod sandbox: failed to get sandbox image "${image}": not found`, {
      ...{ reason: 'FailedCreatePodSandBox', of },
    })

  it.each([
    ['localhost/kubernetes/pause', ['import-sandbox']],
    ['602401143452.dkr.ecr.us-east-2.amazonaws.com/eks/pause:3.1', ['replace-node']],
  ])('starts no pod: %s', (image, steps) => {
    const failing = failingOf(pullFailingNow, { pods: [], events: [refusal(image)] })
    expect(failing).toMatchObject({ severity: 'critical', cause: { subject: image } })
    expect(failing.steps?.map(({ id }) => id)).toEqual(steps)
  })

  const images = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ names: [`a/b:${index}`] }))
  const deletion =
    '2026-11-20T22:10:00+0000 node kubelet[1]: I1120 "Removing image to free bytes" imageID="sha256:0a1b" size=319 runtimeHandler=""'
  const imported = { id: 'import-sandbox', place: 'a/pause' } as const

  it.each<[string, number, Parameters<typeof failingOf>[1], object[]]>([
    ['one', 1, {}, [{ ...imported, variant: 'hidden' }, { id: 'replace-node' }]],
    ['seven', 7, {}, [{ id: 'replace-node' }]],
    [
      'seven, by the runtime',
      1,
      { runtime: { images: Array(7).fill({}) } },
      [{ id: 'replace-node' }],
    ],
    [
      'one, and image GC deleted it',
      1,
      { host: { logLines: [deletion] } },
      [{ ...imported, variant: 'deleted' }],
    ],
  ])('may be hidden by a mount only if hardly an image is left: %s', (_, count, more, steps) => {
    const node = { metadata: { name: 'a' }, status: { images: images(count) } }
    const given = { node, pods: [], events: [refusal('a/pause')], ...more }
    expect(failingOf(pullFailingNow, given).steps).toEqual(steps)
  })

  it('is none if the pod has started since', () => {
    const started = {
      metadata: { namespace: 'kube-system', name: 'aws-node-7xk2p' },
      status: {
        containerStatuses: [{ name: 'a', state: { running: { startedAt: minutesAgo(3) } } }],
      },
    }
    expect(state(pullFailingNow, { pods: [started], events: [refusal('a')] })).toBe('pass')
  })

  const waiting = pod({ waiting: { reason: 'ContainerCreating' } })

  it.each([
    ['none of which is here', [], ['evil/a', 'evil/b'], 'high', 'read-journal'],
    ['of which one waits here', [waiting], ['shop/web', 'shop/b'], 'critical', 'read-journal'],
    ['and another', [], ['evil/a', 'shop/b'], 'critical', 'replace-node'],
  ])('by events of pods of one namespace, %s', (_, pods, names, severity, first) => {
    const events = names.map(of => refusal('a/pause', of))
    const failing = failingOf(pullFailingNow, { pods, events })
    expect([failing.severity, failing.steps?.[0]?.id]).toEqual([severity, first])
  })

  it.each([
    ['the node has it', 'a/pause:3', ['a/pause:3'], 'pass'],
    ['the runtime uses another', 'evil/pause:3', [], 'pass'],
    ['the node lacks it', 'a/pause:3', ['b/c:1'], 'fail'],
  ])('only if it is the missing one: %s', (_, named, repoTags, expected) => {
    const host = { containerd: { sandboxImage: 'a/pause:3' } }
    const given = { pods: [], events: [refusal(named)], host, runtime: { images: [{ repoTags }] } }
    expect(state(pullFailingNow, given)).toBe(expected)
  })
})

describe('an image without a registry in its name', () => {
  const image = 'runner:dev'
  const message = `failed to resolve reference "docker.io/library/${image}": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`
  const pressure = event({ reason: 'NodeHasDiskPressure', message: 'Node status is now', ago: 48 })
  const failingWith = (names: string[], why = message) =>
    failingOf(pullFailingNow, {
      pods: [pod({ waiting: { reason: 'ImagePullBackOff', message: why } }, image)],
      events: [pressure],
      node: { metadata: { name: 'a' }, status: { images: [{ names }] } },
    })

  it.each([
    ['none', []],
    ['another build', ['docker.io/library/runner:old']],
  ])('was made on the node, and no login helps: %s is there', (_, names) => {
    expect(failingWith(names)).toMatchObject({
      cause: { event: 'image-missing', subject: image },
      steps: [{ id: 'provide-image', variant: 'local' }, { id: 'read-pull-events' }],
    })
  })

  it('may be an official one if the node has pulled it', () => {
    const names = [`docker.io/library/runner@sha256:${'0'.repeat(64)}`]
    const ids = failingWith(names).steps?.map(({ id }) => id)
    expect(ids).toEqual(['provide-image', 'import-image', 'grant-pull'])
  })

  it('is for its owner to push if its registry has it no longer', () => {
    const [step] = failingWith([], `${image}: not found`).steps ?? []
    expect(step).toMatchObject({ id: 'provide-image', owner: { pod: 'web' } })
    expect(step?.variant).toBeUndefined()
  })
})

describe('an image that is on no node', () => {
  const waiting = (reason: string, message: string) => [pod({ waiting: { reason, message } })]
  const gone = 'failed to resolve reference "shop/web:1": shop/web:1: not found'
  const never = 'Container image "shop/web:1" is not present with pull policy of Never'
  const cause = { kind: 'world', event: 'image-missing', subject: 'shop/web:1' }
  const owner = { kind: 'pod', namespace: 'shop', pod: 'web', workload: null }

  it.each([
    ['ErrImagePull', gone, { id: 'provide-image', owner, place: 'shop/web:1' }],
    ['ErrImageNeverPull', never, { id: 'import-image', place: 'shop/web:1' }],
  ])('is asked of who can bring it: %s', (reason, message, step) => {
    const failing = failingOf(pullFailingNow, { pods: waiting(reason, message) })
    expect(failing).toMatchObject({ cause, steps: [step, { id: 'read-pull-events' }] })
  })

  it('is known from the event, while the kubelet waits for its next attempt', () => {
    const event = {
      ...pullOf(`Failed to pull image "shop/web:1": ${gone}`),
      pod: { namespace: 'shop', name: 'web' },
    }
    const pods = waiting('ImagePullBackOff', 'Back-off pulling image "shop/web:1"')
    expect(failingOf(pullFailingNow, { pods, events: [event] })).toMatchObject({ cause })
    expect(failingOf(pullFailingNow, { pods })).toMatchObject({ cause: { event: 'pull-fails' } })
  })
})

describe('an image that is gone after pressure', () => {
  const image = 'shop/web:1'
  const waits = (reason: string, message: string, more: object = {}) => ({
    pods: [
      {
        metadata: { namespace: 'shop', name: 'web' },
        status: {
          containerStatuses: [
            { name: 'web', image, state: { waiting: { reason, message } }, ...more },
          ],
        },
      },
    ],
  })
  const never = waits('ErrImageNeverPull', 'not present with pull policy of Never')
  const gone = waits('ErrImagePull', `${image}: not found`)
  const unknown = waits(
    'ErrImagePull',
    'pull access denied, repository does not exist or may require authorization',
  )
  const pressure = event({ reason: 'NodeHasDiskPressure', message: 'Node status is now', ago: 48 })
  const met = (message: string) => event({ reason: 'EvictionThresholdMet', message, ago: 48 })
  const round = event({ reason: 'FreeDiskSpaceFailed', message: 'Failed to free', ago: 30 })
  const removal = {
    host: {
      logLines: [
        '2026-11-20T22:10:00+0000 node kubelet[1]: I1120 "Removing image to free bytes" imageID="sha256:0a1b" size=104857600 runtimeHandler=""',
      ],
    },
  }
  const likely = 'Likely image GC deleted it: '
  const perhaps = 'If it was on the node before, image GC likely deleted it: '
  const underPressure = 'the node was under DiskPressure (2026-11-20 23:12 UTC)'

  it.each<[string, Parameters<typeof failingOf>[1], string | null, string[]]>([
    [
      'never pulled',
      { ...never, events: [pressure] },
      likely + underPressure,
      ['import-image', 'read-pull-events'],
    ],
    [
      'one of two never pulled',
      { pods: [...never.pods, ...gone.pods], events: [pressure] },
      perhaps + underPressure,
      [],
    ],
    [
      'never pulled, and a round needed space',
      { ...never, events: [round] },
      `${likely}the kubelet could not free enough space (2026-11-20 23:30 UTC)`,
      ['import-image'],
    ],
    [
      'never pulled, and the log of the kubelet',
      { ...never, ...removal, events: [] },
      `${likely}the kubelet deleted an image here at 2026-11-20 22:10 UTC`,
      ['import-image'],
    ],
    [
      'perhaps it has never been here',
      { ...gone, events: [pressure] },
      perhaps + underPressure,
      ['provide-image', 'import-image'],
    ],
    [
      'missing or denied',
      { ...unknown, events: [pressure] },
      perhaps + underPressure,
      ['provide-image', 'import-image', 'grant-pull'],
    ],
    [
      'a condition of this day, after its events',
      {
        ...{ ...never, events: [] },
        happened: [
          {
            ...{ what: 'condition', at: '2026-11-20T09:00:00Z', subject: 'DiskPressure' },
            ...{ status: 'False', message: 'DiskPressure is False' },
          },
        ],
      },
      `${likely}the node was under DiskPressure (2026-11-20 09:00 UTC)`,
      ['import-image'],
    ],
    [
      'an eviction for the disk',
      { ...never, events: [met('Attempting to reclaim ephemeral-storage')] },
      likely + underPressure,
      ['import-image'],
    ],
    [
      'an eviction for memory, and another condition, which delete no image',
      {
        ...{ ...never, events: [met('Attempting to reclaim memory')] },
        happened: [
          {
            ...{ what: 'condition', at: '2026-11-20T09:00:00Z', subject: 'Ready' },
            ...{ status: 'False', message: 'Ready is False' },
          },
        ],
      },
      null,
      ['import-image'],
    ],
    ['no pressure', { ...gone, events: [] }, null, ['provide-image']],
    ['denied', { ...waits('ErrImagePull', '403 Forbidden'), events: [pressure] }, null, []],
  ])('%s', (_, given, expected, steps) => {
    const failing = failingOf(pullFailingNow, given)
    if (expected === null) expect(failing.seen).not.toContain('image GC')
    else expect(failing.seen).toContain(expected)
    expect(failing.steps?.slice(0, steps.length).map(({ id }) => id)).toEqual(steps)
  })

  it('is not pulled where its policy is Never', () => {
    expect(failingOf(pullFailingNow, { ...never, events: [] }).seen).toBe(
      'Pod shop/web waits for shop/web:1: it is not on the node, and imagePullPolicy is Never.',
    )
  })
})

describe('a sandbox image that is gone', () => {
  const image = '602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5'
  const sandbox = (message: string) => pullOf(message, { reason: 'FailedCreatePodSandBox' })
  const message = `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "${image}": failed to pull image "${image}": unexpected status from HEAD request to https://602401143452.dkr.ecr.us-east-1.amazonaws.com/v2/eks/pause/manifests/3.5: 401 Unauthorized`

  it('stops all pods of the node', () => {
    const pods = [pod({ waiting: { reason: 'ContainerCreating' } })]
    expect(failingOf(pullFailingNow, { pods, events: [sandbox(message)] })).toMatchObject({
      title: expect.stringContaining('sandbox image'),
      cause: { kind: 'world', event: 'image-missing', subject: image },
      steps: [{ id: 'read-journal', place: 'containerd' }, { id: 'replace-node' }],
      seen: expect.stringContaining('(denied)'),
    })
  })

  const timeout = 'dial tcp 10.0.0.1:443: i/o timeout'
  const waits = (why: string) => ({ waiting: { reason: 'ErrImagePull', message: why } })

  it.each([
    ['images out of reach, if a pod has no sandbox yet', timeout, {}, true],
    ['images that are not found', 'shop/web:1: not found', {}, false],
    [
      'images out of reach, if the pod has started since',
      ...([timeout, { state: { running: { startedAt: minutesAgo(3) } } }, false] as const),
    ],
    [
      'images out of reach, if the pod waits for its own image since',
      ...([timeout, { state: waits(timeout) }, false] as const),
    ],
  ])('stands beside %s', (_, why, status, isNamed) => {
    const unreachable = `failed to get sandbox image "${image}": failed to pull image "${image}": ${timeout}`
    const pods = [
      pod(waits(why)),
      {
        metadata: { namespace: 'batch', name: 'import-x8k2p' },
        status: { containerStatuses: [{ name: 'a', image: 'shop/web:1', ...status }] },
      },
    ]
    const events = [sandbox(`Failed to create pod sandbox: ${unreachable}`)]
    const { seen } = failingOf(pullFailingNow, { pods, events })
    expect(seen?.includes(image)).toBe(isNamed)
  })

  it('is no other failure of a sandbox', () => {
    const events = [sandbox('Failed to create pod sandbox: plugin type="aws-cni" failed (add)')]
    expect(state(pullFailingNow, { pods: [], events })).toBe('pass')
  })
})

describe('pull-failing-now', () => {
  const image = 'docker.io/library/busybox:1.36'
  const failed = pullOf(`Failed to pull image "${image}": dial tcp 10.0.0.1:443: i/o timeout`, {
    ...{ ago: [34, 22], count: 4 },
  })
  const backOff = pullOf(`Back-off pulling image "${image}"`, { reason: 'BackOff', count: 17 })
  const pod = (containerState: object) => ({
    metadata: { namespace: 'batch', name: 'import-x8k2p' },
    status: { containerStatuses: [{ name: 'a', image, state: containerState }] },
  })

  it.each([
    [
      'a pod that is gone',
      [failed, pullOf('Error: ErrImagePull', { count: 4 }), backOff],
      [],
      'fail',
    ],
    [
      'an image that is never pulled',
      [
        pullOf(`Container image "${image}" is not present with pull policy of Never`, {
          reason: 'ErrImageNeverPull',
        }),
      ],
      [],
      'fail',
    ],
    [
      'a name that is none',
      [
        pullOf('Failed to apply default image tag "A B": couldn\'t parse image name', {
          reason: 'InspectFailed',
        }),
      ],
      [],
      'fail',
    ],
    ['only the line without the image', [pullOf('Error: ImagePullBackOff')], [], 'fail'],
    ['more than an hour ago', [{ ...failed, lastTime: minutesAgo(61) }], [], 'pass'],
    [
      'pulled since',
      [
        failed,
        pullOf(
          `Successfully pulled image "${image}" in 2s (2s including waiting). Image size: 1 bytes.`,
          { reason: 'Pulled', ago: 21 },
        ),
      ],
      [],
      'pass',
    ],
    [
      'another pulled since',
      [failed, pullOf('Successfully pulled image "other:1" in 2s', { reason: 'Pulled', ago: 21 })],
      [],
      'fail',
    ],
    [
      'pulled before',
      [failed, pullOf(`Successfully pulled image "${image}" in 2s`, { reason: 'Pulled', ago: 22 })],
      [],
      'fail',
    ],
    [
      'a pod that has started since',
      [failed],
      [pod({ running: { startedAt: minutesAgo(20) } })],
      'pass',
    ],
    ['one that has not', [failed], [pod({ waiting: { reason: 'ContainerCreating' } })], 'fail'],
    [
      'a container that did not start',
      [pullOf('Error: failed to create containerd task: cannot allocate memory')],
      [],
      'pass',
    ],
    ['an event about no pod', [{ ...failed, pod: null }], [], 'pass'],
  ] as const)('%s: %4$s', (_, events, pods, expected) => {
    expect(state(pullFailingNow, { events: [...events], pods: pods.map(manifestOf) })).toBe(
      expected,
    )
  })

  it('says which registry, why, and how often, once for each pod and image', () => {
    const { severity, evidence } = failingOf(pullFailingNow, {
      events: [failed, pullOf('Error: ErrImagePull', { count: 4 }), backOff],
    })
    expect(severity).toBe('medium')
    expect(evidence).toEqual([
      {
        kind: 'event',
        what: 'pod batch/import-x8k2p: timeout, docker.io, 4 times since 2026-11-20 23:26 UTC, last at 2026-11-20 23:40 UTC',
        value: expect.stringContaining('Failed to pull image'),
      },
    ])
  })

  it('leaves pulls above a rate limit to their own rule', () => {
    const limited = pullOf(`Failed to pull image "${image}": ${hubLimit}`)
    const waiting = pod({ waiting: { reason: 'ErrImagePull', message: hubLimit } })
    expect(state(pullFailingNow, { events: [limited], pods: [] })).toBe('pass')
    expect(state(pullFailingNow, { events: [limited], pods: [manifestOf(waiting)] })).toBe('pass')
  })

  it('counts a pod that waits by its status, and takes the reason from the event', () => {
    const pods = [
      pod({
        waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` },
      }),
    ]
    const byStatus = failingOf(pullFailingNow, { pods })
    const both = failingOf(pullFailingNow, { pods, events: [failed] })
    expect(both.evidence).toEqual(byStatus.evidence)
    expect([byStatus.seen, both.seen]).toEqual([undefined, expect.stringMatching(/fail: /)])
  })

  it('bounds and cleans what others wrote', () => {
    const { evidence } = failingOf(pullFailingNow, {
      events: [pullOf(`Failed to pull image "a\u202e": ${'x'.repeat(900)}`)],
    })
    expect(evidence[0]?.value).toHaveLength(400)
    expect(evidence[0]?.value).not.toContain('\u202e')
  })
})

describe('pull-failing-now', () => {
  const waiting = (reason: string) => ({
    metadata: { namespace: 'shop', name: 'web' },
    status: {
      initContainerStatuses: [
        { name: 'i', image: 'a:1', state: { waiting: { reason, message: 'Back-off\u202e' } } },
      ],
    },
  })

  it.each([
    ['ErrImagePull', 'fail'],
    ['ImagePullBackOff', 'fail'],
    ['InvalidImageName', 'fail'],
    ['CrashLoopBackOff', 'pass'],
    ['PodInitializing', 'pass'],
  ])('%s: %s', (reason, expected) => {
    expect(stateOf(pullFailingNow, { pods: [waiting(reason)] })).toBe(expected)
  })

  it('shows ten and counts all, without control characters', () => {
    const { evidence, consequence } = failingIn(pullFailingNow, {
      pods: Array.from({ length: 12 }, () => waiting('ErrImagePull')),
    })
    expect(evidence).toHaveLength(10)
    expect(evidence[0]).toEqual({
      kind: 'object',
      what: 'pod shop/web ErrImagePull',
      value: 'a:1: Back-off ',
    })
    expect(consequence).toContain('12 containers of 1 pod')
  })
})
