import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAuditEvent } from '#handlers/audit.ts'
import { parsePublishEvent, parseRunEvent, parseShardEvent } from '#handlers/fan-out-event.ts'

describe('an event of a fan-out', () => {
  const sample = (file: string) => JSON.parse(readFileSync(`events/${file}`, 'utf8'))

  it('like those in events/ is taken', () => {
    expect(parseRunEvent(sample('discover.json'))).toEqual({ run: '2026-11-21T05-00-00Z' })
    expect(parsePublishEvent(sample('publish.json'))).toEqual({
      run: '2026-11-21T05-00-00Z',
      failure: null,
    })
    expect(parseShardEvent(sample('audit-shard.json'))).toEqual({
      step: 'read',
      run: '2026-11-21T05-00-00Z',
      cluster: 0,
      shard: 0,
    })
  })

  it('with mistakes is refused with all of them, and what would be right', () => {
    expect(() => parseRunEvent({ run: '../../approvals' })).toThrowErrorMatchingSnapshot()
    expect(() => parsePublishEvent({ run: 'x', failure: 'y' })).toThrowErrorMatchingSnapshot()
    expect(() =>
      parseShardEvent({ ...sample('audit-shard.json'), cluster: -1, shard: 'x' }),
    ).toThrowErrorMatchingSnapshot()
    expect(() => parseShardEvent({ step: 'guess' })).toThrowErrorMatchingSnapshot()
  })
})

describe('an event', () => {
  it.each(['scheduled.json', 'on-demand.json'])('like events/%s is taken', file => {
    const { selection } = parseAuditEvent(JSON.parse(readFileSync(`events/${file}`, 'utf8')))
    // It names no cluster, so that it works in any account.
    expect(selection).toEqual({ clusters: [], nodegroups: [], nodes: [] })
  })

  it('of the schedule names the tick, selects everything and mails', () => {
    expect(
      parseAuditEvent({ source: 'highwater.schedule', scheduledTime: '2026-11-21T06:00:00+01:00' }),
    ).toEqual({
      scheduledTime: '2026-11-21T05:00:00.000Z',
      selection: { clusters: [], nodegroups: [], nodes: [] },
      isDryRun: false,
      isMailed: true,
      isObservation: false,
    })
  })

  it('of the schedule that observes sends no mail', () => {
    const event = { source: 'highwater.schedule', scheduledTime: '2026-11-21T06:00:00Z' }
    expect(parseAuditEvent({ ...event, observe: true })).toMatchObject({
      isMailed: false,
      isObservation: true,
    })
  })

  it.each([[{}], [null], [undefined]])('%j audits everything and sends no mail', event => {
    expect(parseAuditEvent(event)).toMatchObject({
      scheduledTime: null,
      isDryRun: false,
      isMailed: false,
    })
  })

  it('by a person may select, ask for a mail or for a dry run, not for both', () => {
    const asked = { clusters: ['prod-*'], nodes: ['ip-10-0-1-2.ec2.internal'], mail: true }
    expect(parseAuditEvent(asked)).toMatchObject({
      selection: { clusters: ['prod-*'], nodes: asked.nodes },
      isMailed: true,
    })
    expect(() => parseAuditEvent({ ...asked, dryRun: true })).toThrowErrorMatchingSnapshot()
  })

  it('with several mistakes is refused with all of them, and what would be right', () => {
    const wrong = { clusters: 'prod', nodes: ['a/../../b'], dryRun: 'yes', cluster: 'prod' }
    expect(() => parseAuditEvent(wrong)).toThrowErrorMatchingSnapshot()
  })

  it.each([
    [{ source: 'aws.events', time: '2026-11-21T05:00:00Z', 'detail-type': 'Scheduled Event' }],
    [{ source: 'highwater.schedule' }],
    [{ source: 'highwater.schedule', scheduledTime: 'tomorrow' }],
    [{ source: 'highwater.schedule', scheduledTime: '<aws.scheduler.scheduled-time>' }],
    [{ Records: [{ eventSource: 'aws:s3' }] }],
    [{ nodes: ['x'.repeat(300)] }],
    [{ clusters: [''] }],
    ['audit'],
    [[1]],
  ])('that is not ours is refused: %j', event => {
    expect(() => parseAuditEvent(event)).toThrow("not one of highwater's")
  })
})
