import { promisedSources, type ReadMode, type Source } from '#model/read-mode.ts'
import type { Need } from './node-subject.ts'

/** The sources that a need depends on in every mode. Needs that several sources can meet are absent. */
const sourcesOfNeed: Partial<Record<Need, readonly Source[]>> = {
  disks: ['summary'],
  summary: ['summary'],
  nextStart: ['host'],
  host: ['host'],
  runtime: ['runtime'],
  containerGC: ['runtime'],
}

/** Whether mode `both` reads a source that a need depends on and this mode does not read. */
export const isEndedByBoth = (needs: readonly Need[], mode: ReadMode): boolean =>
  needs.some(need => sourcesOfNeed[need]?.some(source => !promisedSources[mode].includes(source)))
