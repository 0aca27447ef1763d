/** The document that brings an image back, run on pretend nodes and broken off everywhere. */
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ChangedNode, type Sent, sha256 } from '#test/changed-node.ts'
import { type Platform, platforms } from '#test/node-root.ts'
import { al2023 } from '#test/node-roots.ts'

const here = platforms()
const first = here[0] as Platform
const generous = { timeout: 120_000 }
const source = `mirror.corp.example:5000/eks/pause@sha256:${'a'.repeat(64)}`
const name = '602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10'
const pinned = sha256(`${name} pinned\n`)
const unpinned = sha256(`${name} unpinned\n`)
const managed = { 'io.cri-containerd.image': 'managed' }
const pin = { 'io.cri-containerd.pinned': 'pinned' }
type Images = Record<string, Record<string, string>>

function nodeWith(images: Images, platform = first, registry = [source]) {
  const node = new ChangedNode('Highwater-PullImage', al2023(), platform)
  node.writeWorld('images.json', JSON.stringify(images))
  node.writeWorld('registry.json', JSON.stringify(registry))
  for (const program of ['ctr', 'crictl'])
    node.tool(
      program,
      `exec ${process.execPath} ${resolve('test/support/pretend/containerd.mjs')} ${node.world()} ${program} "$@"`,
    )
  const present = images[name]
  const known = present && 'io.cri-containerd.pinned' in present ? pinned : unpinned
  const OldSha256 = present === undefined ? 'absent' : known
  const parameters = {
    Run: 'run-00000001',
    OldSha256,
    NewSha256: pinned,
    Source: source,
    Name: name,
  }
  const send = (
    Action: string,
    changed: Record<string, string> = {},
    environment: Record<string, string> = {},
  ): Promise<Sent> => node.send({ ...parameters, Action, ...changed }, environment)
  return { node, send, images: () => JSON.parse(node.readWorld('images.json')) as Images }
}
const outcomeOf = ({ answer }: Sent) => answer?.outcome ?? 'no answer'

describe('an image that is missing', () => {
  it.each(here)('is pulled, named and pinned, and gone again ($name)', generous, async platform => {
    const { node, send, images } = nodeWith({ other: {} }, platform)
    expect(outcomeOf(await send('check'))).toBe('ready')
    expect(images()).toEqual({ other: {} })
    const sent = await send('apply')
    expect(sent).toMatchObject({
      code: 0,
      stderr: '',
      answer: { outcome: 'applied', kubelet: null, presentSha256: pinned },
    })
    expect(images()).toMatchObject({ [name]: { ...managed, ...pin } })
    expect(images()[name]).not.toHaveProperty('io.highwater.was')
    expect(outcomeOf(await send('apply'))).toBe('unchanged')
    expect(outcomeOf(await send('rollback'))).toBe('restored')
    expect(images()).toEqual({ other: {} })
    expect(outcomeOf(await send('apply'))).toBe('refused')
    expect(node.restarts()).toBe(node.readWorld('calls').split('\n').filter(Boolean).length)
  })

  it('leaves a source that was there as it was', generous, async () => {
    const { send, images } = nodeWith({ [source]: managed })
    expect(outcomeOf(await send('apply'))).toBe('applied')
    expect(outcomeOf(await send('rollback'))).toBe('restored')
    expect(images()).toEqual({ [source]: managed })
  })

  it(
    'stays missing where the registry asks for credentials, and nothing is left',
    generous,
    async () => {
      const { send, images } = nodeWith({}, first, [])
      const { answer } = await send('apply')
      expect(answer).toMatchObject({
        outcome: 'failed',
        reason: expect.stringContaining('401 Unauthorized'),
      })
      expect(images()).toEqual({})
    },
  )

  it('is taken away again where the kubelet would not find it', generous, async () => {
    const { node, send, images } = nodeWith({})
    node.writeWorld('unseen', '')
    // By the script's own clock, on which each nap takes a minute: it tries again until five have passed.
    node.writeWorld('clock', '1700000000\n')
    const clock = node.world('clock')
    node.tool(
      'date',
      `case $* in +%s) read -r now <${clock}; echo "$now" ;; *) echo 2026-11-21T12:00:00Z ;; esac`,
    )
    node.tool('sleep', `read -r now <${clock}; echo "$((now + 60))" >${clock}`)
    expect((await send('apply', {}, { HIGHWATER_PACE: '' })).answer).toMatchObject({
      outcome: 'restored',
      reason: expect.stringContaining('would not find'),
    })
    expect(images()).toEqual({})
    expect(node.readWorld('calls').match(/^crictl inspecti/gm)).toHaveLength(6)
  })

  it('comes wherever the node was broken off, and goes without a trace', {
    timeout: 300_000,
  }, async () => {
    for (let count = 1; ; count += 2) {
      const { node, send, images } = nodeWith({ [source]: managed })
      node.endAfter(count)
      const broken = await send('apply')
      node.endAfter(0)
      if (count % 4 === 1) {
        const again = await send('apply')
        expect(['applied', 'unchanged'], `after ${count}: ${again.stdout}`).toContain(
          outcomeOf(again),
        )
        expect(images()[name], `after ${count}`).toEqual({ ...managed, ...pin })
      }
      const back = await send('rollback')
      expect(['restored', 'unchanged'], `after ${count}: ${back.stdout}`).toContain(outcomeOf(back))
      expect(images(), `after ${count}`).toEqual({ [source]: managed })
      if (broken.answer !== null) return
    }
  })
})

describe('an image that is there', () => {
  it('is pinned, and unpinned again; nothing is pulled', generous, async () => {
    const { node, send, images } = nodeWith({ [name]: managed })
    expect(outcomeOf(await send('apply'))).toBe('applied')
    expect(images()).toEqual({ [name]: { ...managed, ...pin } })
    expect(outcomeOf(await send('rollback'))).toBe('restored')
    expect(images()).toEqual({ [name]: managed })
    expect(node.readWorld('calls')).not.toContain('crictl pull')
  })

  it('is left alone where it came since the plan', generous, async () => {
    const { send, images } = nodeWith({ [name]: managed })
    expect((await send('apply', { OldSha256: 'absent' })).answer).toMatchObject({
      outcome: 'refused',
    })
    expect(images()).toEqual({ [name]: managed })
  })
})

describe('what is no image', () => {
  it.each([
    ['a word of the shell', { Source: 'a.example/b:$(reboot)' }],
    ['a flag', { Source: '--all' }],
    ['a tag, which may stand for other bytes today', { Source: 'a.example/eks/pause:3.10' }],
    ['a tag and a digest', { Source: `a.example/b:1@sha256:${'a'.repeat(64)}` }],
    ['half a digest', { Source: `a.example/b@sha256:${'a'.repeat(32)}` }],
    ['a name without a registry', { Name: 'pause:3.10' }],
    ['a name without a tag', { Name: 'a.example/pause' }],
    ['a name with a digest', { Name: `a.example/pause@sha256:${'a'.repeat(64)}` }],
    ['the same twice', { Source: name }],
    ['the hash of another name', { NewSha256: sha256('other pinned\n') }],
  ])('is refused: %s', generous, async (_, changed) => {
    const { send, images } = nodeWith({})
    expect(outcomeOf(await send('apply', changed))).toBe('refused')
    expect(images()).toEqual({})
  })
})
