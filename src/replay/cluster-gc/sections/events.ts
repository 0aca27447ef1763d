/** What the garbage collector complained of. The API server forgets an event after an hour, unless it is told otherwise. */
import { garbageReasons } from '#facts/kubelet/event-reasons.ts'
import type { EventGarbage } from '#model/cluster-garbage.ts'
import type { RawObject } from '#model/record.ts'
import { integerAt, timeAt } from '#replay/cluster-gc/metadata.ts'
import type { OpenSection, Section } from '#replay/cluster-gc/section.ts'
import { objectAt, textAt } from '#replay/untrusted.ts'

export const events: Section<'events'> = { resources: ['events'], open: () => new Events() }

/** Of an event that came once; one that came again has a series, or counts in these. Upstream: client-go tools/events, tools/record. */
const timesOfEvent = ['lastTimestamp', 'deprecatedLastTimestamp', 'eventTime'] as const
const reasons: ReadonlySet<string> = new Set(garbageReasons)

class Events implements OpenSection<EventGarbage> {
  /** By UID: the same event may come twice. */
  readonly #failures = new Map<string, EventGarbage['failures'][number]>()

  take(_resource: string, event: RawObject): void {
    const reason = textAt(event, 'reason') ?? ''
    if (!reasons.has(reason)) return
    const about = objectAt(event, 'involvedObject') ?? objectAt(event, 'regarding')
    const metadata = objectAt(event, 'metadata')
    const namespace = textAt(about, 'namespace') ?? ''
    const object = `${textAt(about, 'kind') ?? ''} ${textAt(about, 'name') ?? ''}`
    const series = objectAt(event, 'series')
    const times = [
      timeAt(series, 'lastObservedTime'),
      ...timesOfEvent.map(field => timeAt(event, field)),
    ].filter(time => time !== null)
    const lastMs = times.length === 0 ? null : Math.max(...times)
    const counts = [
      integerAt(series, 'count'),
      integerAt(event, 'count'),
      integerAt(event, 'deprecatedCount'),
    ]
    const count = Math.max(1, ...counts.filter(number => number !== null))
    const message = textAt(event, 'message') ?? textAt(event, 'note') ?? ''
    this.#failures.set(textAt(metadata, 'uid') ?? `${namespace}/${textAt(metadata, 'name')}`, {
      namespace,
      object,
      reason,
      message,
      count,
      lastMs,
    })
  }

  tell(): EventGarbage {
    return { failures: [...this.#failures.values()] }
  }
}
