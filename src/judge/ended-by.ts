import { promisedSources, type ReadMode, type Source } from '#model/read-mode.ts'
import type { Need } from './node-subject.ts'

/** The sources that a need follows from, in every mode. Absent: from more than one way to read it. */
const sourcesOfNeed: Partial<Record<Need, readonly Source[]>> = {
  disks: ['summary'],
  summary: ['summary'],
  nextStart: ['host'],
  host: ['host'],
  runtime: ['runtime'],
  containerGC: ['runtime'],
}

/** Whether mode `both` reads a source that the need follows from and that this mode does not read. */
export const isEndedByBoth = (needs: readonly Need[], mode: ReadMode): boolean =>
  needs.some(need => sourcesOfNeed[need]?.some(source => !promisedSources[mode].includes(source)))
