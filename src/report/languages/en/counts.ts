/** Numbers with their nouns. */
import { counted } from '#report/numbers.ts'

export const nodes = (count: number) => counted(count, 'node')
export const clusters = (count: number) => counted(count, 'cluster')
export const findings = (count: number) => counted(count, 'finding')
