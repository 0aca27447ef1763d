import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { folderStore } from '#clients/store/folder-store.ts'
import type { Store } from '#clients/store/store.ts'
import { type SendOnceOptions, sendOnce } from '#publish/channels/message-once.ts'

const key = 'runs/1/mail.json'
const leaseMs = 120_000
const start = Date.parse('2026-11-21T05:03:00Z')

let folder: string
let store: Store
let sent: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'highwater-once-'))
  store = folderStore(folder)
  sent = []
})
afterEach(() => rmSync(folder, { recursive: true }))

/** @param seconds after the start, by the clock of this delivery */
const deliver = (
  seconds = 0,
  { send, ...more }: Partial<SendOnceOptions> & { send?: () => Promise<string> } = {},
) =>
  sendOnce(send ?? (async () => `message ${sent.push('mail')}`), {
    store,
    key,
    now: () => new Date(start + seconds * 1000),
    leaseMs,
    ...more,
  })
const marker = async () => JSON.parse((await store.read(key))?.body.toString() ?? 'null')
const never = () => new Promise<string>(() => undefined)

/** The store, but for some of its methods. */
const but = (methods: Partial<Store>): Store => ({ ...folderStore(folder), ...methods })
const down = () => Promise.reject(new Error('S3 is down'))

describe('a mail', () => {
  it('is sent once, however often the run is delivered', async () => {
    expect(await deliver(0)).toEqual({ state: 'sent', messageId: 'message 1', doubt: null })
    expect(await marker()).toMatchObject({
      state: 'sent',
      messageId: 'message 1',
      at: '2026-11-21T05:03:00.000Z',
    })
    for (const seconds of [1, 3600, 86_400 * 30])
      expect(await deliver(seconds)).toEqual({
        state: 'sent-before',
        messageId: 'message 1',
        at: '2026-11-21T05:03:00.000Z',
      })
    expect(sent).toHaveLength(1)
  })

  it('is marked before it is sent, with the time until which no other delivery sends it', async () => {
    let during: unknown
    await deliver(0, {
      send: async () => {
        during = await marker()
        return 'message 1'
      },
    })
    expect(during).toMatchObject({
      state: 'sending',
      at: '2026-11-21T05:03:00.000Z',
      expiresAt: '2026-11-21T05:05:00.000Z',
    })
  })

  it('is sent once by many deliveries at the same time', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => deliver(0)))
    expect(sent).toHaveLength(1)
    expect(outcomes.filter(({ state }) => state === 'sent')).toHaveLength(1)
  })

  it('is left to another delivery that is at it', async () => {
    void deliver(0, { send: never })
    while ((await store.read(key)) === null) await new Promise(resolve => setImmediate(resolve))
    expect(await deliver(119)).toEqual({ state: 'being-sent', until: '2026-11-21T05:05:00.000Z' })
    expect(sent).toEqual([])
  })

  it('of another run has nothing to do with it', async () => {
    await deliver(0)
    expect(await deliver(0, { key: 'runs/2/mail.json' })).toMatchObject({
      state: 'sent',
      messageId: 'message 2',
      doubt: null,
    })
  })

  it('goes without a store, and the doubt is said', async () => {
    expect(await deliver(0, { store: null })).toMatchSnapshot()
  })
})

describe('a delivery that was killed while it sent', () => {
  beforeEach(async () => {
    void deliver(0, { send: never })
    while ((await store.read(key)) === null) await new Promise(resolve => setImmediate(resolve))
  })

  it.each([
    { seconds: 119, state: 'being-sent' },
    { seconds: 120, state: 'sent' }, // exactly at its end
    { seconds: 3600, state: 'sent' },
  ])(
    'is waited for until its lease ends: after $seconds s the next one is $state',
    async ({ seconds, state }) => {
      expect((await deliver(seconds)).state).toBe(state)
    },
  )

  it('may have sent: the next one says so', async () => {
    expect(await deliver(121)).toMatchSnapshot()
    expect(await deliver(122)).toMatchObject({ state: 'sent-before', messageId: 'message 1' })
  })

  it('is taken over by one of many', async () => {
    await Promise.all(Array.from({ length: 8 }, () => deliver(121)))
    expect(sent).toHaveLength(1)
  })

  it('is not waited for when its clock was hours ahead', async () => {
    expect((await deliver(-2 * 3600)).state).toBe('sent')
  })
})

describe('a mail that could not be sent', () => {
  const refuse = () => Promise.reject(new Error('the sandbox'))

  it('is an error, is marked, and is sent by the next delivery at once', async () => {
    await expect(deliver(0, { send: refuse })).rejects.toThrow('the sandbox')
    expect(await marker()).toMatchObject({ state: 'failed', error: 'the sandbox' })
    expect(await deliver(1)).toEqual({ state: 'sent', messageId: 'message 1', doubt: null })
    expect(await deliver(2)).toMatchObject({ state: 'sent-before' })
  })

  it('is the error that is reported when the store then fails, too', async () => {
    await expect(deliver(0, { send: refuse, store: but({ replace: down }) })).rejects.toThrow(
      'the sandbox',
    )
  })
})

describe('a store that fails', () => {
  it.each<[string, Partial<Store>]>([
    ['cannot be written', { create: down, replace: down }],
    ['cannot be read either', { create: down, replace: down, read: down }],
  ])('and %s does not keep the mail from going, but the doubt is said', async (_, methods) => {
    expect(await deliver(0, { store: but(methods) })).toEqual({
      state: 'sent',
      messageId: 'message 1',
      doubt: `${folder} could not be read to see whether it went before: S3 is down`,
    })
  })

  it('after the mail went is said: the next delivery may send again', async () => {
    const outcome = await deliver(0, { store: but({ replace: down }) })
    expect(outcome).toMatchObject({
      state: 'sent',
      doubt: `${folder} could not keep that it went: S3 is down`,
    })
    expect((await deliver(60)).state).toBe('being-sent')
  })

  it('only for the marker before, but not after, is remembered all the same', async () => {
    const flaky = folderStore(folder)
    let failures = 1
    const create: Store['create'] = (...write) => (failures-- > 0 ? down() : flaky.create(...write))
    expect(await deliver(0, { store: but({ create }) })).toMatchObject({ state: 'sent' })
    expect(await deliver(1)).toMatchObject({ state: 'sent-before' })
    expect(sent).toHaveLength(1)
  })

  it('and loses the answer to its own write is not taken for another delivery', async () => {
    const real = folderStore(folder)
    const create: Store['create'] = async (...write) => {
      await real.create(...write)
      return false
    }
    const replace: Store['replace'] = async (...write) => {
      await real.replace(...write)
      return false
    }
    expect(await deliver(0, { store: but({ create, replace }) })).toEqual({
      state: 'sent',
      messageId: 'message 1',
      doubt: null,
    })
    expect(await deliver(1)).toMatchObject({ state: 'sent-before' })
  })
})

describe('a marker that is not ours', () => {
  it.each([
    '',
    'null',
    '{',
    '{"state":"sent"}',
    '{"schema":"highwater.send/1","state":"sent"}',
    '{"schema":"highwater.send/1","state":1}',
  ])('and reads %j is taken over, and the doubt is said', async body => {
    await store.write(key, body, 'application/json')
    expect(await deliver(0)).toMatchSnapshot()
  })

  it.each(['', 'tomorrow', undefined])(
    'and says that it holds until %j holds no longer',
    async expiresAt => {
      const held = {
        schema: 'highwater.send/1',
        state: 'sending',
        holder: 'other',
        at: '2026-11-21T05:00:00Z',
        expiresAt,
      }
      await store.write(key, JSON.stringify(held), 'application/json')
      expect((await deliver(0)).state).toBe('sent')
    },
  )

  it('when we come back from sending stays as it is', async () => {
    const other = {
      schema: 'highwater.send/1',
      state: 'sent',
      holder: 'other',
      at: '2026-11-21T05:00:00Z',
      messageId: 'theirs',
    }
    const outcome = await deliver(0, {
      send: async () => {
        await store.write(key, JSON.stringify(other), 'application/json')
        return 'ours'
      },
    })
    expect(outcome).toMatchSnapshot()
    expect(await marker()).toEqual(other)
  })
})
