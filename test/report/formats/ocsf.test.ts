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
    const { findings, waived, unknowns, notAudited } = report.document
    expect(events).toHaveLength(
      findings.length + waived.length + unknowns.length + notAudited.length,
    )
    for (const event of events) expect(errors(event)).toEqual([])
    for (const { type_uid, activity_id } of events) expect(type_uid).toBe(200300 + activity_id)
  })

  it('is an empty array where there is nothing to say', () => {
    expect(
      eventsOf(quietReport([], { findings: [], unknowns: [], notAudited: [], waived: [] })),
    ).toEqual([])
  })

  it('suppresses what is waived, warns of what is not known, and updates what was there before', () => {
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
    expect(warnings).toHaveLength(6)
  })

  it('closes what has ended since the run before, as passed where it was seen to be mended', () => {
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

  it('closes what was not known before and is no longer so, under the id that it had', () => {
    const report = morningReport()
    const { unknowns, notAudited } = report.document
    const document = { ...report.document, unknowns: [], notAudited: [] }
    const events = eventsOf({
      ...report,
      document,
      before: { ...lastRun(), closed: { unknowns, notAudited } },
    })
    for (const event of events) expect(errors(event)).toEqual([])
    type Event = {
      activity_id: number
      compliance: { status: string }
      finding_info: { uid: string }
    }
    const warned = (all: Event[]) =>
      all.filter(({ compliance: { status } }) => status === 'Warning')
    expect(warned(events).map(({ activity_id }) => activity_id)).toEqual(
      [...unknowns, ...notAudited].map(() => 3),
    )
    expect(warned(events).map(({ finding_info }) => finding_info.uid)).toEqual(
      warned(eventsOf(report)).map(({ finding_info }) => finding_info.uid),
    )
  })
})
