import { describe, expect, it } from 'vitest'
import { ocsf } from '#report/formats/ocsf.ts'
import { hostileReport } from '#test/hostile-report.ts'
import { schemaErrors, schemaFile } from '#test/json-schema.ts'
import { endedOf, lastRun, morningReport, quietReport } from '#test/report-builder.ts'

const errors = schemaErrors(schemaFile('ocsf-compliance-finding-1.2.0.json'))
const eventsOf = (report: ReturnType<typeof morningReport>) => JSON.parse(ocsf.render(report))

describe('OCSF', () => {
  it.each([
    ['a morning', morningReport()],
    ['hostile names', hostileReport()],
  ])('has events of class Compliance Finding, valid by its definition: %s', (_, report) => {
    const events = eventsOf(report)
    const { findings, waived, notAudited } = report.document
    expect(events).toHaveLength(findings.length + waived.length + notAudited.length)
    for (const event of events) expect(errors(event)).toEqual([])
    for (const { type_uid, activity_id } of events) expect(type_uid).toBe(200300 + activity_id)
  })

  it('is an empty array if there is no finding and no unread node', () => {
    expect(
      eventsOf(quietReport([], { findings: [], unknowns: [], notAudited: [], waived: [] })),
    ).toEqual([])
  })

  it('suppresses waived findings, warns of unread nodes, and updates findings of earlier runs', () => {
    const events = eventsOf(morningReport())
    const of = (uid: string) =>
      events.find(({ finding_info }: { finding_info: { uid: string } }) => finding_info.uid === uid)
    expect(of('a1')).toMatchObject({
      activity_id: 1,
      status: 'New',
      compliance: { status: 'Fail', control: 'eviction-due' },
      severity_id: 5,
    })
    expect(of('a2')).toMatchObject({
      activity_id: 2,
      finding_info: { first_seen_time: Date.parse('2026-11-18') },
    })
    expect(of('w1')).toMatchObject({
      status: 'Suppressed',
      status_detail: 'waived until 2026-12-31: The builders are meant to run full.',
    })
    const warnings = events.filter(
      ({ compliance }: { compliance: { status: string } }) => compliance.status === 'Warning',
    )
    expect(warnings).toHaveLength(morningReport().document.notAudited.length)
  })

  it('closes ended findings, as passed if they were fixed or replaced', () => {
    const ended = endedOf('fixed', 'replaced', 'gone', 'moved')
    const events = eventsOf({ ...morningReport(), before: { ...lastRun(), ended } })
    for (const event of events) expect(errors(event)).toEqual([])
    const closed = events.filter(({ activity_id }: { activity_id: number }) => activity_id === 3)
    expect(closed).toMatchObject(
      ['Pass', 'Pass', 'Unknown', 'Unknown'].map((status, index) => ({
        type_uid: 200303,
        status: 'Resolved',
        compliance: { status },
        finding_info: { uid: ended[index]!.id, first_seen_time: Date.parse('2026-11-18') },
      })),
    )
    expect(closed).toHaveLength(4)
  })

  it('closes nodes that were unread and are not any more, under the same id', () => {
    const report = morningReport()
    const { notAudited } = report.document
    const document = { ...report.document, notAudited: [] }
    const events = eventsOf({
      ...report,
      document,
      before: { ...lastRun(), readAgain: notAudited },
    })
    for (const event of events) expect(errors(event)).toEqual([])
    type Event = {
      activity_id: number
      compliance: { status: string }
      finding_info: { uid: string }
    }
    const warned = (all: Event[]) =>
      all.filter(({ compliance: { status } }) => status === 'Warning')
    expect(warned(events).map(({ activity_id }) => activity_id)).toEqual(notAudited.map(() => 3))
    expect(warned(events).map(({ finding_info }) => finding_info.uid)).toEqual(
      warned(eventsOf(report)).map(({ finding_info }) => finding_info.uid),
    )
  })
})
